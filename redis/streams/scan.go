package streams

import (
	"fmt"
	"math"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// replyEntries appends an array of the entries in an interval and returns how
// many there are.
func replyEntries(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc, st *keyspace.Stream, s keyspace.IDSpan, reverse bool, limit int64) (n int, err error) {
	start := len(w.Buf)
	for e, err := range keyspace.StreamEntries(v, k, st, s, reverse, limit) {
		if err == nil {
			err = ReplyEntry(w, &e)
		}
		if err != nil {
			return 0, err
		}
		n++
	}
	command.InsertHeader(w, start, '*', n)
	return n, nil
}

// ReplyStreamState appends a stream for HISTORY: all its entries.
func ReplyStreamState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	st, err := keyspace.ParseStream(k)
	if err != nil {
		return err
	}
	n, err := replyEntries(v, w, k, &st, st.Whole(), false, 0)
	if err == nil && int64(n) != k.Length {
		err = fmt.Errorf("stream %d/%d has %d entries, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, keyspace.ErrDamaged)
	}
	return err
}

func xLen(c *command.Call) error {
	k, _, err := c.FindKind(c.Args[0], keyspace.KindStream)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func xRange(c *command.Call) error { return replyStreamRange(c, c.Args[1], c.Args[2], false) }

func xRevRange(c *command.Call) error { return replyStreamRange(c, c.Args[2], c.Args[1], true) }

// replyStreamRange is XRANGE and XREVRANGE.
func replyStreamRange(c *command.Call, from, to []byte, reverse bool) error {
	s, err := keyspace.ParseIDSpan(from, to)
	if err != nil {
		return err
	}
	count := int64(math.MaxInt64)
	for i := 3; i < len(c.Args); i += 2 {
		if !command.Is(c.Args[i], "COUNT") || i+1 == len(c.Args) {
			return command.ErrSyntax
		}
		n, ok := resp.ParseInt(c.Args[i+1])
		if !ok {
			return command.ErrNotInteger
		}
		count = max(n, 0)
	}
	k, st, ok, err := keyspace.FindStream(c.View, c.Args[0])
	switch {
	case err != nil:
		return err
	case !ok:
		c.Reply.Array(0)
		return nil
	case count == 0:
		c.Reply.NullArray()
		return nil
	}
	_, err = replyEntries(c.View, &c.Reply, &k, &st, s, reverse, count)
	return err
}

// noGroup is the answer where a group must be; place says where.
func noGroup(key, name []byte, place string) error {
	var text strings.Builder
	text.WriteString("NOGROUP No such key '")
	text.Write(keyspace.CutAtZero(key))
	text.WriteString("' or consumer group '")
	text.Write(keyspace.CutAtZero(name))
	text.WriteString("'" + place)
	return resp.Error(text.String())
}
