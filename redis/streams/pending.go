package streams

import (
	"bytes"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

func xAck(c *command.Call) error {
	s, st, g, ok, err := openGroup(c)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	ids, err := keyspace.ParseIDs(c.Args[2:])
	if err != nil {
		return err
	}
	l := keyspace.OpenGroupLedger(c.View, c.Args[0], &s.Key, g)
	n := int64(0)
	for _, id := range ids {
		d, ok, err := keyspace.FindPending(c.View, l.UID, &l.Group, id)
		if err == nil && ok {
			n++
			err = l.Take(&d)
		}
		if err != nil {
			return err
		}
	}
	c.Reply.Int(n)
	return writeGroupLedger(c, l, &s, &st)
}

// pendingQuery is what XPENDING with a range is asked for.
type pendingQuery struct {
	minIdle  int64
	within   keyspace.IDSpan
	count    int64
	consumer []byte // nil: any
}

func parsePendingQuery(args [][]byte) (q pendingQuery, err error) {
	if len(args) < 3 || len(args) > 6 {
		return q, command.ErrSyntax
	}
	var ok bool
	if command.Is(args[0], "IDLE") {
		if q.minIdle, ok = resp.ParseInt(args[1]); !ok {
			return q, command.ErrNotInteger
		}
		if args = args[2:]; len(args) < 3 {
			return q, command.ErrSyntax
		}
	}
	if q.count, ok = resp.ParseInt(args[2]); !ok {
		return q, command.ErrNotInteger
	}
	if q.within, err = keyspace.ParseIDSpan(args[0], args[1]); err != nil {
		return q, err
	}
	if len(args) > 3 {
		q.consumer = args[3]
	}
	return q, nil
}

func xPending(c *command.Call) error {
	var q pendingQuery
	var err error
	if len(c.Args) > 2 {
		if q, err = parsePendingQuery(c.Args[2:]); err != nil {
			return err
		}
	}
	k, ok, err := c.FindKind(c.Args[0], keyspace.KindStream)
	if err != nil {
		return err
	}
	var g keyspace.StreamGroup
	if ok {
		if g, ok, err = keyspace.FindStreamGroup(c.View, &k, c.Args[1]); err != nil {
			return err
		}
	}
	if !ok {
		return noGroup(c.Args[0], c.Args[1], "")
	}
	if len(c.Args) == 2 {
		return replyPendingSummary(c, k.UID, &g)
	}
	return replyPending(c, k.UID, &g, &q)
}

// replyPendingSummary appends how many entries are pending, the first and the
// last of them, and how many each consumer has.
func replyPendingSummary(c *command.Call, u keyspace.UID, g *keyspace.StreamGroup) error {
	c.Reply.Array(4)
	c.Reply.Int(g.Pending.Count)
	if g.Pending.Count == 0 {
		c.Reply.Null()
		c.Reply.Null()
		c.Reply.NullArray()
		return nil
	}
	for _, reverse := range []bool{false, true} {
		for d, err := range keyspace.EachPending(c.View, u, g, nil, keyspace.IDSpan{To: keyspace.GreatestID}, reverse, 1) {
			if err != nil {
				return err
			}
			ReplyID(&c.Reply, d.ID)
		}
	}
	start, n := len(c.Reply.Buf), 0
	for m, err := range keyspace.GroupConsumers(c.View, u, g) {
		if err != nil {
			return err
		}
		if m.Pending.Count > 0 {
			c.Reply.Array(2)
			c.Reply.Bulk(m.Name)
			c.Reply.BulkInt(m.Pending.Count)
			n++
		}
	}
	command.InsertHeader(&c.Reply, start, '*', n)
	return nil
}

// replyPending appends the pending entries that a query asks for.
func replyPending(c *command.Call, u keyspace.UID, g *keyspace.StreamGroup, q *pendingQuery) error {
	var m *keyspace.StreamConsumer
	if q.consumer != nil {
		found, ok, err := keyspace.FindStreamConsumer(c.View, u, g.Serial, q.consumer)
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Array(0)
			return nil
		}
		m = &found
	}
	start, n, now := len(c.Reply.Buf), int64(0), c.Now()
	if q.count > 0 {
		for d, err := range keyspace.EachPending(c.View, u, g, m, q.within, false, 0) {
			if err != nil {
				return err
			}
			if q.minIdle != 0 && now-d.Delivered < q.minIdle {
				continue
			}
			c.Reply.Array(4)
			ReplyID(&c.Reply, d.ID)
			c.Reply.Bulk(d.Consumer)
			c.Reply.Int(max(now-d.Delivered, 0))
			c.Reply.Int(d.Count)
			if n++; n == q.count {
				break
			}
		}
	}
	command.InsertHeader(&c.Reply, start, '*', int(n))
	return nil
}

