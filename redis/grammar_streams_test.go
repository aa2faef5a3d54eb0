package redis

var streamGrammar = grammar{}
