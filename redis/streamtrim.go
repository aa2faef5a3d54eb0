package redis

import (
	"fmt"

	"github.com/firndb/firn/resp"
)

// trimBy says what a stream is cut down to.
type trimBy uint8

const (
	noTrim   trimBy = iota
	byLength        // MAXLEN: so many entries
	byID            // MINID: the entries from an id on
)

// trimming is what XTRIM, and XADD, are asked to cut off.
type trimming struct {
	by      trimBy
	about   bool // ~: whole nodes only
	length  int64
	least   streamID
	limit   int64 // the most entries to delete with ~; 0: any number
	limited bool  // LIMIT was given
}

// Errors of the options.
const (
	errTrimTwice         = resp.Error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
	errTrimNothing       = resp.Error("ERR syntax error, XTRIM must be called with a trimming strategy")
	errTrimLimit         = resp.Error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
	errTrimExact         = resp.Error("ERR syntax error, LIMIT cannot be used without the special ~ option")
	errTrimLength        = resp.Error("ERR The MAXLEN argument must be >= 0.")
	errTrimLimitNegative = resp.Error("ERR The LIMIT argument must be >= 0.")
)

// parse reads the option at args[at], if it is one of these, and returns how
// many arguments it takes; 0 if it is another one.
func (t *trimming) parse(args [][]byte, at int) (n int, err error) {
	more := len(args) - 1 - at
	switch {
	case more == 0:
		return 0, nil
	case is(args[at], "LIMIT"):
		limit, ok := resp.ParseInt(args[at+1])
		if !ok {
			return 0, errNotInteger
		}
		if limit < 0 {
			return 0, errTrimLimitNegative
		}
		t.limit, t.limited = limit, true
		return 2, nil
	case is(args[at], "MAXLEN"), is(args[at], "MINID"):
	default:
		return 0, nil
	}
	if t.by != noTrim {
		return 0, errTrimTwice
	}
	n = 2
	if form := string(cutAtZero(args[at+1])); more >= 2 && (form == "~" || form == "=") {
		t.about = form == "~"
		n = 3
	}
	bound := args[at+n-1]
	if is(args[at], "MINID") {
		t.by = byID
		t.least, err = parseID(bound, 0)
		return n, err
	}
	t.by = byLength
	var ok bool
	if t.length, ok = resp.ParseInt(bound); !ok {
		return 0, errNotInteger
	}
	if t.length < 0 {
		return 0, errTrimLength
	}
	return n, nil
}

// defaultTrimLimit is the most that ~ deletes at once where no LIMIT says so:
// Redis's 100 nodes.
const defaultTrimLimit = 100 * streamNodeEntries

// check completes the options when all are read.
func (t *trimming) check() error {
	switch {
	case t.limit > 0 && t.by == noTrim:
		return errTrimLimit
	case t.limited && !t.about:
		return errTrimExact
	case !t.limited && t.about:
		t.limit = defaultTrimLimit
	}
	return nil
}

func xTrim(c *Call) error {
	var t trimming
	for at := 1; at < len(c.Args); {
		n, err := t.parse(c.Args, at)
		if err != nil {
			return err
		}
		if n == 0 {
			return errSyntax
		}
		at += n
	}
	if t.by == noTrim && t.limit == 0 {
		return errTrimNothing
	}
	if err := t.check(); err != nil {
		return err
	}
	s, st, err := openStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	n, err := trim(c, &s, &st, &t)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	c.notify(eventStream, "xtrim", c.Args[0])
	return writeStream(c.View, &s, &st)
}

// trim cuts entries off the front of a stream and returns how many. The
// caller writes the key.
func trim(c *Call, s *slot, st *stream, t *trimming) (removed int64, err error) {
	if !t.about {
		return trimEntries(c, s, st, t)
	}
	for s.key.Length > 0 && !(t.by == byLength && s.key.Length <= t.length) {
		if err := measureHead(c, &s.key, st); err != nil {
			return removed, err
		}
		n := st.head.entries
		if t.limit > 0 && removed+n > t.limit ||
			t.by == byLength && s.key.Length-n < t.length ||
			t.by == byID && !st.head.last.less(t.least) {
			break
		}
		some := trimming{by: byLength, length: s.key.Length - n}
		if _, err := trimEntries(c, s, st, &some); err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// measureHead finds out how many entries the first node has, and where it
// ends, unless that is known.
func measureHead(c *Call, k *keyDoc, st *stream) error {
	if st.nodes == 1 && st.node.last != (streamID{}) {
		st.head = streamNodeEnd{k.Length, st.node.last}
		return nil
	}
	if st.head.entries > 0 {
		return nil
	}
	for e, err := range streamEntries(c.View, k, st, st.whole(), false, 0) {
		if err != nil {
			return err
		}
		if e.begins && e.id != st.first {
			break
		}
		st.head.entries++
		st.head.last = e.id
	}
	return nil
}

// trimBatch is how many entries are read before they are deleted.
const trimBatch = 1000

// trimEntries cuts off entries one by one.
func trimEntries(c *Call, s *slot, st *stream, t *trimming) (removed int64, err error) {
	var batch []streamEntry
	for t.wants(s.key.Length, st.first) {
		limit := int64(trimBatch)
		if t.by == byLength {
			limit = min(s.key.Length-t.length, limit)
		}
		batch = batch[:0]
		for e, err := range streamEntries(c.View, &s.key, st, st.whole(), false, limit+1) {
			if err != nil {
				return removed, err
			}
			batch = append(batch, e)
			if t.by == byID && !e.id.less(t.least) {
				break
			}
		}
		n, err := deleteFront(c, s, st, t, batch)
		if removed += n; err != nil {
			return removed, err
		}
		if n == 0 && t.wants(s.key.Length, st.first) {
			return removed, fmt.Errorf("stream %d/%d has not the entries that its key says: %w", s.key.UID.TS, s.key.UID.N, errDamaged)
		}
	}
	return removed, nil
}

// wants says whether a stream of that length and first entry is to be cut.
func (t *trimming) wants(length int64, first streamID) bool {
	if t.by == byLength {
		return length > t.length
	}
	return length > 0 && first.less(t.least)
}

// deleteFront deletes the first entries of a stream as long as they are to be
// cut off; batch has them, and one more if there is one.
func deleteFront(c *Call, s *slot, st *stream, t *trimming, batch []streamEntry) (n int64, err error) {
	for i := range batch {
		e := &batch[i]
		if i > 0 {
			st.first = e.id
			if e.begins {
				st.nodes--
				st.head = streamNodeEnd{}
			}
		}
		if !t.wants(s.key.Length, e.id) || i+1 == len(batch) && s.key.Length > 1 {
			return n, nil
		}
		if st.head.entries > 0 {
			st.head.entries--
		}
		s.key.Length--
		n++
		if err := c.Tx.Delete(c.elements, entryID(c.View, s.key.UID, e.id), nil); err != nil {
			return n, err
		}
	}
	if s.key.Length == 0 {
		st.first, st.nodes, st.head = streamID{}, 0, streamNodeEnd{}
	}
	return n, nil
}
