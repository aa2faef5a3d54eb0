package redis

// Fields of hashes that expire.
var lifetimeCommands = []Command{}

// endKeys finds the lifetime of a hash's field by its end.
func endKeys(id string, value []byte, add func(key []byte)) {}
