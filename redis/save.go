package redis

// SAVE and its kin.
var saveCommands = []Command{}
