package redis

import (
	"math"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/schema"
)

// Errors of XADD.
const (
	errAddZero      = resp.Error("ERR The ID specified in XADD must be greater than 0-0")
	errAddExhausted = resp.Error("ERR The stream has exhausted the last possible ID, unable to add more items")
	errAddSmaller   = resp.Error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	errAddTooLarge  = resp.Error("ERR Elements are too large to be stored")
)

// streamAddition is what XADD is asked for.
type streamAddition struct {
	trim     trimming
	onlyLive bool     // NOMKSTREAM
	auto     bool     // the id is *: of now
	star     bool     // the id is <ms>-*: the next within the millisecond
	id       streamID // unless auto
	fields   [][]byte // fields and values
}

// parseStreamAddition reads XADD's arguments after the key.
func parseStreamAddition(c *Call) (a streamAddition, err error) {
	args, at := c.Args, 1
	for given := false; at < len(args) && !given; at++ {
		n, err := a.trim.parse(args, at)
		switch {
		case err != nil:
			return a, err
		case n > 0:
			at += n - 1
		case is(args[at], "NOMKSTREAM"):
			a.onlyLive = true
		case string(cutAtZero(args[at])) == "*":
			a.auto, given = true, true
		default:
			given = true
			if a.id, a.star, err = parseIDOrStar(args[at], 0); err != nil {
				return a, err
			}
		}
	}
	if err := a.trim.check(); err != nil {
		return a, err
	}
	a.fields = args[at:]
	switch {
	case len(a.fields) < 2 || len(a.fields)%2 == 1:
		return a, errArity(c)
	case !a.auto && !a.star && a.id == (streamID{}):
		return a, errAddZero
	}
	return a, nil
}

// nextID is the id of the new entry.
func (a *streamAddition) nextID(last streamID, now int64) (id streamID, err error) {
	switch {
	case last == greatestID:
		return id, errAddExhausted
	case a.auto && uint64(now) > last.ms:
		return streamID{ms: uint64(now)}, nil
	case a.auto:
		id, _ = last.next()
		return id, nil
	case a.star && a.id.ms == last.ms:
		if last.seq == math.MaxUint64 {
			return id, errAddTooLarge // Redis's words for it
		}
		return streamID{last.ms, last.seq + 1}, nil
	case !last.less(a.id):
		return id, errAddSmaller
	}
	return a.id, nil
}

// maxEntryBytes is how much an entry may hold: what one document can, and a
// margin for the headers.
const maxEntryBytes = schema.MaxValueBytes - 1<<20

// tooLarge says whether an entry could not be stored.
func tooLarge(fields [][]byte) bool {
	n := 0
	for _, b := range fields {
		n += len(b) + 5
	}
	return n > maxEntryBytes
}

func xAdd(c *Call) error {
	a, err := parseStreamAddition(c)
	if err != nil {
		return err
	}
	s, st, err := openStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live && a.onlyLive {
		c.Reply.Null()
		return nil
	}
	id, err := a.nextID(st.last, c.now())
	if err != nil {
		return err
	}
	if tooLarge(a.fields) {
		return errAddTooLarge
	}
	if err := addEntry(c.View, &s, &st, id, a.fields); err != nil {
		return err
	}
	replyID(&c.Reply, id)
	var trimmed int64
	if a.trim.by != noTrim {
		if trimmed, err = trim(c, &s, &st, &a.trim); err != nil {
			return err
		}
	}
	err = writeStream(c.View, &s, &st)
	c.notify(eventStream, "xadd", c.Args[0])
	if trimmed > 0 {
		c.notify(eventStream, "xtrim", c.Args[0])
	}
	return err
}

// addEntry stores an entry behind all others. The caller writes the key.
func addEntry(v *View, s *slot, st *stream, id streamID, fields [][]byte) error {
	return putEntry(v, s, st, id, fields, st.beginsNode(s.key.Length, id, fields))
}

// putEntry stores an entry whose node is accounted for.
func putEntry(v *View, s *slot, st *stream, id streamID, fields [][]byte, begins bool) error {
	if s.key.Length == 0 {
		st.first = id
	}
	st.last = id
	st.added++
	s.key.Length++
	return v.Tx.Put(v.elements, entryID(v, s.key.UID, id), newStreamEntry(fields, begins))
}

