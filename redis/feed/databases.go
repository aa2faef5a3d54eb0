package feed

import (
	"fmt"
	"maps"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// databases is which keyspace each database shows, as of one moment: of those
// that have a document. The others show the one that they were born with.
type databases map[int]keyspace.UID

// databasesAt reads what was shown at a moment.
func databasesAt(v *keyspace.View, ts firn.Timestamp) (databases, error) {
	shown := databases{}
	read := func(snap *firn.Snapshot) (newest firn.Timestamp, err error) {
		clear(shown)
		for item, err := range snap.Scan(firn.Range{Index: v.Databases.ByID()}) {
			if err != nil {
				return 0, err
			}
			newest = max(newest, item.Doc.TS)
			if _, _, err := shown.set(item.Doc); err != nil {
				return 0, err
			}
		}
		return newest, nil
	}
	if ts < v.Store.Bounds().Began {
		return shown, nil // there was nothing to exchange
	}
	var newest firn.Timestamp
	err := v.Store.View(func(snap *firn.Snapshot) (err error) {
		newest, err = read(snap)
		return err
	})
	if err != nil || newest <= ts {
		return shown, err // the present is as good: nothing was exchanged since
	}
	return shown, v.Store.At(ts, func(snap *firn.Snapshot) error {
		_, err := read(snap)
		return err
	})
}

// set notes a version of a database's document.
func (d databases) set(doc *firn.Document) (db int, operation string, err error) {
	n, rest, err := tuple.TakeInt(doc.ID)
	if err != nil || rest != "" {
		return 0, "", fmt.Errorf("database %x at %d: %w", doc.ID, doc.TS, keyspace.ErrDamaged)
	}
	space, operation, err := keyspace.ParseDatabase(doc)
	if err == nil {
		d[int(n)] = space
	}
	return int(n), operation, err
}

// space is the keyspace that a database shows.
func (d databases) space(db int) keyspace.UID {
	if space, ok := d[db]; ok {
		return space
	}
	return keyspace.UID{N: int64(db)}
}

// by is the database that shows a keyspace; -1: none does.
func (d databases) by(space keyspace.UID) int {
	if space.TS == 0 {
		if _, another := d[int(space.N)]; !another {
			return int(space.N)
		}
	}
	for db, shown := range d {
		if shown == space {
			return db
		}
	}
	return -1
}

// exchanged takes the versions of databases' documents in a commit, and returns
// what was shown before it and the changes that they are.
func (d databases) exchanged(rows []*firn.Document) (before databases, changes []change, err error) {
	if len(rows) == 0 {
		return d, nil, nil
	}
	before = maps.Clone(d)
	for _, doc := range rows {
		db, operation, err := d.set(doc)
		if err != nil {
			return nil, nil, err
		}
		changes = append(changes, change{db: db, operation: operation, doc: doc, from: before.by(d[db])})
	}
	return before, changes, nil
}
