package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Errors that many commands answer with, in Redis's words.
const (
	errWrongType   = resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
	errSyntax      = resp.Error("ERR syntax error")
	errNotInteger  = resp.Error("ERR value is not an integer or out of range")
	errNotFloat    = resp.Error("ERR value is not a valid float")
	errOutOfRange  = resp.Error("ERR value is out of range")
	errNotPositive = resp.Error("ERR value is out of range, must be positive")
	errOverflow    = resp.Error("ERR increment or decrement would overflow")
	errNaNInfinity = resp.Error("ERR increment would produce NaN or Infinity")
	errTooLong     = resp.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")
	errNoSuchKey   = resp.Error("ERR no such key")
	errSameObject  = resp.Error("ERR source and destination objects are the same")
	errDatabase    = resp.Error("ERR DB index is out of range")
)

// operationExpired is the operation of the tombstones that the sweeper writes.
const operationExpired = "expired"

// expired says whether a key that ends at expires ms is gone at now ms. Like
// Redis's, a key lives through the millisecond that it ends in.
func expired(expires, now int64) bool { return expires != 0 && expires < now }

// now is the moment that the command judges expiry by, in milliseconds.
func (v *View) now() int64 { return v.R.Moment().Millis() }

// keyspace is the keyspace that database db shows at the moment of the call.
func (v *View) keyspace(db int) (uid, error) {
	space, _, err := v.shownKeyspace(db)
	return space, err
}

