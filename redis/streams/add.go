package streams

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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
	onlyLive bool              // NOMKSTREAM
	auto     bool              // the id is *: of now
	star     bool              // the id is <ms>-*: the next within the millisecond
	id       keyspace.StreamID // unless auto
	fields   [][]byte          // fields and values
}

// parseStreamAddition reads XADD's arguments after the key.
func parseStreamAddition(c *command.Call) (a streamAddition, err error) {
	args, at := c.Args, 1
	for given := false; at < len(args) && !given; at++ {
		n, err := a.trim.parse(args, at)
		switch {
		case err != nil:
			return a, err
		case n > 0:
			at += n - 1
		case command.Is(args[at], "NOMKSTREAM"):
			a.onlyLive = true
		case string(keyspace.CutAtZero(args[at])) == "*":
			a.auto, given = true, true
		default:
			given = true
			if a.id, a.star, err = keyspace.ParseIDOrStar(args[at], 0); err != nil {
				return a, err
			}
		}
	}
	if err := a.trim.check(&c.Encodings); err != nil {
		return a, err
	}
	a.fields = args[at:]
	switch {
	case len(a.fields) < 2 || len(a.fields)%2 == 1:
		return a, command.ErrArity(c)
	case !a.auto && !a.star && a.id == (keyspace.StreamID{}):
		return a, errAddZero
	}
	return a, nil
}

// nextID is the id of the new entry.
func (a *streamAddition) nextID(last keyspace.StreamID, now int64) (id keyspace.StreamID, err error) {
	switch {
	case last == keyspace.GreatestID:
		return id, errAddExhausted
	case a.auto && uint64(now) > last.Ms:
		return keyspace.StreamID{Ms: uint64(now)}, nil
	case a.auto:
		id, _ = last.Next()
		return id, nil
	case a.star && a.id.Ms == last.Ms:
		if last.Seq == math.MaxUint64 {
			return id, errAddTooLarge // Redis's words for it
		}
		return keyspace.StreamID{Ms: last.Ms, Seq: last.Seq + 1}, nil
	case !last.Less(a.id):
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

func xAdd(c *command.Call) error {
	a, err := parseStreamAddition(c)
	if err != nil {
		return err
	}
	s, st, err := keyspace.OpenStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live && a.onlyLive {
		c.Reply.Null()
		return nil
	}
	id, err := a.nextID(st.Last, c.Now())
	if err != nil {
		return err
	}
	if tooLarge(a.fields) {
		return errAddTooLarge
	}
	if err := keyspace.AddEntry(c.View, &s, &st, id, a.fields); err != nil {
		return err
	}
	ReplyID(&c.Reply, id)
	var trimmed int64
	if a.trim.by != noTrim {
		if trimmed, err = trim(c, &s, &st, &a.trim); err != nil {
			return err
		}
	}
	err = keyspace.WriteStream(c.View, &s, &st)
	c.Notify(keyspace.EventStream, "xadd", c.Args[0])
	if trimmed > 0 {
		c.Notify(keyspace.EventStream, "xtrim", c.Args[0])
	}
	return err
}

func xDel(c *command.Call) error {
	s, st, err := keyspace.OpenStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live {
		c.Reply.Int(0)
		return nil
	}
	ids, err := keyspace.ParseIDs(c.Args[1:])
	if err != nil {
		return err
	}
	n := int64(0)
	for _, id := range ids {
		had, err := keyspace.DeleteEntry(c.View, &s, &st, id)
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
	c.Notify(keyspace.EventStream, "xdel", c.Args[0])
	return keyspace.WriteStream(c.View, &s, &st)
}

// Errors of XSETID.
const (
	errSetDeleted = resp.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
	errSetSmaller = resp.Error("ERR The ID specified in XSETID is smaller than the target stream top item")
	errSetAdded   = resp.Error("ERR The entries_added specified in XSETID is smaller than the target stream length")
)

// streamSettings are what XSETID sets.
type streamSettings struct {
	last, deleted keyspace.StreamID // deleted 0-0: as it is
	added         int64             // -1: as it is
}

func parseStreamSettings(args [][]byte) (o streamSettings, err error) {
	o.added = -1
	if o.last, err = keyspace.ParseID(args[0], 0); err != nil {
		return o, err
	}
	for i := 1; i < len(args); i += 2 {
		switch {
		case i+1 == len(args):
			return o, command.ErrSyntax
		case command.Is(args[i], "ENTRIESADDED"):
			var ok bool
			if o.added, ok = resp.ParseInt(args[i+1]); !ok {
				return o, command.ErrNotInteger
			}
			if o.added < 0 {
				return o, resp.Error("ERR entries_added must be positive")
			}
		case command.Is(args[i], "MAXDELETEDID"):
			if o.deleted, err = keyspace.ParseID(args[i+1], 0); err != nil {
				return o, err
			}
			if o.last.Less(o.deleted) {
				return o, errSetDeleted
			}
		default:
			return o, command.ErrSyntax
		}
	}
	return o, nil
}

func xSetID(c *command.Call) error {
	o, err := parseStreamSettings(c.Args[1:])
	if err != nil {
		return err
	}
	s, st, err := keyspace.OpenStream(c.View, c.Args[0])
	if err != nil {
		return err
	}
	if !s.Live {
		return command.ErrNoSuchKey
	}
	top, err := keyspace.LastEntry(c.View, &s.Key, &st)
	switch {
	case err != nil:
		return err
	case o.last.Less(top):
		return errSetSmaller
	case o.added != -1 && s.Key.Length > o.added && s.Key.Length > 0:
		return errSetAdded
	}
	st.Last = o.last
	if o.added != -1 {
		st.Added = o.added
	}
	if o.deleted != (keyspace.StreamID{}) {
		st.Deleted = o.deleted
	}
	c.Reply.Simple("OK")
	c.Notify(keyspace.EventStream, "xsetid", c.Args[0])
	return keyspace.WriteStream(c.View, &s, &st)
}
