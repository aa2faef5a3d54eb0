package redis

// A HyperLogLog is a string.
var hyperLogLogCommands = []Command{}
