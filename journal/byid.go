package journal

import (
	"cmp"
	"slices"
	"strings"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// Who follows few documents and was away for long does not read what all others
// did meanwhile: the index by id has the versions of each document in order.

const (
	// maxIDs is how many documents are looked up one by one: some 10 µs each,
	// which is the time to read ten rows of the log.
	maxIDs = 1000

	// maxVersions is about how many versions are gathered at once, to be put in
	// the order of commits, and leastVersions how many of each document.
	maxVersions   = 1 << 13
	leastVersions = 16

	// rareShare: the index is asked when of the rows that were read fewer than
	// this part were admitted.
	rareShare = 100
)

// rare says that the rest of the page is better looked up by the index.
func (b *builder) rare() bool {
	s := b.sieve
	return b.more && b.rows >= s.MaxRows && len(s.Prefixes) > 0 && !s.broad && b.taken < b.rows/rareShare
}

// written is one version of a document.
type written struct {
	ts schema.Timestamp
	id string
}

// fromIndex goes on with a page, up to the newest commit if its bounds allow.
// Where the filter may admit too many documents it does nothing.
func (b *builder) fromIndex() error {
	s := b.sieve
	t := s.journal.opts.Table(s.tables[0])
	if t == nil {
		s.broad = true
		return nil
	}
	var v reader.View
	s.journal.opts.Present(&v)
	defer v.Close()
	byID := reader.ByID{View: &v, Table: t}
	ids, err := s.ids(byID)
	if err != nil || s.broad {
		return err
	}
	found, until, err := b.versions(byID, ids)
	if err != nil {
		return err
	}
	b.rows, b.more = 0, until < v.Timestamp()
	for _, w := range found {
		if !b.begins(w.ts) {
			return nil
		}
		b.rows++
		row, err := byID.Version(w.id, w.ts)
		if err == nil {
			err = b.take(row)
		}
		if err != nil {
			return err
		}
	}
	b.endCommit()
	b.at = max(b.at, until)
	return nil
}

// ids are the documents that the prefixes admit. If there are too many, the
// sieve is broad.
func (s *sieve) ids(byID reader.ByID) (ids []string, err error) {
	for _, prefix := range s.Prefixes {
		from := string(prefix)
		for {
			id, ok, err := byID.Next(from)
			if err != nil {
				return nil, err
			}
			if !ok || !strings.HasPrefix(id, string(prefix)) {
				break
			}
			if len(ids) == maxIDs {
				s.broad = true
				return nil, nil
			}
			ids, from = append(ids, id), id+"\x00"
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil // a prefix may begin with another
}

// versions are what was written of documents behind the page's end, in the order
// of commits; up to until all of it. That is the newest commit, unless one of
// them was written so often that not all was gathered.
func (b *builder) versions(byID reader.ByID, ids []string) (found []written, until schema.Timestamp, err error) {
	var moments []schema.Timestamp
	until = byID.View.Timestamp()
	each := min(b.sieve.MaxCommits, max(maxVersions/max(len(ids), 1), leastVersions))
	for _, id := range ids {
		if moments, err = byID.Moments(moments[:0], id, b.at, each); err != nil {
			return nil, 0, err
		}
		for _, ts := range moments {
			found = append(found, written{ts, id})
		}
		if len(moments) == each {
			until = min(until, moments[len(moments)-1])
		}
	}
	slices.SortFunc(found, func(x, y written) int { return cmp.Or(cmp.Compare(x.ts, y.ts), strings.Compare(x.id, y.id)) })
	known, _ := slices.BinarySearchFunc(found, until, func(w written, ts schema.Timestamp) int { return cmp.Compare(w.ts, ts+1) })
	return found[:known], until, nil
}
