package history

import (
	"context"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// Holds keep a moment readable, whatever the policies say, until they end.

var holdCommands = []command.Command{
	{
		Name: "HOLD", Args: "name [AT when] TTL seconds", Min: 3, Max: 5, Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName, Group: "history", Since: "0.1.0",
		Complexity: "O(1)",
		Summary: "Keeps everything from a moment on readable, for at most 30 days; without AT from now on. " +
			"A hold of the same name is replaced. There may be 1,000.",
		Run: hold,
	},
	{
		Name: "HOLDS", Flags: command.Local | command.OnWorker | command.OwnName,
		Group: "history", Since: "0.1.0", Complexity: "O(n), n the holds",
		Summary: "Lists the holds by name: each with its moment and the seconds that are left.",
		Run:     holds,
	},
	{
		Name: "RELEASE", Args: "name", Min: 1, Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName, Group: "history", Since: "0.1.0", Complexity: "O(1)",
		Summary: "Ends a hold. Returns 1, or 0 if there is none of that name.",
		Run:     release,
	},
}

const (
	errHold    = resp.Error("ERR syntax error, expected HOLD name [AT when] TTL seconds")
	errHoldTTL = resp.Error("ERR a hold's TTL must be from 1 to 2592000 seconds, which is 30 days")

	maxHoldSeconds = 30 * 24 * 60 * 60 // of the store
)

func hold(c *command.Call) error {
	h := firn.Hold{Name: string(c.Args[0])}
	if len(c.Args)%2 == 0 {
		return errHold
	}
	for rest := c.Args[1:]; len(rest) > 0; rest = rest[2:] {
		switch {
		case command.Is(rest[0], "AT") && h.At == 0:
			ts, err := c.Client.Moment(rest[1])
			if err != nil {
				return err
			}
			h.At = max(ts, 1) // 0 is the newest; nothing is as old as 1
		case command.Is(rest[0], "TTL") && h.Until.IsZero():
			seconds, ok := resp.ParseInt(rest[1])
			switch {
			case !ok:
				return command.ErrNotInteger
			case seconds < 1 || seconds > maxHoldSeconds:
				return errHoldTTL
			}
			h.Until = c.Client.Now().Add(time.Duration(seconds) * time.Second)
		default:
			return errHold
		}
	}
	if h.Until.IsZero() {
		return errHold
	}
	if err := c.Store.Hold(context.Background(), h); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

func release(c *command.Call) error {
	had, err := c.Store.Release(context.Background(), string(c.Args[0]))
	if err != nil {
		return err
	}
	command.ReplyFlag(c, had)
	return nil
}

func holds(c *command.Call) error {
	all, now := c.Store.Holds(), c.Client.Now()
	c.Reply.Array(len(all))
	for _, h := range all {
		c.Reply.Map(3)
		command.ReplyField(&c.Reply, "name", h.Name)
		command.ReplyNumber(&c.Reply, "ts", int(h.At))
		command.ReplyNumber(&c.Reply, "ttl", int(h.Until.Sub(now).Round(time.Second)/time.Second))
	}
	return nil
}
