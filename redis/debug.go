package redis

// DEBUG.
var debugCommands = []Command{}
