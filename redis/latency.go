package redis

// LATENCY.
var latencyCommands = []Command{}
