package redis

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// idSpan is an interval of ids, both ends included.
type idSpan struct{ from, to streamID }

// whole is all of a stream, which begins at its first entry.
func (st *stream) whole() idSpan { return idSpan{st.first, st.last} }

// within cuts an interval down to where the stream has entries; ok is false
// if nothing is left.
func (st *stream) within(s idSpan) (idSpan, bool) {
	if s.from.less(st.first) {
		s.from = st.first
	}
	if st.last.less(s.to) {
		s.to = st.last
	}
	return s, st.first != (streamID{}) && !s.to.less(s.from)
}

// A stream with no more entries than smallStream, alive and dead, is read as
// a whole when it is read, and then stays in memory; of a larger one only what
// was asked for is looked up.
const smallStream = 512

// streamEntries walks over the entries of a stream in an interval, at most
// limit of them; 0 is all.
func streamEntries(v *View, k *keyDoc, st *stream, s idSpan, reverse bool, limit int64) iter.Seq2[streamEntry, error] {
	s, some := st.within(s)
	some = some && k.Length > 0
	u, small := k.UID, k.Length <= smallStream && st.added <= k.Length+smallStream
	return func(yield func(streamEntry, error) bool) {
		if !some {
			return
		}
		prefixBytes := len(v.prefixOf(u))
		items, err := entryItems(v, u, small, s, reverse)
		if err != nil {
			yield(streamEntry{}, err)
			return
		}
		n := int64(0)
		for item, err := range items {
			var e streamEntry
			if err == nil {
				e, err = parseStreamEntry(item.Doc, prefixBytes)
			}
			if err != nil {
				yield(e, err)
				return
			}
			if s.to.less(e.id) || e.id.less(s.from) || !yield(e, nil) {
				return
			}
			if n++; n == limit {
				return
			}
		}
	}
}

// entryItems are the documents of entries from one end of an interval on, to
// its other end or beyond.
func entryItems(v *View, u uid, small bool, s idSpan, reverse bool) (iter.Seq2[firn.Item, error], error) {
	index := v.elements.ByID()
	from := slices.Clone(entryID(v, u, s.from))
	to := slices.Clone(entryID(v, u, s.to))
	if !small {
		return v.R.Scan(firn.Range{Index: index, From: from, To: append(to, 0), Reverse: reverse}), nil
	}
	all, err := v.R.Ordered(index, v.prefixOf(u))
	switch {
	case err != nil:
		return nil, err
	case reverse:
		return all.Descend(to), nil
	}
	return all.Ascend(from), nil
}

// entryAt is the entry of an id; ok is false if it is not there.
func entryAt(v *View, k *keyDoc, st *stream, id streamID) (e streamEntry, ok bool, err error) {
	if id.less(st.first) || st.last.less(id) || k.Length == 0 {
		return e, false, nil
	}
	prefixBytes := len(v.prefixOf(k.UID))
	doc, err := v.R.Get(v.elements, entryID(v, k.UID, id))
	if err == firn.ErrNotFound {
		return e, false, nil
	}
	if err == nil {
		e, err = parseStreamEntry(doc, prefixBytes)
	}
	return e, err == nil, err
}

// entryID is the id of an entry's document.
func entryID(v *View, u uid, id streamID) []byte {
	return v.keep(id.appendKey(appendUID(v.room(), u)))
}

// entryAfter is the first entry after an id; ok is false if there is none.
func entryAfter(v *View, k *keyDoc, st *stream, id streamID) (e streamEntry, ok bool, err error) {
	from, some := id.next()
	if !some {
		return e, false, nil
	}
	for e, err := range streamEntries(v, k, st, idSpan{from, st.last}, false, 1) {
		return e, err == nil, err
	}
	return e, false, nil
}

// lastEntry is the id of the last entry; zero if there is none.
func lastEntry(v *View, k *keyDoc, st *stream) (id streamID, err error) {
	for e, err := range streamEntries(v, k, st, st.whole(), true, 1) {
		return e.id, err
	}
	return streamID{}, nil
}

// replyEntries appends an array of the entries in an interval and returns how
// many there are.
func replyEntries(v *View, w *resp.Writer, k *keyDoc, st *stream, s idSpan, reverse bool, limit int64) (n int, err error) {
	start := len(w.Buf)
	for e, err := range streamEntries(v, k, st, s, reverse, limit) {
		if err == nil {
			err = replyEntry(w, &e)
		}
		if err != nil {
			return 0, err
		}
		n++
	}
	insertHeader(w, start, '*', n)
	return n, nil
}

// insertHeader puts the header of an aggregate of n elements, or pairs, before
// what was written since start.
func insertHeader(w *resp.Writer, start int, mark byte, n int) {
	var buf [24]byte
	header := resp.Writer{Proto: w.Proto, Buf: buf[:0]}
	if mark == '%' {
		header.Map(n)
	} else {
		header.Array(n)
	}
	w.Buf = slices.Insert(w.Buf, start, header.Buf...)
}

// replyStreamState appends a stream for HISTORY: all its entries.
func replyStreamState(v *View, w *resp.Writer, k *keyDoc) error {
	st, err := parseStream(k)
	if err != nil {
		return err
	}
	n, err := replyEntries(v, w, k, &st, st.whole(), false, 0)
	if err == nil && int64(n) != k.Length {
		err = fmt.Errorf("stream %d/%d has %d entries, its key says %d: %w", k.UID.TS, k.UID.N, n, k.Length, errDamaged)
	}
	return err
}

func xLen(c *Call) error {
	k, _, err := c.findKind(c.Args[0], kindStream)
	if err != nil {
		return err
	}
	c.Reply.Int(k.Length)
	return nil
}

func xRange(c *Call) error { return replyStreamRange(c, c.Args[1], c.Args[2], false) }

func xRevRange(c *Call) error { return replyStreamRange(c, c.Args[2], c.Args[1], true) }

// replyStreamRange is XRANGE and XREVRANGE.
func replyStreamRange(c *Call, from, to []byte, reverse bool) error {
	s, err := parseIDSpan(from, to)
	if err != nil {
		return err
	}
	count := int64(math.MaxInt64)
	for i := 3; i < len(c.Args); i += 2 {
		if !is(c.Args[i], "COUNT") || i+1 == len(c.Args) {
			return errSyntax
		}
		n, ok := resp.ParseInt(c.Args[i+1])
		if !ok {
			return errNotInteger
		}
		count = max(n, 0)
	}
	k, st, ok, err := findStream(c.View, c.Args[0])
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

// parseIDSpan reads both ends of an interval.
func parseIDSpan(from, to []byte) (s idSpan, err error) {
	if s.from, err = parseFirstID(from); err != nil {
		return s, err
	}
	s.to, err = parseLastID(to)
	return s, err
}

// noGroup is the answer where a group must be; place says where.
func noGroup(key, name []byte, place string) error {
	var text strings.Builder
	text.WriteString("NOGROUP No such key '")
	text.Write(cutAtZero(key))
	text.WriteString("' or consumer group '")
	text.Write(cutAtZero(name))
	text.WriteString("'" + place)
	return resp.Error(text.String())
}
