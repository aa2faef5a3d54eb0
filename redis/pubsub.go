package redis

// Publish and subscribe.
var pubsubCommands = []Command{}
