package redis

import (
	"github.com/firndb/firn/resp"
)

// deletedFrom says whether XDEL may have left a gap at an id or after it.
func (st *stream) deletedFrom(id streamID) bool {
	return st.first != (streamID{}) && st.deleted != (streamID{}) &&
		!st.deleted.less(st.first) && !st.deleted.less(id)
}

// countUntil is how many entries were ever added up to an id; -1 if that is
// not known. length is how many there are.
func (st *stream) countUntil(length int64, id streamID) int64 {
	switch {
	case st.added == 0:
		return 0
	case length == 0 && !st.last.less(id), id == st.last:
		return st.added
	case st.last.less(id):
		return -1
	case st.deleted != (streamID{}) && !st.deleted.less(st.first):
		return -1 // there may be a gap before it
	case id.less(st.first):
		return st.added - length
	case id == st.first:
		return st.added - length + 1
	}
	return -1
}

// lag is how many entries the group has yet to read; ok is false if that is
// not known.
func (g *streamGroup) lag(st *stream, length int64) (n int64, ok bool) {
	if st.added == 0 {
		return 0, true
	}
	read := g.read
	if read == -1 || st.deletedFrom(g.last) {
		read = st.countUntil(length, g.last)
	}
	return st.added - read, read != -1
}

// replyProgress appends how many entries a group has read, and how many it has
// yet to read.
func replyProgress(c *Call, g *streamGroup, st *stream, length int64) {
	c.Reply.BulkString("entries-read")
	if g.read == -1 {
		c.Reply.Null()
	} else {
		c.Reply.Int(g.read)
	}
	c.Reply.BulkString("lag")
	if n, ok := g.lag(st, length); ok {
		c.Reply.Int(n)
	} else {
		c.Reply.Null()
	}
}

// infoStream finds the stream that XINFO is about.
func infoStream(c *Call) (k keyDoc, st stream, err error) {
	k, st, ok, err := findStream(c.View, c.Args[0])
	if err == nil && !ok {
		err = errNoSuchKey
	}
	return k, st, err
}

