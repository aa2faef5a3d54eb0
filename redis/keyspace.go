package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Errors that many commands answer with, in Redis's words.
const (
	errWrongType   = Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	errSyntax      = Error("ERR syntax error")
	errNotInteger  = Error("ERR value is not an integer or out of range")
	errNotFloat    = Error("ERR value is not a valid float")
	errOutOfRange  = Error("ERR value is out of range")
	errNotPositive = Error("ERR value is out of range, must be positive")
	errOverflow    = Error("ERR increment or decrement would overflow")
	errNaNInfinity = Error("ERR increment would produce NaN or Infinity")
	errTooLong     = Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	errNoSuchKey   = Error("ERR no such key")
	errSameObject  = Error("ERR source and destination objects are the same")
	errDatabase    = Error("ERR DB index is out of range")
)

// operationExpired is the operation of the tombstones that the sweeper writes.
const operationExpired = "expired"

// expired says whether a key that ends at expires ms is gone at now ms. Like
// Redis's, a key lives through the millisecond that it ends in.
func expired(expires, now int64) bool { return expires != 0 && expires < now }

// now is the moment that the command judges expiry by, in milliseconds.
func (c *Call) now() int64 { return c.R.Moment().Millis() }

// keyspace is the keyspace that database db shows at the moment of the call.
func (c *Call) keyspace(db int) (uid, error) {
	space, _, err := c.shownKeyspace(db)
	return space, err
}

// shownKeyspace is keyspace and since when the database shows it; 0 is always.
func (c *Call) shownKeyspace(db int) (space uid, since firn.Timestamp, err error) {
	w := c.work
	w.space = tuple.AppendInt(w.space[:0], int64(db))
	doc, err := c.R.Get(w.databases, w.space)
	if err == firn.ErrNotFound {
		return uid{N: int64(db)}, 0, nil
	}
	if err != nil {
		return uid{}, 0, err
	}
	space, _, err = parseDatabase(doc)
	return space, doc.TS, err
}

// appendUID appends the two leading elements of an id.
func appendUID(dst []byte, u uid) []byte {
	return tuple.AppendInt(tuple.AppendInt(dst, int64(u.TS)), u.N)
}

// appendKeyID appends the id of a key's document.
func appendKeyID(dst []byte, space uid, key []byte) []byte {
	return tuple.AppendBytes(appendUID(dst, space), key)
}

// parseKeyID undoes appendKeyID.
func parseKeyID(id string) (space uid, key []byte, err error) {
	ts, rest, err := tuple.TakeInt([]byte(id))
	if err != nil {
		return uid{}, nil, err
	}
	n, rest, err := tuple.TakeInt(rest)
	if err != nil {
		return uid{}, nil, err
	}
	key, _, err = tuple.TakeBytes(rest)
	return uid{firn.Timestamp(ts), n}, key, err
}

// keyPrefix is the range of the ids of all keys of the call's database. It is
// valid until the next call of it.
func (c *Call) keyPrefix() ([]byte, error) {
	space, err := c.keyspace(c.DB)
	if err != nil {
		return nil, err
	}
	c.work.space = appendUID(c.work.space[:0], space)
	return c.work.space, nil
}

// find reads a key; ok is false if it is not there or has expired, which is
// told to those who want to hear of misses.
func (c *Call) find(key []byte) (k keyDoc, ok bool, err error) {
	k, ok, err = c.look(key)
	if !ok && err == nil {
		c.notifyMiss(key)
	}
	return k, ok, err
}

// look is find for a command that does not read the key's value.
func (c *Call) look(key []byte) (k keyDoc, ok bool, err error) {
	doc, err := c.findDocument(key)
	if err != nil {
		return keyDoc{}, false, err
	}
	if doc != nil {
		k, ok, err = c.live(doc)
	}
	if ok {
		c.work.hits++
	} else if err == nil {
		c.work.misses++
	}
	return k, ok, err
}

// findDocument is the document of a key; nil if there is none.
func (c *Call) findDocument(key []byte) (*firn.Document, error) {
	space, err := c.keyspace(c.DB)
	if err != nil {
		return nil, err
	}
	c.work.id = appendKeyID(c.work.id[:0], space, key)
	doc, err := c.R.Get(c.work.keys, c.work.id)
	if err == firn.ErrNotFound {
		return nil, nil
	}
	return doc, err
}

// live parses a key document; ok is false if it has expired.
func (c *Call) live(doc *firn.Document) (k keyDoc, ok bool, err error) {
	k, err = parseKeyDoc(doc)
	if err != nil || doc.Deleted || k.mayEnd() && k.ended(c.now()) {
		return keyDoc{}, false, err
	}
	return k, true, nil
}

// findLive is the document of a key and its state; ok is false if it is not
// there or has expired.
func (c *Call) findLive(key []byte) (doc *firn.Document, k keyDoc, ok bool, err error) {
	doc, err = c.findDocument(key)
	if err != nil || doc == nil {
		return nil, keyDoc{}, false, err
	}
	k, ok, err = c.live(doc)
	return doc, k, ok, err
}

// findKind reads a key of one type; errWrongType if it has another.
func (c *Call) findKind(key []byte, want kind) (k keyDoc, ok bool, err error) {
	k, ok, err = c.find(key)
	if ok && k.Kind != want {
		return keyDoc{}, false, errWrongType
	}
	return k, ok, err
}

