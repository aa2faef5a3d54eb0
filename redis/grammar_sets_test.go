package redis

var setGrammar = grammar{}
