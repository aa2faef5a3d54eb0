package streams

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// replyProgress appends how many entries a group has read, and how many it has
// yet to read.
func replyProgress(c *command.Call, g *keyspace.StreamGroup, st *keyspace.Stream, length int64) {
	c.Reply.BulkString("entries-read")
	if g.Read == -1 {
		c.Reply.Null()
	} else {
		c.Reply.Int(g.Read)
	}
	c.Reply.BulkString("lag")
	if n, ok := g.Lag(st, length); ok {
		c.Reply.Int(n)
	} else {
		c.Reply.Null()
	}
}

// infoStream finds the stream that XINFO is about.
func infoStream(c *command.Call) (k keyspace.KeyDoc, st keyspace.Stream, err error) {
	k, st, ok, err := keyspace.FindStream(c.View, c.Args[0])
	if err == nil && !ok {
		err = command.ErrNoSuchKey
	}
	return k, st, err
}

func xInfoConsumers(c *command.Call) error {
	k, _, err := infoStream(c)
	if err != nil {
		return err
	}
	g, ok, err := keyspace.FindStreamGroup(c.View, &k, c.Args[1])
	if err != nil {
		return err
	}
	if !ok {
		return noConsumerGroup(c.Args[0], c.Args[1])
	}
	start, n, now := len(c.Reply.Buf), 0, c.Now()
	for m, err := range keyspace.GroupConsumers(c.View, k.UID, &g) {
		if err != nil {
			return err
		}
		c.Reply.Map(3)
		c.Reply.BulkString("name")
		c.Reply.Bulk(m.Name)
		c.Reply.BulkString("pending")
		c.Reply.Int(m.Pending.Count)
		c.Reply.BulkString("idle")
		c.Reply.Int(max(now-m.Seen, 0))
		n++
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

func xInfoGroups(c *command.Call) error {
	k, st, err := infoStream(c)
	if err != nil {
		return err
	}
	start, n := len(c.Reply.Buf), 0
	for g, err := range keyspace.StreamGroups(c.View, &k) {
		if err != nil {
			return err
		}
		c.Reply.Map(6)
		c.Reply.BulkString("name")
		c.Reply.Bulk(g.Name)
		c.Reply.BulkString("consumers")
		c.Reply.Int(g.Consumers)
		c.Reply.BulkString("pending")
		c.Reply.Int(g.Pending.Count)
		c.Reply.BulkString("last-delivered-id")
		ReplyID(&c.Reply, g.Last)
		replyProgress(c, &g, &st, k.Length)
		n++
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

// fullCount is how many entries XINFO STREAM FULL tells of where no COUNT
// says so.
const fullCount = 10

// parseInfoOptions reads XINFO STREAM's; count 0 is all.
func parseInfoOptions(c *command.Call) (full bool, count int64, err error) {
	args := c.Args[1:]
	switch {
	case len(args) == 0:
		return false, 0, nil
	case len(args) != 1 && len(args) != 3, !command.Is(args[0], "FULL"):
		return false, 0, command.ErrSubcommand(c)
	case len(args) == 1:
		return true, fullCount, nil
	case !command.Is(args[1], "COUNT"):
		return false, 0, command.ErrSubcommand(c)
	}
	count, ok := resp.ParseInt(args[2])
	if !ok {
		return false, 0, command.ErrNotInteger
	}
	if count < 0 {
		count = fullCount
	}
	return true, count, nil
}

func xInfoStream(c *command.Call) error {
	k, st, err := infoStream(c)
	if err != nil {
		return err
	}
	full, count, err := parseInfoOptions(c)
	if err != nil {
		return err
	}
	if full {
		c.Reply.Map(9)
	} else {
		c.Reply.Map(10)
	}
	c.Reply.BulkString("length")
	c.Reply.Int(k.Length)
	c.Reply.BulkString("radix-tree-keys")
	c.Reply.Int(st.Nodes)
	c.Reply.BulkString("radix-tree-nodes")
	c.Reply.Int(st.Nodes + 1)
	c.Reply.BulkString("last-generated-id")
	ReplyID(&c.Reply, st.Last)
	c.Reply.BulkString("max-deleted-entry-id")
	ReplyID(&c.Reply, st.Deleted)
	c.Reply.BulkString("entries-added")
	c.Reply.Int(st.Added)
	c.Reply.BulkString("recorded-first-entry-id")
	ReplyID(&c.Reply, st.First)
	if full {
		return replyFullInfo(c, &k, &st, count)
	}
	c.Reply.BulkString("groups")
	c.Reply.Int(st.Groups)
	c.Reply.BulkString("first-entry")
	if err := replyEdge(c, &k, &st, false); err != nil {
		return err
	}
	c.Reply.BulkString("last-entry")
	return replyEdge(c, &k, &st, true)
}

// replyEdge appends the first or the last entry, or null.
func replyEdge(c *command.Call, k *keyspace.KeyDoc, st *keyspace.Stream, last bool) error {
	for e, err := range keyspace.StreamEntries(c.View, k, st, st.Whole(), last, 1) {
		if err != nil {
			return err
		}
		return ReplyEntry(&c.Reply, &e)
	}
	c.Reply.Null()
	return nil
}

// replyFullInfo appends what XINFO STREAM FULL tells beside the numbers:
// entries and groups, of each kind at most count.
func replyFullInfo(c *command.Call, k *keyspace.KeyDoc, st *keyspace.Stream, count int64) error {
	c.Reply.BulkString("entries")
	if _, err := replyEntries(c.View, &c.Reply, k, st, st.Whole(), false, count); err != nil {
		return err
	}
	c.Reply.BulkString("groups")
	start, n := len(c.Reply.Buf), 0
	for g, err := range keyspace.StreamGroups(c.View, k) {
		if err != nil {
			return err
		}
		c.Reply.Map(7)
		c.Reply.BulkString("name")
		c.Reply.Bulk(g.Name)
		c.Reply.BulkString("last-delivered-id")
		ReplyID(&c.Reply, g.Last)
		replyProgress(c, &g, st, k.Length)
		c.Reply.BulkString("pel-count")
		c.Reply.Int(g.Pending.Count)
		c.Reply.BulkString("pending")
		if err := replyFullPending(c, k.UID, &g, nil, count); err != nil {
			return err
		}
		c.Reply.BulkString("consumers")
		if err := replyFullConsumers(c, k.UID, &g, count); err != nil {
			return err
		}
		n++
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

func replyFullConsumers(c *command.Call, u keyspace.UID, g *keyspace.StreamGroup, count int64) error {
	start, n := len(c.Reply.Buf), 0
	for m, err := range keyspace.GroupConsumers(c.View, u, g) {
		if err != nil {
			return err
		}
		c.Reply.Map(4)
		c.Reply.BulkString("name")
		c.Reply.Bulk(m.Name)
		c.Reply.BulkString("seen-time")
		c.Reply.Int(m.Seen)
		c.Reply.BulkString("pel-count")
		c.Reply.Int(m.Pending.Count)
		c.Reply.BulkString("pending")
		if err := replyFullPending(c, u, g, &m, count); err != nil {
			return err
		}
		n++
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

// replyFullPending appends pending entries of a group, with their consumers,
// or those of one consumer.
func replyFullPending(c *command.Call, u keyspace.UID, g *keyspace.StreamGroup, m *keyspace.StreamConsumer, count int64) error {
	start, n := len(c.Reply.Buf), 0
	for d, err := range keyspace.EachPending(c.View, u, g, m, keyspace.IDSpan{To: keyspace.GreatestID}, false, int(count)) {
		if err != nil {
			return err
		}
		if m == nil {
			c.Reply.Array(4)
			ReplyID(&c.Reply, d.ID)
			c.Reply.Bulk(d.Consumer)
		} else {
			c.Reply.Array(3)
			ReplyID(&c.Reply, d.ID)
		}
		c.Reply.Int(d.Delivered)
		c.Reply.Int(d.Count)
		n++
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

func xInfoHelp(c *command.Call) error {
	return command.ReplyLines(c, []string{
		"XINFO <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"CONSUMERS <key> <groupname>",
		"    Show consumers of <groupname>.",
		"GROUPS <key>",
		"    Show the stream consumer groups.",
		"STREAM <key> [FULL [COUNT <count>]",
		"    Show information about the stream.",
		"HELP",
		"    Prints this help.",
	})
}
