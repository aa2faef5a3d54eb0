package keyspace

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/tuple"
)

// ChangedAfter says whether a key of v's database may have changed after a
// moment: it was written, it has expired, or the database shows another
// keyspace. Where the past does not reach back to the moment, a key that is not
// there may have been there then.
func ChangedAfter(v *View, key []byte, ts firn.Timestamp) (bool, error) {
	space, since, err := v.shownKeyspace(v.DB)
	if err != nil || since > ts {
		return err == nil, err
	}
	id := v.keyID(space, key)
	doc, err := v.R.Last(v.Keys, id)
	if err == firn.ErrNotFound { //nolint:errorlint // documented to be returned bare
		// First the document, then the horizon: a tombstone is deleted after
		// the horizon has passed it.
		return v.Store.Oldest(KeyScope(string(id))) > ts, nil
	}
	if err != nil || doc.TS > ts || doc.Deleted {
		return err == nil && doc.TS > ts, err
	}
	k, err := ParseKeyDoc(doc)
	return err == nil && Expired(k.firstEnd(), v.Now()), err
}

// Errors of EachChangedSince.
var (
	// ErrOtherKeyspace says that a database shows another keyspace than before,
	// so that any of its keys may have changed.
	ErrOtherKeyspace = errors.New("keyspace: a database shows another keyspace")

	// ErrTooLong says that too much was written since to look for what it was.
	ErrTooLong = errors.New("keyspace: too much was written since")
)

// What EachChangedSince reads of the log at most: a million rows, which takes a
// second, and less if they are large.
const (
	sincePages    = 64
	sincePageRows = 1 << 14
)

// maxSincePrefixes is how many prefixes of ids a row of the log is compared with
// before it is read.
const maxSincePrefixes = 64

// EachChangedSince visits the keys with any of some prefixes that have changed
// after a moment in any database. A key may be visited several times; it is
// visit's to keep, and visit's error ends the walk.
//
// A FLUSHDB or SWAPDB after the moment is ErrOtherKeyspace. If too much was
// written, it is ErrTooLong; where the prefixes have few keys that is found out
// by the index.
func EachChangedSince(v *View, ts firn.Timestamp, prefixes []string, visit func(key []byte) error) error {
	f := journal.Filter{Tables: []string{KeysTable}, MaxRows: sincePageRows, MaxCommits: sincePageRows}
	some := func(id string) error {
		_, key, err := ParseKeyID(id)
		if err != nil || !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(string(key), prefix) }) {
			return err
		}
		return visit(key)
	}
	err := v.Store.View(func(snap *firn.Snapshot) error {
		now := v.At(snap)
		for db := range v.DatabaseCount {
			space, since, err := now.in(db).shownKeyspace(db)
			if err != nil || since > ts {
				return cmp.Or(err, ErrOtherKeyspace)
			}
			for _, prefix := range prefixes {
				id := AppendKeyID(nil, space, []byte(prefix))
				f.Prefixes = append(f.Prefixes, id[:len(id)-1]) // without the end of the key
			}
		}
		return eachEnded(now, ts, some)
	})
	if len(f.Prefixes) > maxSincePrefixes {
		f.Prefixes = nil
	}
	for n := 0; err == nil; n++ {
		if n == sincePages {
			return ErrTooLong
		}
		var page journal.Page
		if page, err = v.Store.Journal().Page(ts, &f); err != nil {
			return err
		}
		for _, commit := range page.Commits {
			for _, change := range commit.Changes {
				if err := some(change.Doc.ID); err != nil {
					return err
				}
			}
		}
		if ts = page.TS; !page.More {
			return nil
		}
	}
	return err
}

// eachEnded visits the ids of keys that have ended by themselves after ts, or
// fields of which have, and that were not swept yet.
func eachEnded(v *View, ts firn.Timestamp, visit func(id string) error) error {
	ended := firn.Range{Index: v.Expiry, From: tuple.AppendInt(nil, ts.Millis()), To: tuple.AppendInt(nil, v.Now())}
	for item, err := range v.R.Scan(ended) {
		if err == nil {
			err = visit(item.Doc.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
