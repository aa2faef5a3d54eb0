package redis

// Sets.
var setCommands = []Command{}

// setEncoding is what OBJECT ENCODING says of a set.
func setEncoding(k *keyDoc) string { return "" }

// replySetState appends a set for HISTORY.
func (c *Call) replySetState(k *keyDoc) error { return errDamaged }
