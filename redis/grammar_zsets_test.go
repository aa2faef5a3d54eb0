package redis

var zsetGrammar = grammar{}
