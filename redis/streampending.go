package redis

import (
	"bytes"

	"github.com/firndb/firn/resp"
)

func xAck(c *Call) error {
	s, st, g, ok, err := openGroup(c)
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Int(0)
		return nil
	}
	ids, err := parseIDs(c.Args[2:])
	if err != nil {
		return err
	}
	l := openGroupLedger(c.View, c.Args[0], &s.key, g)
	n := int64(0)
	for _, id := range ids {
		d, ok, err := findPending(c.View, l.uid, &l.group, id)
		if err == nil && ok {
			n++
			err = l.take(&d)
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
	within   idSpan
	count    int64
	consumer []byte // nil: any
}

func parsePendingQuery(args [][]byte) (q pendingQuery, err error) {
	if len(args) < 3 || len(args) > 6 {
		return q, errSyntax
	}
	var ok bool
	if is(args[0], "IDLE") {
		if q.minIdle, ok = resp.ParseInt(args[1]); !ok {
			return q, errNotInteger
		}
		if args = args[2:]; len(args) < 3 {
			return q, errSyntax
		}
	}
	if q.count, ok = resp.ParseInt(args[2]); !ok {
		return q, errNotInteger
	}
	if q.within, err = parseIDSpan(args[0], args[1]); err != nil {
		return q, err
	}
	if len(args) > 3 {
		q.consumer = args[3]
	}
	return q, nil
}

func xPending(c *Call) error {
	var q pendingQuery
	var err error
	if len(c.Args) > 2 {
		if q, err = parsePendingQuery(c.Args[2:]); err != nil {
			return err
		}
	}
	k, ok, err := c.findKind(c.Args[0], kindStream)
	if err != nil {
		return err
	}
	var g streamGroup
	if ok {
		if g, ok, err = findStreamGroup(c.View, &k, c.Args[1]); err != nil {
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
func replyPendingSummary(c *Call, u uid, g *streamGroup) error {
	c.Reply.Array(4)
	c.Reply.Int(g.pending.count)
	if g.pending.count == 0 {
		c.Reply.Null()
		c.Reply.Null()
		c.Reply.NullArray()
		return nil
	}
	for _, reverse := range []bool{false, true} {
		for d, err := range eachPending(c.View, u, g, nil, idSpan{to: greatestID}, reverse, 1) {
			if err != nil {
				return err
			}
			replyID(&c.Reply, d.id)
		}
	}
	start, n := len(c.Reply.Buf), 0
	for m, err := range groupConsumers(c.View, u, g) {
		if err != nil {
			return err
		}
		if m.pending.count > 0 {
			c.Reply.Array(2)
			c.Reply.Bulk(m.name)
			c.Reply.BulkInt(m.pending.count)
			n++
		}
	}
	insertHeader(&c.Reply, start, '*', n)
	return nil
}

// replyPending appends the pending entries that a query asks for.
func replyPending(c *Call, u uid, g *streamGroup, q *pendingQuery) error {
	var m *streamConsumer
	if q.consumer != nil {
		found, ok, err := findStreamConsumer(c.View, u, g.serial, q.consumer)
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Array(0)
			return nil
		}
		m = &found
	}
	start, n, now := len(c.Reply.Buf), int64(0), c.now()
	if q.count > 0 {
		for d, err := range eachPending(c.View, u, g, m, q.within, false, 0) {
			if err != nil {
				return err
			}
			if q.minIdle != 0 && now-d.delivered < q.minIdle {
				continue
			}
			c.Reply.Array(4)
			replyID(&c.Reply, d.id)
			c.Reply.Bulk(d.consumer)
			c.Reply.Int(max(now-d.delivered, 0))
			c.Reply.Int(d.count)
			if n++; n == q.count {
				break
			}
		}
	}
	insertHeader(&c.Reply, start, '*', int(n))
	return nil
}

// streamClaim is what XCLAIM and XAUTOCLAIM are asked for.
type streamClaim struct {
	minIdle   int64
	delivered int64 // XCLAIM: when the entries count as delivered; -1: now
	count     int64 // XCLAIM: the deliveries from then on; -1: one more. XAUTOCLAIM: the most entries
	force     bool
	justID    bool
	last      streamID // raises the group's last id to this
	from      streamID // XAUTOCLAIM: where to begin
}

// claimedGroup opens the group that entries are claimed in.
func claimedGroup(c *Call) (s slot, st stream, g streamGroup, err error) {
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
func parseClaim(c *Call) (o streamClaim, ids []streamID, err error) {
	o = streamClaim{delivered: -1, count: -1}
	if o.minIdle, err = parseMinIdle(c.Args[3], "XCLAIM"); err != nil {
		return o, nil, err
	}
	args := c.Args[4:]
	ids, _ = parseIDs(args)
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
func (o *streamClaim) parse(c *Call, args [][]byte) (used int, err error) {
	word, ok := args[0], true
	switch {
	case is(word, "FORCE"):
		o.force = true
		return 0, nil
	case is(word, "JUSTID"):
		o.justID = true
		return 0, nil
	case len(args) == 1:
	case is(word, "IDLE"):
		o.delivered, ok = resp.ParseInt(args[1])
		o.delivered = c.now() - o.delivered
	case is(word, "TIME"):
		o.delivered, ok = resp.ParseInt(args[1])
	case is(word, "RETRYCOUNT"):
		o.count, ok = resp.ParseInt(args[1])
	case is(word, "LASTID"):
		o.last, err = parseID(args[1], 0)
		return 1, err
	default:
		args = args[:1]
	}
	switch {
	case len(args) == 1:
		return 0, resp.Error("ERR Unrecognized XCLAIM option '" + string(cutAtZero(word)) + "'")
	case !ok:
		return 0, resp.Error("ERR Invalid " + string(bytes.ToUpper(word)) + " option argument for XCLAIM")
	}
	return 1, nil
}
