package redis

// Streams.
var streamCommands = []Command{}

// streamEncoding is what OBJECT ENCODING says of a stream.
func streamEncoding(k *keyDoc) string { return "" }

// replyStreamState appends a stream for HISTORY.
func (c *Call) replyStreamState(k *keyDoc) error { return errDamaged }
