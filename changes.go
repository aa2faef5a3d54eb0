package firn

import (
	"context"
	"iter"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// Changes follows the store: it walks what was committed behind from, in order
// and without end, waiting where there is nothing yet. Each Commit has all that
// the filter admits of one transaction, and a token to go on from, on this
// iteration's successor, after a restart, whenever. From time to time there is a
// commit without changes, a bookmark, whose token is newer: at least every ten
// seconds, and when the compactor is about to move the horizon.
//
// from is a token, or anything else that Moment reads, and exclusive; "" and
// "$" are the newest commit. Package journal says what a follower is promised.
//
// The iteration ends with an error: ctx's, ErrClosed, ErrForked for a token of
// another line of history, a *FutureError for a moment that has not come, and a
// *CompactedError once anything is missing behind the place that it has come to.
// Then the way on is a snapshot: read what is followed At a token's moment, and
// follow from there. A Hold keeps history back for who knows to be slow.
//
// Nobody waits for a follower. One that is slow reads the file, where it would
// find the newest commits in memory, see Options.FollowBytes.
func (s *Store) Changes(ctx context.Context, from string, f journal.Filter) iter.Seq2[journal.Commit, error] {
	return s.journal.Changes(ctx, from, f)
}

// Journal is what servers follow by: pages that do not wait, and calls when
// there is something new.
func (s *Store) Journal() *journal.Journal { return s.journal }

// newJournal makes the store's journal; names are those of all tables that the
// file knows.
func newJournal(s *Store, names map[schema.TableID]string) *journal.Journal {
	return journal.New(journal.Options{
		Incarnation: s.incarnation, RingBytes: s.opts.FollowBytes, Logger: s.opts.Logger,
		Created: s.state.Created(), Names: names, Closed: ErrClosed,
		Newest:  s.head.Newest,
		Oldest:  s.state.Oldest,
		Now:     s.writer.Clock().Now,
		Present: func(v *reader.View) { v.Reset(s.head, false) },
		User:    func(row *schema.Row) (string, error) { return userOf(s, row) },
		Table:   func(id schema.TableID) *index.Table { return definitionOf(s.tables[names[id]]) },
		Moment:  s.Moment,
		Settle:  func(ts Timestamp) error { return settle(s, ts) },
		Admit: func(after Timestamp, t schema.TableID, prefixes [][]byte) error {
			return admitFollower(s, after, names[t], prefixes)
		},
		Whole: func(after Timestamp) error { return whole(s, after, nil) },
	})
}

// admitFollower refuses a moment behind which anything may be missing of what
// begins with prefixes in a table; of everything, if the table is "" or was not
// declared.
func admitFollower(s *Store, after Timestamp, table string, prefixes [][]byte) error {
	g := gate{store: s, at: after}
	t := s.tables[table]
	switch {
	case s.state.Uniform(after):
		return nil
	case t == nil:
		return g.all()
	case len(prefixes) == 0:
		return g.span(t, nil)
	}
	for _, prefix := range prefixes {
		if err := g.span(t, prefix); err != nil {
			return err
		}
	}
	return nil
}

// definitionOf is a table as the layers below know it; nil if it was not
// declared.
func definitionOf(t *Table) *index.Table {
	if t == nil {
		return nil
	}
	return t.def
}

// userOf is who wrote a version.
func userOf(s *Store, row *schema.Row) (user string, err error) {
	err = s.View(func(snap *Snapshot) error {
		by, err := snap.Author(row)
		user = by.User
		return err
	})
	return user, err
}
