package streams

import (
	"slices"
	"time"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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

// BlockedCount is how many entries a client gets that has waited and said no
// COUNT: Redis's XREAD_BLOCKED_DEFAULT_COUNT.
const BlockedCount = 1000

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
func parseStreamReading(c *command.Call, grouped bool) (r streamReading, err error) {
	args := c.Args
	for i := 0; i < len(args) && r.keys == nil; i++ {
		more := len(args) - i - 1
		switch {
		case command.Is(args[i], "BLOCK") && more > 0:
			i++
			r.blocks = true
			if r.timeout, err = command.ParseTimeoutMillis(args[i]); err != nil {
				return r, err
			}
		case command.Is(args[i], "COUNT") && more > 0:
			i++
			n, ok := resp.ParseInt(args[i])
			if !ok {
				return r, command.ErrNotInteger
			}
			r.count = max(n, 0)
		case command.Is(args[i], "STREAMS") && more > 0:
			if more%2 != 0 {
				return r, errReadUnbalanced
			}
			r.keys, r.ids = args[i+1:i+1+more/2], args[i+1+more/2:]
		case command.Is(args[i], "GROUP") && more >= 2:
			if !grouped {
				return r, errReadGroup
			}
			r.group, r.consumer = args[i+1], args[i+2]
			i += 2
		case command.Is(args[i], "NOACK"):
			if !grouped {
				return r, errReadNoAck
			}
			r.noAck = true
		default:
			return r, command.ErrSyntax
		}
	}
	switch {
	case r.keys == nil:
		return r, command.ErrSyntax
	case grouped && r.group == nil:
		return r, errReadNoGroup
	}
	if c.Waited && r.count == 0 {
		r.count = BlockedCount
	}
	return r, nil
}

// streamSource is one of the streams that are read.
type streamSource struct {
	key   keyspace.KeyDoc
	st    keyspace.Stream
	live  bool
	after keyspace.StreamID // what was read last
}

// xRead looks all streams up before it replies any, because an error in the
// last is one of the command.
func xRead(c *command.Call) error {
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
func findStreamSource(c *command.Call, from *streamSource, key, id []byte) (err error) {
	from.key, from.st, from.live, err = keyspace.FindStream(c.View, key)
	if err == keyspace.ErrWrongType && c.Waited {
		err = nil
	}
	if err != nil {
		return err
	}
	switch string(keyspace.CutAtZero(id)) {
	case "$":
		from.after = from.st.Last
	case ">":
		return errReadNew
	case "+":
		from.after = from.st.Last
		if from.live {
			var last keyspace.StreamID
			if last, err = keyspace.LastEntry(c.View, &from.key, &from.st); last != (keyspace.StreamID{}) {
				from.after, _ = last.Prev()
			}
		}
	default:
		from.after, err = keyspace.ParseID(id, 0)
	}
	return err
}

// replyStreamSource appends a stream's name and its entries, if there are any.
func replyStreamSource(c *command.Call, from *streamSource, key []byte, count int64) (some bool, err error) {
	if !from.live {
		c.NotifyMiss(key) // once more: Redis looks for a stream twice
		return false, nil
	}
	if !from.after.Less(from.st.Last) {
		return false, nil
	}
	start := len(c.Reply.Buf)
	beginStreamSource(c, key)
	first, _ := from.after.Next()
	n, err := replyEntries(c.View, &c.Reply, &from.key, &from.st, keyspace.IDSpan{From: first, To: from.st.Last}, false, count)
	if n == 0 {
		c.Reply.Buf = c.Reply.Buf[:start]
	}
	return n > 0, err
}

// replyStreamSources replies the streams that one, called with the number of
// each, says it has replied, and returns how many. It writes nothing if that
// is none.
func replyStreamSources(c *command.Call, r *streamReading, one func(i int) (some bool, err error)) (served int, err error) {
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
		command.InsertHeader(&c.Reply, start, '%', served)
	default:
		command.InsertHeader(&c.Reply, start, '*', served)
	}
	return served, nil
}

// beginStreamSource appends the name of a stream, which its entries follow.
func beginStreamSource(c *command.Call, key []byte) {
	if c.Reply.Proto != 3 {
		c.Reply.Array(2)
	}
	c.Reply.Bulk(key)
}

// waitForEntries is what a reader does who has got nothing. What $ means is
// settled by what the streams are now.
func waitForEntries(c *command.Call, r *streamReading, sources []streamSource) error {
	if !r.blocks {
		c.Reply.NullArray()
		return nil
	}
	args := slices.Clone(c.Args)
	ids := args[len(args)-len(r.ids):]
	for i := range sources {
		ids[i] = sources[i].after.AppendTo(nil)
	}
	return c.Wait(command.Wait{Keys: r.keys, Kind: keyspace.KindStream, Timeout: r.timeout, Args: args, Nothing: (*resp.Writer).NullArray})
}
