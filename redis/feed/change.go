package feed

import (
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// change is what a commit means for one key, or for a database as a whole.
type change struct {
	db        int
	key       []byte // nil: it is the database
	operation string
	kind      keyspace.Kind // KindNone: the key is gone
	doc       *firn.Document

	k      keyspace.KeyDoc // of a key
	prefix string          // of the ids of the elements of its collection
	from   int             // of a database: which one showed its keyspace before; -1: none, it has no keys
}

// rows are the versions of a commit, by what they are of.
type rows struct {
	ts          firn.Timestamp
	databases   []*firn.Document
	keys        []*firn.Document
	collections map[string]*elements // by the uid that ids begin with; nil: there are none
	others      []journal.Change     // of tables that are not Redis's
}

// elements are the versions of one collection's elements, by table, each in the
// order of the ids.
type elements struct {
	own, groups, lifetimes []*firn.Document // own: of the table elements, or of a sorted set's scores
}

// tables are the names of the tables that are Redis's.
var tables = map[string]bool{
	keyspace.DatabasesTable: true, keyspace.KeysTable: true, keyspace.ElementsTable: true,
	keyspace.ScoresTable: true, keyspace.GroupsTable: true, keyspace.LifetimesTable: true,
}

// sorted takes a commit apart.
func sorted(c *journal.Commit) (r rows, err error) {
	r.ts = c.TS
	for i := range c.Changes {
		table, doc := c.Changes[i].Table, c.Changes[i].Doc
		switch table {
		case keyspace.DatabasesTable:
			r.databases = append(r.databases, doc)
		case keyspace.KeysTable:
			r.keys = append(r.keys, doc)
		default:
			if !tables[table] {
				r.others = append(r.others, c.Changes[i])
			} else if err := r.element(table, doc); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// element adds a version of an element.
func (r *rows) element(table string, doc *firn.Document) error {
	n, ok := tuple.PrefixLen(doc.ID, 2)
	if !ok {
		return fmt.Errorf("%s %x at %d: %w", table, doc.ID, doc.TS, keyspace.ErrDamaged)
	}
	if r.collections == nil {
		r.collections = map[string]*elements{}
	}
	e := r.collections[doc.ID[:n]]
	if e == nil {
		e = new(elements)
		r.collections[doc.ID[:n]] = e
	}
	e.add(table, doc)
	return nil
}

func (e *elements) add(table string, doc *firn.Document) {
	switch table {
	case keyspace.GroupsTable:
		e.groups = append(e.groups, doc)
	case keyspace.LifetimesTable:
		e.lifetimes = append(e.lifetimes, doc)
	default:
		e.own = append(e.own, doc)
	}
}

// of are the versions of a change's elements.
func (r *rows) of(ch *change) *elements {
	if e := r.collections[ch.prefix]; e != nil {
		return e
	}
	return &elements{}
}

// keyChange is what a version of a key document means; ok is false if no
// database shows the key.
func keyChange(shown databases, doc *firn.Document) (ch change, ok bool, err error) {
	space, key, err := keyspace.ParseKeyID(doc.ID)
	if err != nil {
		return ch, false, fmt.Errorf("key %q at %d: %w", doc.ID, doc.TS, keyspace.ErrDamaged)
	}
	ch = change{db: shown.by(space), key: key, doc: doc}
	if ch.db < 0 {
		return ch, false, nil
	}
	if ch.k, err = keyspace.ParseKeyDoc(doc); err != nil {
		return ch, false, err
	}
	ch.operation = string(ch.k.Operation)
	if !doc.Deleted {
		ch.kind = ch.k.Kind
		ch.prefix = string(keyspace.AppendUID(nil, ch.k.UID))
	}
	return ch, true, nil
}
