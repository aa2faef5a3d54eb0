package redis

var sortGrammar = grammar{}
