package history

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// authorFields is how many fields replyAuthor appends to a map.
const authorFields = 4

// replyAuthor appends who wrote a version; what was not said is empty.
func replyAuthor(c *command.Call, a firn.Author) {
	for _, field := range [authorFields][2]string{{"user", a.User}, {"client", a.Client}, {"address", a.Address}, {"reason", a.Reason}} {
		c.Reply.BulkString(field[0])
		c.Reply.BulkString(field[1])
	}
}
