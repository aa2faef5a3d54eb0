package redis

// SORT.
var sortCommands = []Command{}
