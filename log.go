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
	cursor := schema.Cursor{TS: from}
	for {
		rows, err := session.Log(nil, cursor, to, logPage)
		err = whole(s, cursor.TS, err)
		if err == nil {
			read := gate{store: s, at: cursor.TS}
			err = read.log()
		}
		if err != nil {
			return fmt.Errorf("read the log from %d: %w", from, err)
		}
		if len(rows) == 0 {
			return nil
		}
		cursor = schema.Behind(rows[len(rows)-1])
		for i, row := range rows {
			rows[i] = nil // only fn has it
			if err := fn(names[row.Table], row); err != nil {
				return err
			}
		}
	}
}
