package firn

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/schema"
)

// logPage is how many rows of the log are read at once, unless they are large.
const logPage = 512

// Log calls fn with every version that was committed from a moment to another,
// both included, in the order of commits, and returns its error. 0 for from is
// the horizon, before which the log has gaps; 0 for to is the newest. table is
// the name of the document's table, whether it was declared or not. What has a
// policy of its own that keeps less may have less. What the store writes about
// itself, in tables whose names begin with "firn.", is left out.
//
// A from before the horizon is a *CompactedError, and so is what was forgotten
// while Log runs. A from before the store was made is as good as the moment
// when it was.
func (s *Store) Log(from, to Timestamp, fn func(table string, doc *Document) error) error {
	return s.LogAll(from, to, func(table string, doc *Document) error {
		if strings.HasPrefix(table, internalPrefix) {
			return nil
		}
		return fn(table, doc)
	})
}

// LogAll is Log with the store's own tables: who wrote, what is kept, and what
// is held.
func (s *Store) LogAll(from, to Timestamp, fn func(table string, doc *Document) error) error {
	var docs []logged
	return logPages(s, from, to, func(table string, v *schema.Visit) error {
		doc, err := v.Copy()
		docs = append(docs, logged{table, doc})
		return err
	}, func() error {
		defer func() { docs = docs[:0] }()
		for i, l := range docs {
			docs[i] = logged{} // only fn has it
			if err := fn(l.table, l.doc); err != nil {
				return err
			}
		}
		return nil
	})
}

type logged struct {
	table string
	doc   *Document
}

// LogLent is Log for who looks at large values and keeps nothing. The documents
// and their values are lent to look until it returns: a large value is the only
// copy in memory. look runs in a read transaction, so it must not wait for
// anybody, and what it sees may be forgotten already; page is called outside of
// one, after some hundred documents or a large one, if nothing was.
func (s *Store) LogLent(from, to Timestamp, look func(table string, doc *Document) error, page func() error) error {
	return logPages(s, from, to, func(table string, v *schema.Visit) (err error) {
		if strings.HasPrefix(table, internalPrefix) {
			return nil
		}
		doc := v.Row
		if doc.Value, err = v.Value(); err != nil {
			return err
		}
		return look(table, &doc)
	}, page)
}

// logPages shows the log to look, and calls page where what it has shown since
// the last time is known to be whole.
func logPages(s *Store, from, to Timestamp, look func(table string, v *schema.Visit) error, page func() error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	newest := s.head.Newest()
	if to == 0 || to > newest {
		to = newest
	}
	if from == 0 {
		from = s.state.Oldest()
	}
	from = max(from, s.state.Created()) // there is nothing before
	session, err := s.engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	cat, err := storefile.ReadCatalog(session)
	if err != nil {
		return err
	}
	names := cat.Names()
	show := func(v *schema.Visit) error { return look(names[v.Table], v) }
	for cursor, done := (schema.Cursor{TS: from}), false; !done; {
		began := cursor.TS
		cursor, done, err = schema.WalkPage(session, cursor, to, logPage, show)
		err = whole(s, began, err)
		if err == nil {
			read := gate{store: s, at: began}
			err = read.log()
		}
		if err != nil {
			return fmt.Errorf("read the log from %d: %w", from, err)
		}
		if err := page(); err != nil {
			return err
		}
	}
	return nil
}
