package redis

var lifetimeGrammar = grammar{}