// streamClaim is what XCLAIM and XAUTOCLAIM are asked for.
type streamClaim struct {
	minIdle   int64
	delivered int64 // XCLAIM: when the entries count as delivered; -1: now
	count     int64 // XCLAIM: the deliveries from then on; -1: one more. XAUTOCLAIM: the most entries
	force     bool
	justID    bool
	last      keyspace.StreamID // raises the group's last id to this
	from      keyspace.StreamID // XAUTOCLAIM: where to begin
}

// claimedGroup opens the group that entries are claimed in.
func claimedGroup(c *command.Call) (s keyspace.Slot, st keyspace.Stream, g keyspace.StreamGroup, err error) {
	s, st, g, ok, err := openGroup(c)
	if err == nil && !ok {
		err = noGroup(c.Args[0], c.Args[1], "")
	}
	return s, st, g, err
}

// parseMinIdle reads the least idle time of a claim.
func parseMinIdle(arg []byte, command string) (int64, error) {
	n, ok := resp.ParseInt(arg)
	if !ok {
		return 0, resp.Error("ERR Invalid min-idle-time argument for " + command)
	}
	return max(n, 0), nil
}

// parseClaim reads XCLAIM's ids and options. The first argument that is no id
// is an option.
func parseClaim(c *command.Call) (o streamClaim, ids []keyspace.StreamID, err error) {
	o = streamClaim{delivered: -1, count: -1}
	if o.minIdle, err = parseMinIdle(c.Args[3], c.Cmd.Name); err != nil {
		return o, nil, err
	}
	args := c.Args[4:]
	ids, _ = keyspace.ParseIDs(args)
	args = args[len(ids):]
	for i := 0; i < len(args); i++ {
		used, err := o.parse(c, args[i:])
		if err != nil {
			return o, nil, err
		}
		i += used
	}
	return o, ids, nil
}

// parse reads one of XCLAIM's options, and returns how many arguments follow
// its name.
func (o *streamClaim) parse(c *command.Call, args [][]byte) (used int, err error) {
	word, ok := args[0], true
	switch {
	case command.Is(word, "FORCE"):
		o.force = true
		return 0, nil
	case command.Is(word, "JUSTID"):
		o.justID = true
		return 0, nil
	case len(args) == 1:
	case command.Is(word, "IDLE"):
		o.delivered, ok = resp.ParseInt(args[1])
		o.delivered = c.Now() - o.delivered
	case command.Is(word, "TIME"):
		o.delivered, ok = resp.ParseInt(args[1])
	case command.Is(word, "RETRYCOUNT"):
		o.count, ok = resp.ParseInt(args[1])
	case command.Is(word, "LASTID"):
		o.last, err = keyspace.ParseID(args[1], 0)
		return 1, err
	default:
		args = args[:1]
	}
	switch {
	case len(args) == 1:
		return 0, resp.Error("ERR Unrecognized XCLAIM option '" + string(keyspace.CutAtZero(word)) + "'")
	case !ok:
		return 0, resp.Error("ERR Invalid " + string(bytes.ToUpper(word)) + " option argument for XCLAIM")
	}
	return 1, nil
}
