package redis

// Lists.
var listCommands = []Command{}

// listEncoding is what OBJECT ENCODING says of a list.
func listEncoding(k *keyDoc) string { return "" }

// replyListState appends a list for HISTORY.
func (c *Call) replyListState(k *keyDoc) error { return errDamaged }
