package redis

var listGrammar = grammar{}
