package redis

var hyperLogLogGrammar = grammar{}
