package redis

// Bitmaps are strings.
var bitmapCommands = []Command{}
