package redis

// SLOWLOG.
var slowlogCommands = []Command{}
