package redis

import (
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// usualACLEntries is how many entries ACL LOG shows without a count.
const usualACLEntries = 10

func aclLogCommand(c *command.Call) error {
	if len(c.Args) > 1 {
		return command.ErrSubcommand(c)
	}
	l := &sessionOf(c).srv.denials
	n := int64(usualACLEntries)
	if len(c.Args) == 1 {
		if command.Is(c.Args[0], "RESET") {
			l.Reset()
			c.Reply.Simple("OK")
			return nil
		}
		count, ok := resp.ParseInt(c.Args[0])
		if !ok {
			return command.ErrNotInteger
		}
		n = count
	}
	now := sessionOf(c).srv.opts.Now()
	entries := l.Newest(n)
	c.Reply.Array(len(entries))
	for i := range entries {
		replyRefusal(&c.Reply, &entries[i], now)
	}
	return nil
}

func replyRefusal(w *resp.Writer, e *acl.Refusal, now time.Time) {
	reason := map[acl.Denial]string{acl.DenialCommand: "command", acl.DenialKey: "key", acl.DenialAuth: "auth", acl.DenialChannel: "channel"}[e.Why]
	w.Map(10)
	w.BulkString("count")
	w.Int(e.Count)
	command.ReplyField(w, "reason", reason)
	command.ReplyField(w, "context", e.Context)
	command.ReplyField(w, "object", e.Object)
	command.ReplyField(w, "username", e.User)
	w.BulkString("age-seconds")
	w.Double(float64(now.Sub(e.Created).Milliseconds()) / 1000)
	command.ReplyField(w, "client-info", e.Client)
	w.BulkString("entry-id")
	w.Int(e.ID)
	w.BulkString("timestamp-created")
	w.Int(e.Created.UnixMilli())
	w.BulkString("timestamp-last-updated")
	w.Int(e.Updated.UnixMilli())
}
