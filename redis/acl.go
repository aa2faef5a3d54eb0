package redis

// Users and what they may do.
var aclCommands = []Command{}
