package redis

var geoGrammar = grammar{}
