package keyspace

import (
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Change is a version of the log as clients know it.
type Change struct {
	DB        int    // the database; -1: the keyspace was not shown by any, or it is no key
	Key       []byte // the key, or the library; nil: it is a whole database
	Operation string // the command that wrote it, or expired
	Type      string // of the key; database, library
	Deleted   bool
}

// Changes tells what versions of the log mean. They must be shown to it in
// the log's order, because which database shows a keyspace changes, too.
type Changes struct{ shown map[UID]int }

// NewChanges makes a Changes for the log of a store from a moment on; 0 is the
// horizon.
func NewChanges(store *firn.Store, from firn.Timestamp) (*Changes, error) {
	ch := &Changes{shown: map[UID]int{}}
	from = max(from, store.Bounds().Oldest)
	err := store.At(min(from, store.Bounds().Newest), func(snap *firn.Snapshot) error {
		for item, err := range snap.Scan(firn.Range{Index: store.Table(DatabasesTable).ByID()}) {
			if err != nil {
				return err
			}
			if _, err := ch.database(item.Doc); err != nil {
				return err
			}
		}
		return nil
	})
	return ch, err
}

// Of is what a version means; ok is false for what is part of another, or
// of no interest to clients.
func (ch *Changes) Of(table string, doc *firn.Document) (c Change, ok bool, err error) {
	switch table {
	case DatabasesTable:
		c, err = ch.database(doc)
	case KeysTable:
		c, err = ch.key(doc)
	case FunctionsTable:
		return libraryChange(doc)
	default:
		return c, false, nil
	}
	return c, err == nil, err
}

func (ch *Changes) database(doc *firn.Document) (c Change, err error) {
	db, rest, err := tuple.TakeInt(doc.ID)
	if err != nil || rest != "" {
		return c, fmt.Errorf("database %x at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	space, operation, err := ParseDatabase(doc)
	if err != nil {
		return c, err
	}
	for shown, by := range ch.shown {
		if by == int(db) {
			ch.shown[shown] = -1
		}
	}
	if _, replaced := ch.shown[UID{N: db}]; !replaced {
		ch.shown[UID{N: db}] = -1 // its first keyspace is shown no more, unless another database says so
	}
	ch.shown[space] = int(db)
	return Change{DB: int(db), Operation: operation, Type: "database"}, nil
}

func (ch *Changes) key(doc *firn.Document) (c Change, err error) {
	space, key, err := ParseKeyID(doc.ID)
	if err != nil {
		return c, fmt.Errorf("key %q at %d: %w", doc.ID, doc.TS, ErrDamaged)
	}
	k, err := ParseKeyDoc(doc)
	if err != nil {
		return c, err
	}
	db, known := ch.shown[space]
	switch {
	case known:
	case space.TS == 0:
		db = int(space.N)
	default:
		db = -1
	}
	return Change{DB: db, Key: key, Operation: string(k.Operation), Type: k.Kind.String(), Deleted: doc.Deleted}, nil
}
