package feed

import (
	"slices"
	"time"

	"github.com/firndb/firn/redis/command"
)

// bookmarkInterval is how long a client waits at most before it gets a newer
// token, though nothing that it follows has changed: so that a token that it
// holds does not fall behind the horizon.
const bookmarkInterval = 10 * time.Second

// Commands are those of this package.
func Commands() []command.Command {
	return []command.Command{{
		Name:  "CHANGES",
		Args:  "when [COUNT count] [BLOCK milliseconds] [MATCH pattern] [DB index] [TYPE type] [OP operation] [TABLE table] [WHO] [VALUES]",
		Min:   1,
		Max:   -1,
		Flags: command.ReadOnly | command.OnWorker | command.OwnName | command.Blocks,
		Group: "history", Since: "0.2.0", Complexity: "O(n), n the rows that were written after the moment, at most some thousand; of few keys, those of the keys",
		Summary: "Returns what was committed after a moment: a token to go on from, and the commits, each with its timestamp and its changes of keys, in order. " +
			"A page ends between commits; an empty one with a newer token is progress. With BLOCK it waits for something to tell, and returns a newer token at least every ten seconds. " +
			"MATCH, DB, TYPE, OP and TABLE may come several times and then mean any of them. WHO says who wrote, and VALUES what the keys became. " +
			"Keys that the user may not read are left out. See docs/live.md.",
		Run: changes,
	}}
}

func changes(c *command.Call) error {
	q, err := parseQuery(c)
	if err != nil {
		return err
	}
	p, err := q.read(c)
	if err != nil {
		return err
	}
	if q.blocks {
		c.Followed = p.ts
	}
	switch {
	case !q.blocks || p.commits > 0 || p.more:
		p.reply(c)
		return nil
	case c.Patience == command.RepliesAtOnce: // it has waited long enough, or the horizon is about to move
		return q.bookmark(c, &p)
	}
	w := command.Wait{ForCommit: true, After: p.ts, Timeout: bookmarkInterval, Args: slices.Clone(c.Args)}
	w.Args[0] = []byte(c.Store.Journal().Token(p.ts))
	if q.patience > 0 {
		w.Timeout = min(w.Timeout, q.patience)
	}
	return c.Wait(w)
}

// bookmark replies an empty page with a token of the present, although there was
// no commit: the horizon goes there, too. It is a page after all if there was one
// meanwhile.
func (q *query) bookmark(c *command.Call, p *page) error {
	if c.Client.AsOf() == 0 {
		now, ok, err := c.Store.Journal().Present(p.ts)
		if err != nil {
			return err
		}
		q.after = p.ts
		if *p, err = q.read(c); err != nil {
			return err
		}
		if ok && p.commits == 0 && !p.more {
			p.ts = max(p.ts, now)
		}
	}
	p.reply(c)
	return nil
}

// reply appends the page.
func (p *page) reply(c *command.Call) {
	c.Reply.Array(2)
	c.Reply.BulkString(c.Store.Journal().Token(p.ts))
	c.Reply.Array(p.commits)
	c.Reply.Buf = append(c.Reply.Buf, p.out.Buf...)
}
