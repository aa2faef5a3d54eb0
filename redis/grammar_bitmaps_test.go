package redis

var bitmapGrammar = grammar{}
