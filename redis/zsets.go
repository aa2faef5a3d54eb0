package redis

// ZSets.
var zsetCommands = []Command{}

// scoreKeys finds a member of a sorted set by its score.
func scoreKeys(id string, value []byte, add func(key []byte)) {}

// zsetEncoding is what OBJECT ENCODING says of a zset.
func zsetEncoding(k *keyDoc) string { return "" }

// replyZSetState appends a zset for HISTORY.
func (c *Call) replyZSetState(k *keyDoc) error { return errDamaged }
