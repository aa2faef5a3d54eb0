package redis

// MEMORY.
var memoryCommands = []Command{}
