package keyspace

import (
	"errors"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// EachDatabase calls fn with every database in turn, and with what the ids of
// its keys begin with.
func (v *View) EachDatabase(fn func(v *View, prefix []byte) error) error {
	for db := range v.DatabaseCount {
		one := v.in(db)
		prefix, err := one.KeyPrefix()
		if err != nil {
			return err
		}
		if err := fn(one, prefix); err != nil {
			return err
		}
	}
	return nil
}

// CountExpired counts the keys under a prefix of ids that have expired and
// were not swept yet.
func CountExpired(v *View, prefix string) (n int, err error) {
	if v.R.Recorded() {
		if err := untilFirst(v, firn.Range{Index: v.Expiry, From: tuple.AppendInt(nil, v.Now()), Limit: 1}, 0); err != nil {
			return 0, err
		}
	}
	due := firn.Range{Index: v.Expiry, To: tuple.AppendInt(nil, v.Now())}
	for item, err := range v.R.Scan(due) {
		if errors.Is(err, firn.ErrCompacted) {
			return countEnded(v, prefix) // a key of another database is forgotten
		}
		if err != nil {
			return 0, err
		}
		if !strings.HasPrefix(item.Doc.ID, prefix) {
			continue
		}
		_, ok, err := v.Live(item.Doc) // a hash may have lost a field only
		if err != nil {
			return 0, err
		}
		if !ok {
			n++
		}
	}
	return n, nil
}

// countEnded is CountExpired by a walk over all keys under the prefix.
func countEnded(v *View, prefix string) (n int, err error) {
	for item, err := range v.R.Scan(firn.Range{Index: v.Keys.ByID(), Prefix: []byte(prefix)}) {
		if err != nil {
			return 0, err
		}
		if _, ok, err := v.Live(item.Doc); err != nil {
			return 0, err
		} else if !ok {
			n++
		}
	}
	return n, nil
}

// Flush gives a database a keyspace without keys. One that is empty keeps the
// one that it has.
func (v *View) Flush(db int) error {
	space, err := v.Keyspace(db)
	if err != nil {
		return err
	}
	n, err := v.R.Count(v.Keys, AppendUID(nil, space))
	if err != nil || n == 0 {
		return err
	}
	next := space.nextKeyspace(v.Tx.Timestamp())
	reserve(v, next)
	return v.ShowKeyspace(db, next)
}

// ShowKeyspace makes a database show a keyspace.
func (v *View) ShowKeyspace(db int, space UID) error {
	v.Witness.Awaited(db, nil)
	id := tuple.AppendInt(nil, int64(db))
	return v.Tx.Put(v.Databases, id, appendDatabase(nil, v.Operation, space))
}
