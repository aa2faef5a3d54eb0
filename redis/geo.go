package redis

// A geo index is a sorted set.
var geoCommands = []Command{}