func xDel(c *Call) error {
	s, st, err := openStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live {
		c.Reply.Int(0)
		return nil
	}
	ids, err := parseIDs(c.Args[1:])
	if err != nil {
		return err
	}
	n := int64(0)
	for _, id := range ids {
		had, err := deleteEntry(c.View, &s, &st, id)
		if err != nil {
			return err
		}
		if had {
			n++
		}
	}
	c.Reply.Int(n)
	if n == 0 {
		return nil
	}
	c.notify(eventStream, "xdel", c.Args[0])
	return writeStream(c.View, &s, &st)
}

// deleteEntry deletes an entry from anywhere, and says whether it was there.
// The caller writes the key.
func deleteEntry(v *View, s *slot, st *stream, id streamID) (had bool, err error) {
	e, ok, err := entryAt(v, &s.key, st, id)
	if err != nil || !ok {
		return false, err
	}
	first := id == st.first
	if first || e.begins {
		if err := passNode(v, s, st, id, first); err != nil {
			return false, err
		}
	}
	if st.head.entries > 0 && !st.head.last.less(id) {
		if st.head.entries--; st.head.entries == 0 {
			st.head = streamNodeEnd{}
		}
	}
	s.key.Length--
	if st.deleted.less(id) {
		st.deleted = id
	}
	return true, v.Tx.Delete(v.elements, entryID(v, s.key.UID, id), nil)
}

// passNode makes the entry after a node's first entry, which is about to go,
// the first of that node; or the node goes with it, if it has no other.
func passNode(v *View, s *slot, st *stream, id streamID, first bool) error {
	e, ok, err := entryAfter(v, &s.key, st, id)
	switch {
	case err != nil:
		return err
	case first:
		st.first = e.id // 0-0 if there is none
	}
	switch {
	case !ok:
		st.nodes--
		st.closeNode()
	case e.begins:
		st.nodes--
	case !first:
		return v.Tx.Put(v.elements, entryID(v, s.key.UID, e.id), e.begun())
	}
	return nil
}

// Errors of XSETID.
const (
	errSetDeleted = resp.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
	errSetSmaller = resp.Error("ERR The ID specified in XSETID is smaller than the target stream top item")
	errSetAdded   = resp.Error("ERR The entries_added specified in XSETID is smaller than the target stream length")
)

// streamSettings are what XSETID sets.
type streamSettings struct {
	last, deleted streamID // deleted 0-0: as it is
	added         int64    // -1: as it is
}

func parseStreamSettings(args [][]byte) (o streamSettings, err error) {
	o.added = -1
	if o.last, err = parseID(args[0], 0); err != nil {
		return o, err
	}
	for i := 1; i < len(args); i += 2 {
		switch {
		case i+1 == len(args):
			return o, errSyntax
		case is(args[i], "ENTRIESADDED"):
			var ok bool
			if o.added, ok = resp.ParseInt(args[i+1]); !ok {
				return o, errNotInteger
			}
			if o.added < 0 {
				return o, resp.Error("ERR entries_added must be positive")
			}
		case is(args[i], "MAXDELETEDID"):
			if o.deleted, err = parseID(args[i+1], 0); err != nil {
				return o, err
			}
			if o.last.less(o.deleted) {
				return o, errSetDeleted
			}
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

func xSetID(c *Call) error {
	o, err := parseStreamSettings(c.Args[1:])
	if err != nil {
		return err
	}
	s, st, err := openStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.live {
		return errNoSuchKey
	}
	top, err := lastEntry(c.View, &s.key, &st)
	switch {
	case err != nil:
		return err
	case o.last.less(top):
		return errSetSmaller
	case o.added != -1 && s.key.Length > o.added && s.key.Length > 0:
		return errSetAdded
	}
	st.last = o.last
	if o.added != -1 {
		st.added = o.added
	}
	if o.deleted != (streamID{}) {
		st.deleted = o.deleted
	}
	c.Reply.Simple("OK")
	c.notify(eventStream, "xsetid", c.Args[0])
	return writeStream(c.View, &s, &st)
}