func xInfoConsumers(c *Call) error {
	k, _, err := infoStream(c)
	if err != nil {
		return err
	}
	g, ok, err := findStreamGroup(c.View, &k, c.Args[1])
	if err != nil {
		return err
	}
	if !ok {
		return noConsumerGroup(c.Args[0], c.Args[1])
	}
	start, n, now := len(c.Reply.Buf), 0, c.now()
	for m, err := range groupConsumers(c.View, k.UID, &g) {
		if err != nil {
			return err
		}
		c.Reply.Map(3)
		c.Reply.BulkString("name")
		c.Reply.Bulk(m.name)
		c.Reply.BulkString("pending")
		c.Reply.Int(m.pending.count)
		c.Reply.BulkString("idle")
		c.Reply.Int(max(now-m.seen, 0))
		n++
	}
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

func xInfoGroups(c *Call) error {
	k, st, err := infoStream(c)
	if err != nil {
		return err
	}
	start, n := len(c.Reply.Buf), 0
	for g, err := range streamGroups(c.View, &k) {
		if err != nil {
			return err
		}
		c.Reply.Map(6)
		c.Reply.BulkString("name")
		c.Reply.Bulk(g.name)
		c.Reply.BulkString("consumers")
		c.Reply.Int(g.consumers)
		c.Reply.BulkString("pending")
		c.Reply.Int(g.pending.count)
		c.Reply.BulkString("last-delivered-id")
		replyID(&c.Reply, g.last)
		replyProgress(c, &g, &st, k.Length)
		n++
	}
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

// fullCount is how many entries XINFO STREAM FULL tells of where no COUNT
// says so.
const fullCount = 10

// parseInfoOptions reads XINFO STREAM's; count 0 is all.
func parseInfoOptions(args [][]byte) (full bool, count int64, err error) {
	wrong := wrongSubcommand("XINFO", "STREAM")
	switch {
	case len(args) == 0:
		return false, 0, nil
	case len(args) != 1 && len(args) != 3, !is(args[0], "FULL"):
		return false, 0, wrong
	case len(args) == 1:
		return true, fullCount, nil
	case !is(args[1], "COUNT"):
		return false, 0, wrong
	}
	count, ok := resp.ParseInt(args[2])
	if !ok {
		return false, 0, errNotInteger
	}
	if count < 0 {
		count = fullCount
	}
	return true, count, nil
}

func xInfoStream(c *Call) error {
	k, st, err := infoStream(c)
	if err != nil {
		return err
	}
	full, count, err := parseInfoOptions(c.Args[1:])
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
	c.Reply.Int(st.nodes)
	c.Reply.BulkString("radix-tree-nodes")
	c.Reply.Int(st.nodes + 1)
	c.Reply.BulkString("last-generated-id")
	replyID(&c.Reply, st.last)
	c.Reply.BulkString("max-deleted-entry-id")
	replyID(&c.Reply, st.deleted)
	c.Reply.BulkString("entries-added")
	c.Reply.Int(st.added)
	c.Reply.BulkString("recorded-first-entry-id")
	replyID(&c.Reply, st.first)
	if full {
		return replyFullInfo(c, &k, &st, count)
	}
	c.Reply.BulkString("groups")
	c.Reply.Int(st.groups)
	c.Reply.BulkString("first-entry")
	if err := replyEdge(c, &k, &st, false); err != nil {
		return err
	}
	c.Reply.BulkString("last-entry")
	return replyEdge(c, &k, &st, true)
}

// replyEdge appends the first or the last entry, or null.
func replyEdge(c *Call, k *keyDoc, st *stream, last bool) error {
	for e, err := range streamEntries(c.View, k, st, st.whole(), last, 1) {
		if err != nil {
			return err
		}
		return replyEntry(&c.Reply, &e)
	}
	c.Reply.Null()
	return nil
}

// replyFullInfo appends what XINFO STREAM FULL tells beside the numbers:
// entries and groups, of each kind at most count.
func replyFullInfo(c *Call, k *keyDoc, st *stream, count int64) error {
	c.Reply.BulkString("entries")
	if _, err := replyEntries(c.View, &c.Reply, k, st, st.whole(), false, count); err != nil {
		return err
	}
	c.Reply.BulkString("groups")
	start, n := len(c.Reply.Buf), 0
	for g, err := range streamGroups(c.View, k) {
		if err != nil {
			return err
		}
		c.Reply.Map(7)
		c.Reply.BulkString("name")
		c.Reply.Bulk(g.name)
		c.Reply.BulkString("last-delivered-id")
		replyID(&c.Reply, g.last)
		replyProgress(c, &g, st, k.Length)
		c.Reply.BulkString("pel-count")
		c.Reply.Int(g.pending.count)
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
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

func replyFullConsumers(c *Call, u uid, g *streamGroup, count int64) error {
	start, n := len(c.Reply.Buf), 0
	for m, err := range groupConsumers(c.View, u, g) {
		if err != nil {
			return err
		}
		c.Reply.Map(4)
		c.Reply.BulkString("name")
		c.Reply.Bulk(m.name)
		c.Reply.BulkString("seen-time")
		c.Reply.Int(m.seen)
		c.Reply.BulkString("pel-count")
		c.Reply.Int(m.pending.count)
		c.Reply.BulkString("pending")
		if err := replyFullPending(c, u, g, &m, count); err != nil {
			return err
		}
		n++
	}
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

// replyFullPending appends pending entries of a group, with their consumers,
// or those of one consumer.
func replyFullPending(c *Call, u uid, g *streamGroup, m *streamConsumer, count int64) error {
	start, n := len(c.Reply.Buf), 0
	for d, err := range eachPending(c.View, u, g, m, idSpan{to: greatestID}, false, int(count)) {
		if err != nil {
			return err
		}
		if m == nil {
			c.Reply.Array(4)
			replyID(&c.Reply, d.id)
			c.Reply.Bulk(d.consumer)
		} else {
			c.Reply.Array(3)
			replyID(&c.Reply, d.id)
		}
		c.Reply.Int(d.delivered)
		c.Reply.Int(d.count)
		n++
	}
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

func xInfoHelp(c *Call) error {
	return replyLines(c, []string{
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
