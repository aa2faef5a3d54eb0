package firn

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Author says who wrote a version of a document, and why. What is not known
// is empty, and the zero Author is nobody. All of it is UTF-8, at most 1 KiB
// in all.
//
// Authors are kept for ever, and equal ones once. So Address should be that of
// a machine and not of a connection, whose port is never the same, and Reason
// something that many versions share, like a ticket.
type Author struct {
	User    string `json:"user,omitempty"`
	Client  string `json:"client,omitempty"` // the program
	Address string `json:"address,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

const (
	// maxAuthorBytes is how long an Author may be: each is kept for ever.
	maxAuthorBytes = 1 << 10

	// maxKnownAuthors is how many authors are remembered in memory, some 4 MiB
	// at worst. The others are found in the file.
	maxKnownAuthors = 4096
)

// check refuses authors that are too long, or that JSON cannot hold.
func (a Author) check() error {
	size := 0
	for _, text := range [...]string{a.User, a.Client, a.Address, a.Reason} {
		if !utf8.ValidString(text) {
			return fmt.Errorf("firn: author: %.40q is not UTF-8", text)
		}
		size += len(text)
	}
	if size > maxAuthorBytes {
		return fmt.Errorf("%w: author of %d bytes, at most %d", schema.ErrSize, size, maxAuthorBytes)
	}
	return nil
}

// authorsIndex leads from an author to the number.
const authorsIndex = "author"

func authorsSpec() TableSpec {
	byValue := func(_ string, value []byte, add func([]byte)) { add(value) }
	return TableSpec{Name: storefile.AuthorsTable, Shared: true, Indexes: []IndexSpec{{Name: authorsIndex, Keys: byValue}}}
}

// authors is what transactions know of the authors. It belongs to who runs
// one.
//
//   - known, and last, are committed. What a transaction has only staged is
//     looked up again by the next, because it may be gone by then.
//   - asked has no document, and next is the first number that nobody has,
//     until somebody is enrolled.
type authors struct {
	table   *Table
	byValue *Index

	known  map[Author]int64
	last   Author // the one that was used last; nobody, at first
	number int64  // last's

	asked Author // nobody: not known
	next  int64
	value []byte       // asked's document
	place reader.Draft // where the running transaction writes it
}

func (as *authors) init(table *Table) {
	as.table, as.byValue = table, table.Index(authorsIndex)
	as.known = make(map[Author]int64)
}

// remember keeps the number of an author who is committed.
func (as *authors) remember(a Author, number int64) {
	if len(as.known) >= maxKnownAuthors {
		for other := range as.known {
			delete(as.known, other)
			break
		}
	}
	as.known[a] = number
}

// SetAuthor makes a the author of what the transaction writes from now on.
// The first transaction that commits anything by a keeps a itself as well. An
// author who is too long, or not UTF-8, is an error and changes nothing.
func (tx *Tx) SetAuthor(a Author) error {
	if tx.view.Ended() {
		return errEnded
	}
	as := &tx.store.authors
	if a == as.last {
		tx.author, tx.enrols = as.number, false
		return nil
	}
	if a == (Author{}) {
		tx.author, tx.enrols = 0, false
		return nil
	}
	if number, ok := as.known[a]; ok {
		as.last, as.number = a, number
		tx.author, tx.enrols = number, false
		return nil
	}
	return tx.resolve(a)
}

// resolve finds the number of an author who is not known: that of the author's
// document or, if there is none, the next, under which the first write puts it.
func (tx *Tx) resolve(a Author) error {
	as := &tx.store.authors
	if a != as.asked {
		if err := a.check(); err != nil {
			return err
		}
		number, err := tx.findAuthor(a)
		if err != nil {
			return err
		}
		if number != 0 {
			tx.author, tx.enrols = number, false
			return nil
		}
	}
	place, err := tx.view.Edit(as.table.def, tuple.AppendInt(nil, as.next))
	if err != nil {
		return err
	}
	as.place = place
	tx.author, tx.enrols = as.next, true
	return nil
}

// findAuthor is the number of an author's document; 0 if there is none. Then
// the author is asked.
func (tx *Tx) findAuthor(a Author) (number int64, err error) {
	as := &tx.store.authors
	value, err := json.Marshal(a)
	if err != nil {
		return 0, fmt.Errorf("encode author: %w", err)
	}
	for item, err := range tx.Scan(Range{Index: as.byValue, From: value, To: append(value, 0), Limit: 1}) {
		if err != nil {
			return 0, err
		}
		number, err := storefile.AuthorNumber(item.Doc.ID)
		if err == nil && item.Doc.TS <= tx.store.head.Newest() {
			as.remember(a, number)
		}
		return number, err
	}
	next, err := tx.nextAuthor()
	if err != nil {
		return 0, err
	}
	as.asked, as.next, as.value = a, next, value
	return 0, nil
}

// enrol writes the author's document, now that the transaction has written
// something. It has no author itself.
func (tx *Tx) enrol() error {
	as := &tx.store.authors
	place, value := as.place, as.value
	as.asked, as.value, as.place = Author{}, nil, reader.Draft{}
	tx.enrols = false
	_, err := tx.store.head.Stage(place, Document{Value: value, JSON: true, TS: tx.ts})
	return err
}

// nextAuthor is the first number that no author has.
func (tx *Tx) nextAuthor() (int64, error) {
	for item, err := range tx.Scan(Range{Index: tx.store.authors.table.ByID(), Reverse: true, Limit: 1}) {
		if err != nil {
			return 0, err
		}
		last, err := storefile.AuthorNumber(item.Doc.ID)
		return last + 1, err
	}
	return 1, nil
}

// Author implements Reader.
func (r *readAt) Author(doc *Document) (Author, error) { return authorOf(r.view, r.store, doc) }

// authorOf asks for the newest version, whatever is kept of whose history:
// authors have no other.
func authorOf(v *reader.View, s *Store, doc *Document) (a Author, err error) {
	if err := usable(v, true); err != nil || doc == nil || doc.Author == 0 {
		return a, err
	}
	row, err := v.Get(s.authors.table.def, tuple.AppendInt(nil, doc.Author))
	switch {
	case errors.Is(err, ErrNotFound) && doc.TS > v.Timestamp():
		return a, &FutureError{Asked: doc.TS, Newest: v.Timestamp()}
	case errors.Is(err, ErrNotFound):
		return a, fmt.Errorf("%w: the author %d of %q at %d is not there", schema.ErrCorrupt, doc.Author, doc.ID, doc.TS)
	case err != nil:
		return a, err
	}
	if err := json.Unmarshal(row.Value, &a); err != nil {
		return Author{}, fmt.Errorf("%w: author %d: %v", schema.ErrCorrupt, doc.Author, err)
	}
	return a, nil
}
