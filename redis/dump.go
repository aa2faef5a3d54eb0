package redis

// DUMP and RESTORE.
var dumpCommands = []Command{}