// shownKeyspace is keyspace and since when the database shows it; 0 is always.
func (v *View) shownKeyspace(db int) (space uid, since firn.Timestamp, err error) {
	doc, err := v.R.Get(v.databases, v.keep(tuple.AppendInt(v.room(), int64(db))))
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

// keyPrefix is the range of the ids of all keys of the database.
func (v *View) keyPrefix() ([]byte, error) {
	space, err := v.keyspace(v.DB)
	if err != nil {
		return nil, err
	}
	return v.prefixOf(space), nil
}

// find reads a key; ok is false if it is not there or has expired, which is
// told to those who want to hear of misses.
func (v *View) find(key []byte) (k keyDoc, ok bool, err error) {
	k, ok, err = v.look(key)
	if !ok && err == nil {
		v.notifyMiss(key)
	}
	return k, ok, err
}

// look is find for a command that does not read the key's value.
func (v *View) look(key []byte) (k keyDoc, ok bool, err error) {
	doc, err := v.findDocument(key)
	if err != nil {
		return keyDoc{}, false, err
	}
	if doc != nil {
		k, ok, err = v.live(doc)
	}
	if ok {
		v.work.hits++
	} else if err == nil {
		v.work.misses++
	}
	return k, ok, err
}

// findDocument is the document of a key; nil if there is none.
func (v *View) findDocument(key []byte) (*firn.Document, error) {
	space, err := v.keyspace(v.DB)
	if err != nil {
		return nil, err
	}
	doc, err := v.R.Get(v.keys, v.keyID(space, key))
	if err == firn.ErrNotFound {
		return nil, nil
	}
	return doc, err
}

// live parses a key document; ok is false if it has expired.
func (v *View) live(doc *firn.Document) (k keyDoc, ok bool, err error) {
	k, err = parseKeyDoc(doc)
	if err != nil || doc.Deleted || k.mayEnd() && k.ended(v.now()) {
		return keyDoc{}, false, err
	}
	return k, true, nil
}

// findLive is the document of a key and its state; ok is false if it is not
// there or has expired.
func (v *View) findLive(key []byte) (doc *firn.Document, k keyDoc, ok bool, err error) {
	doc, err = v.findDocument(key)
	if err != nil || doc == nil {
		return nil, keyDoc{}, false, err
	}
	k, ok, err = v.live(doc)
	return doc, k, ok, err
}

// findKind reads a key of one type; errWrongType if it has another.
func (v *View) findKind(key []byte, want kind) (k keyDoc, ok bool, err error) {
	k, ok, err = v.find(key)
	if ok && k.Kind != want {
		return keyDoc{}, false, errWrongType
	}
	return k, ok, err
}

// slot is a key that a command is about to write: its id, and what is there.
type slot struct {
	id      []byte // of its document
	name    []byte // the key itself
	db      int    // the database that the key is in
	key     keyDoc // its state, if live
	live    bool
	lapsed  bool  // it has expired, and was not swept yet
	version int64 // of its newest version, a tombstone or an expired one too; 0 if there is none
}

// open reads a key to write it.
func (v *View) open(key []byte) (slot, error) { return v.openIn(v.DB, key) }

// openIn is open for a key of any database.
func (v *View) openIn(db int, key []byte) (slot, error) {
	space, err := v.keyspace(db)
	if err != nil {
		return slot{}, err
	}
	s := slot{id: v.keyID(space, key), name: key, db: db}
	doc, err := v.R.Last(v.keys, s.id)
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
	if !doc.Deleted && !k.ended(v.now()) {
		s.key, s.live = k, true
	}
	s.lapsed = !doc.Deleted && !s.live
	return s, nil
}

// openKind is open for a key that must have one type if it is there.
func (v *View) openKind(key []byte, want kind) (slot, error) {
	s, err := v.open(key)
	if err == nil && s.live && s.key.Kind != want {
		return s, errWrongType
	}
	return s, err
}

// write stores next as the key's new state, made by the command that runs.
// The version follows the newest; a Created of 0 means that the key comes
// into being now. Afterwards s holds what was written.
func (v *View) write(s *slot, next keyDoc) error {
	s.version++
	next.Version = s.version
	if err := v.Tx.Put(v.keys, s.id, newKeyDoc(v.Operation, &next)); err != nil {
		return err
	}
	if end := next.firstEnd(); expired(end, v.now()) && end != s.key.firstEnd() {
		v.noteBackdated(end)
	}
	v.touched(s, true)
	if next.Created == 0 {
		next.Created = v.Tx.Timestamp().Millis()
	}
	s.key, s.live = next, true
	v.witness.Awaited(s.db, s.name)
	return nil
}

// remove ends a live key.
func (v *View) remove(s *slot) error {
	s.version++
	note := newKeyDoc(v.Operation, &keyDoc{Kind: s.key.Kind, Version: s.version, Created: s.key.Created})
	if err := v.Tx.Delete(v.keys, s.id, note); err != nil {
		return err
	}
	v.touched(s, false)
	s.key, s.live = keyDoc{}, false
	v.witness.Awaited(s.db, s.name)
	return nil
}

// delete ends a live key, and says that it was deleted.
func (v *View) delete(s *slot) error {
	if err := v.remove(s); err != nil {
		return err
	}
	v.notifyIn(s.db, eventGeneric, "del", s.name)
	return nil
}

// clear leaves no key where a command has nothing to store.
func (v *View) clear(s *slot) error {
	if !s.live {
		return nil
	}
	return v.delete(s)
}

// writeString stores a string with an expiry (0: none), over whatever was
// there. The value is copied.
func (v *View) writeString(s *slot, value []byte, form encoding, expires int64) error {
	if value == nil {
		value = []byte{}
	}
	return v.write(s, keyDoc{
		Kind:     kindString,
		Encoding: form,
		Created:  s.key.Created,
		Expires:  expires,
		Length:   int64(len(value)),
		Value:    value,
	})
}

// newUID names a collection that begins in this transaction.
func (v *View) newUID() uid {
	w, ts := v.work, v.Tx.Timestamp()
	if w.uidTS != ts {
		w.uidTS, w.uidN = ts, 0
	}
	w.uidN++
	return uid{ts, w.uidN}
}

// keyID is the id of a key's document.
func (v *View) keyID(space uid, key []byte) []byte {
	return v.keep(appendKeyID(v.room(), space, key))
}

// elementID is the id of one element of a collection.
func (v *View) elementID(u uid, sub []byte) []byte {
	return v.keep(tuple.AppendBytes(appendUID(v.room(), u), sub))
}

// prefixOf is the range of all keys of a keyspace, or of all elements of a
// collection.
func (v *View) prefixOf(u uid) []byte { return v.keep(appendUID(v.room(), u)) }

// subKey is what follows a prefix of n bytes in an id: a key's name or an
// element's sub-key.
func (v *View) subKey(id string, n int) ([]byte, error) {
	sub, rest, err := tuple.TakeBytes(v.keep(append(v.room(), id[n:]...)))
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
	return resp.Error("ERR invalid expire time in '" + strings.ToLower(c.Cmd.Name) + "' command")
}