// slot is a key that a command is about to write: its id, and what is there.
type slot struct {
	id      []byte // scratch memory: valid until the same scratch is used again
	name    []byte // the key itself
	db      int    // the database that the key is in
	key     keyDoc // its state, if live
	live    bool
	lapsed  bool  // it has expired, and was not swept yet
	version int64 // of its newest version, a tombstone or an expired one too; 0 if there is none
}

// open reads a key to write it.
func (c *Call) open(key []byte) (slot, error) {
	return c.openAt(&c.work.id, c.DB, key)
}

// openOther is open for a command's second key, in any database.
func (c *Call) openOther(db int, key []byte) (slot, error) {
	return c.openAt(&c.work.otherID, db, key)
}

func (c *Call) openAt(scratch *[]byte, db int, key []byte) (slot, error) {
	space, err := c.keyspace(db)
	if err != nil {
		return slot{}, err
	}
	*scratch = appendKeyID((*scratch)[:0], space, key)
	s := slot{id: *scratch, name: key, db: db}
	doc, err := c.R.Last(c.work.keys, s.id)
	if err == firn.ErrNotFound {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	k, err := parseKeyDoc(doc)
	if err != nil {
		return s, err
	}
	s.version = k.Version
	if !doc.Deleted && !k.ended(c.now()) {
		s.key, s.live = k, true
	}
	s.lapsed = !doc.Deleted && !s.live
	return s, nil
}

// openKind is open for a key that must have one type if it is there.
func (c *Call) openKind(key []byte, want kind) (slot, error) {
	s, err := c.open(key)
	if err == nil && s.live && s.key.Kind != want {
		return s, errWrongType
	}
	return s, err
}

// write stores next as the key's new state, made by the command that runs.
// The version follows the newest; a Created of 0 means that the key comes
// into being now. Afterwards s holds what was written.
func (c *Call) write(s *slot, next keyDoc) error {
	s.version++
	next.Version = s.version
	if err := c.Tx.Put(c.work.keys, s.id, newKeyDoc(c.Cmd.Name, &next)); err != nil {
		return err
	}
	if end := next.firstEnd(); expired(end, c.now()) && end != s.key.firstEnd() {
		c.work.noteBackdated(end)
	}
	c.touched(s, true)
	if next.Created == 0 {
		next.Created = c.Tx.Timestamp().Millis()
	}
	s.key, s.live = next, true
	c.signal(s)
	return nil
}

// remove ends a live key.
func (c *Call) remove(s *slot) error {
	s.version++
	note := newKeyDoc(c.Cmd.Name, &keyDoc{Kind: s.key.Kind, Version: s.version, Created: s.key.Created})
	if err := c.Tx.Delete(c.work.keys, s.id, note); err != nil {
		return err
	}
	c.touched(s, false)
	s.key, s.live = keyDoc{}, false
	c.signal(s)
	return nil
}

// delete ends a live key, and says that it was deleted.
func (c *Call) delete(s *slot) error {
	if err := c.remove(s); err != nil {
		return err
	}
	c.notifyIn(s.db, eventGeneric, "del", s.name)
	return nil
}

// clear leaves no key where a command has nothing to store.
func (c *Call) clear(s *slot) error {
	if !s.live {
		return nil
	}
	return c.delete(s)
}

// writeString stores a string with an expiry (0: none), over whatever was
// there. The value is copied.
func (c *Call) writeString(s *slot, value []byte, form encoding, expires int64) error {
	if value == nil {
		value = []byte{}
	}
	return c.write(s, keyDoc{
		Kind:     kindString,
		Encoding: form,
		Created:  s.key.Created,
		Expires:  expires,
		Length:   int64(len(value)),
		Value:    value,
	})
}

// newUID names a collection that begins in this transaction.
func (c *Call) newUID() uid {
	w, ts := c.work, c.Tx.Timestamp()
	if w.uidTS != ts {
		w.uidTS, w.uidN = ts, 0
	}
	w.uidN++
	return uid{ts, w.uidN}
}

// elementID is the id of one element of a collection, in scratch memory.
func (c *Call) elementID(u uid, sub []byte) []byte {
	c.work.element = tuple.AppendBytes(appendUID(c.work.element[:0], u), sub)
	return c.work.element
}

// elementPrefix is the range of all elements of a collection, in the same
// scratch memory.
func (c *Call) elementPrefix(u uid) []byte {
	c.work.element = appendUID(c.work.element[:0], u)
	return c.work.element
}

// subKey is what follows a prefix of n bytes in an id: a key's name or an
// element's sub-key. It is valid until the next call.
func (c *Call) subKey(id string, n int) ([]byte, error) {
	c.work.field = append(c.work.field[:0], id[n:]...)
	sub, rest, err := tuple.TakeBytes(c.work.field)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("id %q: %w", id, errors.Join(errDamaged, err))
	}
	return sub, nil
}

// own copies b into memory of its own, exactly sized and never nil: what a
// store keeps.
func own(b []byte) []byte {
	kept := make([]byte, len(b))
	copy(kept, b)
	return kept
}

// is compares an argument with an option's name in upper case, as Redis does:
// without regard to case.
func is(arg []byte, name string) bool {
	return len(arg) == len(name) && bytes.EqualFold(arg, []byte(name))
}

// errArity is the answer to a wrong number of arguments where the table's
// bounds do not tell, such as a key without its value.
func errArity(c *Call) error {
	return wrongArity(strings.ToLower(c.Cmd.Name))
}

// errExpireTime is the answer to an expiry that is not a moment.
func errExpireTime(c *Call) error {
	return Error("ERR invalid expire time in '" + strings.ToLower(c.Cmd.Name) + "' command")
}
