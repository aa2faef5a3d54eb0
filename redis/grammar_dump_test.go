package redis

var dumpGrammar = grammar{}
