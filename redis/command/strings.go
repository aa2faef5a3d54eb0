package command

// BulkOrNull replies a value, or null if there is none.
func BulkOrNull(c *Call, value []byte, ok bool) {
	if !ok {
		c.Reply.Null()
		return
	}
	c.Reply.Bulk(value)
}

// ReplyFlag replies 1 or 0.
func ReplyFlag(c *Call, yes bool) {
	var n int64
	if yes {
		n = 1
	}
	c.Reply.Int(n)
}
