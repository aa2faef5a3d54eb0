package keyspace

import (
	"errors"
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Errors that many commands answer with, in Redis's words.
const (
	ErrWrongType = resp.Error("WRONGTYPE Operation against a key holding the wrong kind of value")
)

// OperationExpired is the operation of the tombstones that the sweeper writes.
const OperationExpired = "expired"

// Now is the moment that the command judges expiry by, in milliseconds.
func (v *View) Now() int64 { return v.R.Moment().Millis() }

// Keyspace is the keyspace that database db shows at the moment of the call.
func (v *View) Keyspace(db int) (UID, error) {
	space, _, err := v.shownKeyspace(db)
	return space, err
}

// shownKeyspace is keyspace and since when the database shows it; 0 is always.
func (v *View) shownKeyspace(db int) (space UID, since firn.Timestamp, err error) {
	doc, err := readDoc(v, v.Databases, tuple.AppendInt(v.Room(), int64(db)))
	if err == firn.ErrNotFound {
		return UID{N: int64(db)}, 0, nil
	}
	if err != nil {
		return UID{}, 0, err
	}
	space, _, err = ParseDatabase(doc)
	return space, doc.TS, err
}

// AppendUID appends the two leading elements of an id.
func AppendUID(dst []byte, u UID) []byte {
	return tuple.AppendInt(tuple.AppendInt(dst, int64(u.TS)), u.N)
}

// AppendKeyID appends the id of a key's document.
func AppendKeyID(dst []byte, space UID, key []byte) []byte {
	return tuple.AppendBytes(AppendUID(dst, space), key)
}

// ParseKeyID undoes AppendKeyID.
func ParseKeyID(id string) (space UID, key []byte, err error) {
	ts, rest, err := tuple.TakeInt([]byte(id))
	if err != nil {
		return UID{}, nil, err
	}
	n, rest, err := tuple.TakeInt(rest)
	if err != nil {
		return UID{}, nil, err
	}
	key, _, err = tuple.TakeBytes(rest)
	return UID{firn.Timestamp(ts), n}, key, err
}

// KeyPrefix is the range of the ids of all keys of the database.
func (v *View) KeyPrefix() ([]byte, error) {
	space, err := v.Keyspace(v.DB)
	if err != nil {
		return nil, err
	}
	return v.PrefixOf(space), nil
}

// Find reads a key; ok is false if it is not there or has expired, which is
// told to those who want to hear of misses.
func (v *View) Find(key []byte) (k KeyDoc, ok bool, err error) {
	k, ok, err = v.Look(key)
	if !ok && err == nil {
		v.NotifyMiss(key)
	}
	return k, ok, err
}

// Look is find for a command that does not read the key's value.
func (v *View) Look(key []byte) (k KeyDoc, ok bool, err error) {
	doc, err := v.FindDocument(key)
	if err != nil {
		return KeyDoc{}, false, err
	}
	if doc != nil {
		k, ok, err = v.Live(doc)
	}
	if ok {
		v.Work.Hits++
	} else if err == nil {
		v.Work.Misses++
	}
	return k, ok, err
}

// FindDocument is the document of a key; nil if there is none.
func (v *View) FindDocument(key []byte) (*firn.Document, error) {
	space, err := v.Keyspace(v.DB)
	if err != nil {
		return nil, err
	}
	v.Work.found = v.keyID(space, key)
	into := v.Work.read.next()
	doc, err := v.R.GetAspect(v.Keys, v.Work.found, int(v.Aspect), into)
	if doc != into {
		v.Work.read.giveBack(into)
	}
	if err == firn.ErrNotFound {
		return nil, nil
	}
	return doc, err
}

// Live parses a key document; ok is false if it has expired.
func (v *View) Live(doc *firn.Document) (k KeyDoc, ok bool, err error) {
	k, err = ParseKeyDoc(doc)
	if err != nil || doc.Deleted || k.MayEnd() && k.Ended(v.Now()) {
		return KeyDoc{}, false, err
	}
	if k.MayEnd() {
		until(v, k.end())
	}
	return k, true, nil
}

// FindLive is the document of a key and its state; ok is false if it is not
// there or has expired.
func (v *View) FindLive(key []byte) (doc *firn.Document, k KeyDoc, ok bool, err error) {
	doc, err = v.FindDocument(key)
	if err != nil || doc == nil {
		return nil, KeyDoc{}, false, err
	}
	k, ok, err = v.Live(doc)
	return doc, k, ok, err
}

// FindKind reads a key of one type; ErrWrongType if it has another.
func (v *View) FindKind(key []byte, want Kind) (k KeyDoc, ok bool, err error) {
	k, ok, err = v.Find(key)
	if ok && k.Kind != want {
		return KeyDoc{}, false, ErrWrongType
	}
	return k, ok, err
}

// Slot is a key that a command is about to write: its id, and what is there.
type Slot struct {
	ID      []byte // of its document
	Name    []byte // the key itself
	DB      int    // the database that the key is in
	Key     KeyDoc // its state, if live
	Live    bool
	lapsed  bool  // it has expired, and was not swept yet
	version int64 // that the one of this transaction follows, see numbers.go
	draft   firn.Draft
}

// Open reads a key to write it.
func (v *View) Open(key []byte) (Slot, error) { return v.OpenIn(v.DB, key) }

// OpenIn is open for a key of any database.
func (v *View) OpenIn(db int, key []byte) (Slot, error) {
	space, since, err := v.shownKeyspace(db)
	if err != nil {
		return Slot{}, err
	}
	return openID(v, v.keyID(space, key), db, key, since)
}

// openID is OpenIn for a key of which the id is known, and since when the
// database shows its keyspace.
func openID(v *View, id []byte, db int, key []byte, since firn.Timestamp) (Slot, error) {
	s := Slot{ID: id, Name: key, DB: db}
	doc, err := edit(v, &s)
	if err != nil {
		return s, err
	}
	if doc == nil {
		s.version, err = formerNumber(v, db, key, since)
		return s, err
	}
	k, err := ParseKeyDoc(doc)
	if err != nil {
		return s, err
	}
	if !doc.Deleted && !k.Ended(v.Now()) {
		s.Key, s.Live = k, true
	}
	s.lapsed = !doc.Deleted && !s.Live
	number(v, &s, doc, &k)
	return s, nil
}

// openTogether is how many keys OpenEach brings into the processor's caches
// together, before it opens the first of them.
const openTogether = 32

// OpenEach opens keys one after the other: every second of args, which are keys
// and values in turn. What visit does with one is done when the next is opened.
func OpenEach(v *View, args [][]byte, visit func(s *Slot, value []byte) error) error {
	space, since, err := v.shownKeyspace(v.DB)
	if err != nil {
		return err
	}
	var room [openTogether][]byte
	for len(args) > 0 {
		some := args[:min(len(args), 2*openTogether)]
		args = args[len(some):]
		ids := room[:0]
		for i := 0; i < len(some); i += 2 {
			ids = append(ids, v.keyID(space, some[i]))
		}
		if v.Tx != nil && len(ids) > 1 {
			v.Tx.Touch(v.Keys, ids)
		}
		for i, id := range ids {
			s, err := openID(v, id, v.DB, some[2*i], since)
			if err == nil {
				err = visit(&s, some[2*i+1])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// edit is the newest version of a slot's document; nil if there never was one.
// In a transaction the look-up is the one that writing needs.
func edit(v *View, s *Slot) (doc *firn.Document, err error) {
	if v.Tx == nil { // the command may have to wait, and runs in a transaction then
		doc, err = v.R.Last(v.Keys, s.ID)
		if err == firn.ErrNotFound {
			return nil, nil
		}
		return doc, err
	}
	s.draft, err = v.Tx.Edit(v.Keys, s.ID)
	return s.draft.Old(), err
}

// OpenKind is open for a key that must have one type if it is there.
func (v *View) OpenKind(key []byte, want Kind) (Slot, error) {
	s, err := v.Open(key)
	if err == nil && s.Live && s.Key.Kind != want {
		return s, ErrWrongType
	}
	return s, err
}

// Write stores next as the key's new state, made by the command that runs.
// The version follows the newest, once for a transaction; a Created of 0 means
// that the key comes into being now. Afterwards s holds what was written.
func (v *View) Write(s *Slot, next KeyDoc) error {
	next.Version = s.version + 1
	if err := s.draft.Put(NewKeyDoc(v.Operation, &next)); err != nil {
		return err
	}
	if end := next.firstEnd(); Expired(end, v.Now()) && end != s.Key.firstEnd() {
		v.noteBackdated(end)
	}
	v.touched(s, true)
	if next.Created == 0 {
		next.Created = v.Tx.Timestamp().Millis()
	}
	s.Key, s.Live = next, true
	v.Witness.Awaited(s.DB, s.Name)
	return nil
}

// Remove ends a live key.
func (v *View) Remove(s *Slot) error {
	note := NewKeyDoc(v.Operation, &KeyDoc{Kind: s.Key.Kind, Version: s.version + 1, Created: s.Key.Created})
	if err := s.draft.Delete(note); err != nil {
		return err
	}
	v.touched(s, false)
	s.Key, s.Live = KeyDoc{}, false
	v.Witness.Awaited(s.DB, s.Name)
	return nil
}

// Delete ends a live key, and says that it was deleted.
func (v *View) Delete(s *Slot) error {
	if err := v.Remove(s); err != nil {
		return err
	}
	v.NotifyIn(s.DB, EventGeneric, "del", s.Name)
	return nil
}

// Clear leaves no key where a command has nothing to store.
func (v *View) Clear(s *Slot) error {
	if !s.Live {
		return nil
	}
	return v.Delete(s)
}

// WriteString stores a string with an expiry (0: none), over whatever was
// there. The value is copied.
func (v *View) WriteString(s *Slot, value []byte, form Encoding, expires int64) error {
	if value == nil {
		value = []byte{}
	}
	return v.Write(s, KeyDoc{
		Kind:     KindString,
		Encoding: form,
		Created:  s.Key.Created,
		Expires:  expires,
		Length:   int64(len(value)),
		Value:    value,
	})
}

// NewUID names a collection that begins in this transaction.
func (v *View) NewUID() UID {
	w, ts := v.Work, v.Tx.Timestamp()
	w.countUIDs(ts)
	w.uidN++
	u := UID{ts, w.uidN}
	v.Tx.Fresh(AppendUID(v.Room(), u))
	return u
}

// reserve keeps the number of a keyspace that the transaction makes from
// collections that it makes afterwards: these promise that nothing begins with
// their uid yet, in any table.
func reserve(v *View, space UID) {
	v.Work.countUIDs(space.TS)
	if space.N < maxDatabases { // there are not so many collections in a transaction
		v.Work.uidN = max(v.Work.uidN, space.N)
	}
}

// countUIDs begins to count the uids of a transaction.
func (w *Workspace) countUIDs(ts firn.Timestamp) {
	if w.uidTS != ts {
		w.uidTS, w.uidN = ts, 0
	}
}

// keyID is the id of a key's document.
func (v *View) keyID(space UID, key []byte) []byte {
	return v.Keep(AppendKeyID(v.Room(), space, key))
}

// ElementID is the id of one element of a collection.
func (v *View) ElementID(u UID, sub []byte) []byte {
	return v.Keep(tuple.AppendBytes(AppendUID(v.Room(), u), sub))
}

// PrefixOf is the range of all keys of a keyspace, or of all elements of a
// collection.
func (v *View) PrefixOf(u UID) []byte { return v.Keep(AppendUID(v.Room(), u)) }

// SubKey is what follows a prefix of n bytes in an id: a key's name or an
// element's sub-key.
func (v *View) SubKey(id string, n int) ([]byte, error) {
	sub, rest, err := tuple.TakeBytes(v.Keep(append(v.Room(), id[n:]...)))
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("id %q: %w", id, errors.Join(ErrDamaged, err))
	}
	return sub, nil
}

// Own copies b into memory of its own, exactly sized and never nil: what a
// store keeps.
func Own(b []byte) []byte {
	kept := make([]byte, len(b))
	copy(kept, b)
	return kept
}

// MemberOf is the member in an element's id, whose first n bytes are the uid.
func MemberOf(id string, n int) (string, error) {
	member, rest, err := tuple.TakeString(id[n:])
	if err != nil || rest != "" {
		return "", fmt.Errorf("id %q: %w", id, ErrDamaged)
	}
	return member, nil
}
