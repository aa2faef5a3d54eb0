package redis

import (
	"slices"
	"time"

	"github.com/firndb/firn/resp"
)

// Errors of XREAD and XREADGROUP.
const (
	errReadGroup      = resp.Error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.")
	errReadNoAck      = resp.Error("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.")
	errReadNoGroup    = resp.Error("ERR Missing GROUP option for XREADGROUP")
	errReadUnbalanced = resp.Error("ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.")
	errReadNew        = resp.Error("ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.")
	errReadDollar     = resp.Error("ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.")
)

// blockedCount is how many entries a client gets that has waited and said no
// COUNT: Redis's XREAD_BLOCKED_DEFAULT_COUNT.
const blockedCount = 1000

// streamReading is what XREAD and XREADGROUP are asked for.
type streamReading struct {
	group    []byte // nil for XREAD
	consumer []byte
	noAck    bool
	blocks   bool
	timeout  time.Duration
	count    int64    // 0: all
	keys     [][]byte // as many ids follow them
	ids      [][]byte
}

// parseStreamReading reads the arguments up to the ids, whose meaning depends on
// the streams.
func parseStreamReading(c *Call, grouped bool) (r streamReading, err error) {
	args := c.Args
	for i := 0; i < len(args) && r.keys == nil; i++ {
		more := len(args) - i - 1
		switch {
		case is(args[i], "BLOCK") && more > 0:
			i++
			r.blocks = true
			if r.timeout, err = parseTimeoutMillis(args[i]); err != nil {
				return r, err
			}
		case is(args[i], "COUNT") && more > 0:
			i++
			n, ok := resp.ParseInt(args[i])
			if !ok {
				return r, errNotInteger
			}
			r.count = max(n, 0)
		case is(args[i], "STREAMS") && more > 0:
			if more%2 != 0 {
				return r, errReadUnbalanced
			}
			r.keys, r.ids = args[i+1:i+1+more/2], args[i+1+more/2:]
		case is(args[i], "GROUP") && more >= 2:
			if !grouped {
				return r, errReadGroup
			}
			r.group, r.consumer = args[i+1], args[i+2]
			i += 2
		case is(args[i], "NOACK"):
			if !grouped {
				return r, errReadNoAck
			}
			r.noAck = true
		default:
			return r, errSyntax
		}
	}
	switch {
	case r.keys == nil:
		return r, errSyntax
	case grouped && r.group == nil:
		return r, errReadNoGroup
	}
	if c.Waited && r.count == 0 {
		r.count = blockedCount
	}
	return r, nil
}

// streamSource is one of the streams that are read.
type streamSource struct {
	key   keyDoc
	st    stream
	live  bool
	after streamID // what was read last
}

// xRead looks all streams up before it replies any, because an error in the
// last is one of the command.
func xRead(c *Call) error {
	r, err := parseStreamReading(c, false)
	if err != nil {
		return err
	}
	sources := make([]streamSource, len(r.keys))
	for i := range sources {
		if err := findStreamSource(c, &sources[i], r.keys[i], r.ids[i]); err != nil {
			return err
		}
	}
	served, err := replyStreamSources(c, &r, func(i int) (bool, error) {
		return replyStreamSource(c, &sources[i], r.keys[i], r.count)
	})
	if err == nil && served == 0 {
		return waitForEntries(c, &r, sources)
	}
	return err
}

// findStreamSource looks a stream up, and from where on it is read. Who has waited
// passes over keys of another type.
func findStreamSource(c *Call, from *streamSource, key, id []byte) (err error) {
	from.key, from.st, from.live, err = findStream(c.View, key)
	if err == errWrongType && c.Waited {
		err = nil
	}
	if err != nil {
		return err
	}
	switch string(cutAtZero(id)) {
	case "$":
		from.after = from.st.last
	case ">":
		return errReadNew
	case "+":
		from.after = from.st.last
		if from.live {
			var last streamID
			if last, err = lastEntry(c.View, &from.key, &from.st); last != (streamID{}) {
				from.after, _ = last.prev()
			}
		}
	default:
		from.after, err = parseID(id, 0)
	}
	return err
}

// replyStreamSource appends a stream's name and its entries, if there are any.
func replyStreamSource(c *Call, from *streamSource, key []byte, count int64) (some bool, err error) {
	if !from.live {
		c.notifyMiss(key) // once more: Redis looks for a stream twice
		return false, nil
	}
	if !from.after.less(from.st.last) {
		return false, nil
	}
	start := len(c.Reply.Buf)
	beginStreamSource(c, key)
	first, _ := from.after.next()
	n, err := replyEntries(c.View, &c.Reply, &from.key, &from.st, idSpan{first, from.st.last}, false, count)
	if n == 0 {
		c.Reply.Buf = c.Reply.Buf[:start]
	}
	return n > 0, err
}

// replyStreamSources replies the streams that one, called with the number of
// each, says it has replied, and returns how many. It writes nothing if that
// is none.
func replyStreamSources(c *Call, r *streamReading, one func(i int) (some bool, err error)) (served int, err error) {
	start := len(c.Reply.Buf)
	for i := range r.keys {
		some, err := one(i)
		if err != nil {
			return served, err
		}
		if some {
			served++
		}
		if served > 0 && c.Waited {
			break // like Redis, one stream for who has waited
		}
	}
	switch {
	case served == 0:
	case c.Reply.Proto == 3:
		insertHeader(&c.Reply, start, '%', served)
	default:
		insertHeader(&c.Reply, start, '*', served)
	}
	return served, nil
}

// beginStreamSource appends the name of a stream, which its entries follow.
func beginStreamSource(c *Call, key []byte) {
	if c.Reply.Proto != 3 {
		c.Reply.Array(2)
	}
	c.Reply.Bulk(key)
}

// waitForEntries is what a reader does who has got nothing. What $ means is
// settled by what the streams are now.
func waitForEntries(c *Call, r *streamReading, sources []streamSource) error {
	if !r.blocks {
		c.Reply.NullArray()
		return nil
	}
	args := slices.Clone(c.Args)
	ids := args[len(args)-len(r.ids):]
	for i := range sources {
		ids[i] = sources[i].after.appendTo(nil)
	}
	return c.wait(wait{keys: r.keys, kind: kindStream, timeout: r.timeout, args: args, nothing: (*resp.Writer).NullArray})
}
