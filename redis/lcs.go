package redis

// The longest common subsequence of two strings.
var lcsCommands = []Command{}
