package redis

// MONITOR.
var monitorCommands = []Command{}
