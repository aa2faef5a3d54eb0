package streams

import (
	"fmt"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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
	least   keyspace.StreamID
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
	case command.Is(args[at], "LIMIT"):
		limit, ok := resp.ParseInt(args[at+1])
		if !ok {
			return 0, command.ErrNotInteger
		}
		if limit < 0 {
			return 0, errTrimLimitNegative
		}
		t.limit, t.limited = limit, true
		return 2, nil
	case command.Is(args[at], "MAXLEN"), command.Is(args[at], "MINID"):
	default:
		return 0, nil
	}
	if t.by != noTrim {
		return 0, errTrimTwice
	}
	n = 2
	if form := string(keyspace.CutAtZero(args[at+1])); more >= 2 && (form == "~" || form == "=") {
		t.about = form == "~"
		n = 3
	}
	bound := args[at+n-1]
	if command.Is(args[at], "MINID") {
		t.by = byID
		t.least, err = keyspace.ParseID(bound, 0)
		return n, err
	}
	t.by = byLength
	var ok bool
	if t.length, ok = resp.ParseInt(bound); !ok {
		return 0, command.ErrNotInteger
	}
	if t.length < 0 {
		return 0, errTrimLength
	}
	return n, nil
}

// usualTrimLimit is the most that ~ deletes at once where no LIMIT says so:
// Redis's 100 nodes, 10,000 entries if nodes have no bound, a million at most.
func usualTrimLimit(l *keyspace.EncodingLimits) int64 {
	entries := min(l.NodeEntries.Load(), 10_000)
	if entries == 0 {
		entries = 100
	}
	return 100 * entries
}

// check completes the options when all are read.
func (t *trimming) check(l *keyspace.EncodingLimits) error {
	switch {
	case t.limit > 0 && t.by == noTrim:
		return errTrimLimit
	case t.limited && !t.about:
		return errTrimExact
	case !t.limited && t.about:
		t.limit = usualTrimLimit(l)
	}
	return nil
}

func xTrim(c *command.Call) error {
	var t trimming
	for at := 1; at < len(c.Args); {
		n, err := t.parse(c.Args, at)
		if err != nil {
			return err
		}
		if n == 0 {
			return command.ErrSyntax
		}
		at += n
	}
	if t.by == noTrim && t.limit == 0 {
		return errTrimNothing
	}
	if err := t.check(&c.Encodings); err != nil {
		return err
	}
	s, st, err := keyspace.OpenStream(c.View, c.Args[0])
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
	c.Notify(keyspace.EventStream, "xtrim", c.Args[0])
	return keyspace.WriteStream(c.View, &s, &st)
}

// trim cuts entries off the front of a stream and returns how many. The
// caller writes the key.
func trim(c *command.Call, s *keyspace.Slot, st *keyspace.Stream, t *trimming) (removed int64, err error) {
	if !t.about {
		return trimEntries(c, s, st, t)
	}
	for s.Key.Length > 0 && !(t.by == byLength && s.Key.Length <= t.length) {
		if err := measureHead(c, &s.Key, st); err != nil {
			return removed, err
		}
		n := st.Head.Entries
		if t.limit > 0 && removed+n > t.limit ||
			t.by == byLength && s.Key.Length-n < t.length ||
			t.by == byID && !st.Head.Last.Less(t.least) {
			break
		}
		some := trimming{by: byLength, length: s.Key.Length - n}
		if _, err := trimEntries(c, s, st, &some); err != nil {
			return removed, err
		}
		removed += n
	}
	return removed, nil
}

// measureHead finds out how many entries the first node has, and where it
// ends, unless that is known.
func measureHead(c *command.Call, k *keyspace.KeyDoc, st *keyspace.Stream) error {
	if st.Nodes == 1 && st.Node.Last != (keyspace.StreamID{}) {
		st.Head = keyspace.StreamNodeEnd{Entries: k.Length, Last: st.Node.Last}
		return nil
	}
	if st.Head.Entries > 0 {
		return nil
	}
	for e, err := range keyspace.StreamEntries(c.View, k, st, st.Whole(), false, 0) {
		if err != nil {
			return err
		}
		if e.Begins && e.ID != st.First {
			break
		}
		st.Head.Entries++
		st.Head.Last = e.ID
	}
	return nil
}

// trimEntries cuts off entries one by one.
func trimEntries(c *command.Call, s *keyspace.Slot, st *keyspace.Stream, t *trimming) (removed int64, err error) {
	var batch []keyspace.StreamEntry
	for t.wants(s.Key.Length, st.First) {
		limit := int64(keyspace.TrimBatch)
		if t.by == byLength {
			limit = min(s.Key.Length-t.length, limit)
		}
		batch = batch[:0]
		for e, err := range keyspace.StreamEntries(c.View, &s.Key, st, st.Whole(), false, limit+1) {
			if err != nil {
				return removed, err
			}
			batch = append(batch, e)
			if t.by == byID && !e.ID.Less(t.least) {
				break
			}
		}
		n, err := deleteFront(c, s, st, t, batch)
		if removed += n; err != nil {
			return removed, err
		}
		if n == 0 && t.wants(s.Key.Length, st.First) {
			return removed, fmt.Errorf("stream %d/%d has not the entries that its key says: %w", s.Key.UID.TS, s.Key.UID.N, keyspace.ErrDamaged)
		}
	}
	return removed, nil
}

// wants says whether a stream of that length and first entry is to be cut.
func (t *trimming) wants(length int64, first keyspace.StreamID) bool {
	if t.by == byLength {
		return length > t.length
	}
	return length > 0 && first.Less(t.least)
}

// deleteFront deletes the first entries of a stream as long as they are to be
// cut off; batch has them, and one more if there is one.
func deleteFront(c *command.Call, s *keyspace.Slot, st *keyspace.Stream, t *trimming, batch []keyspace.StreamEntry) (n int64, err error) {
	for i := range batch {
		e := &batch[i]
		if i > 0 {
			st.First = e.ID
			if e.Begins {
				st.Nodes--
				st.Head = keyspace.StreamNodeEnd{}
			}
		}
		if !t.wants(s.Key.Length, e.ID) || i+1 == len(batch) && s.Key.Length > 1 {
			return n, nil
		}
		if st.Head.Entries > 0 {
			st.Head.Entries--
		}
		s.Key.Length--
		n++
		if err := c.Tx.Delete(c.Elements, keyspace.EntryID(c.View, s.Key.UID, e.ID), nil); err != nil {
			return n, err
		}
	}
	if s.Key.Length == 0 {
		st.First, st.Nodes, st.Head = keyspace.StreamID{}, 0, keyspace.StreamNodeEnd{}
	}
	return n, nil
}
