package retention

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// known is a version as it is judged: without its value, which is read only
// where something follows from it, and let go at once. So a commit takes no
// more memory than its ids, however large its values are.
type known struct {
	schema.Row
	owns []owned
	keys []index.Key // in declared indexes
}

// knownBytes is about what a version takes beside its id, with its place in a
// map.
const knownBytes = 200

func (k *known) bytes() int {
	n := len(k.ID) + knownBytes
	for _, o := range k.owns {
		n += len(o.prefix)
	}
	for _, key := range k.keys {
		n += len(key.Key)
	}
	return n
}

// tells says whether something follows from the values of a table.
func (t *Table) tells() bool { return t.Owns != nil || len(t.Indexes) > 0 }

// know takes from a row, whose value is there, what must be known of it.
func (t *Table) know(d *index.Deriver, row *schema.Row) *known {
	k := t.owner(row)
	k.keys = d.Keys(nil, t.Table, row)
	return k
}

// owner is know without keys.
func (t *Table) owner(row *schema.Row) *known {
	k := &known{Row: *row}
	k.Value = nil
	if t.Owns != nil && !row.Deleted {
		t.Owns(row.ID, row.Value, func(table schema.TableID, prefix string) { k.owns = append(k.owns, owned{table, prefix}) })
	}
	return k
}

// see makes a row that a walk has come to known.
func (t *Table) see(d *index.Deriver, v *schema.Visit) (*known, error) {
	row := v.Row
	if t.tells() && !row.Deleted {
		value, err := v.Value()
		if err != nil {
			return nil, err
		}
		row.Value = value
	}
	return t.know(d, &row), nil
}

// peek is the version of a document at a timestamp; nil if it is not there.
func (t *Table) peek(s schema.Session, d *index.Deriver, id string, ts schema.Timestamp) (k *known, err error) {
	_, err = s.Peek(t.ID, id, ts, func(v *schema.Visit) (err error) {
		k, err = t.see(d, v)
		return err
	})
	return k, err
}

// peekAt is the newest version of a document at or before a moment; nil if
// there is none.
func (t *Table) peekAt(s schema.Session, d *index.Deriver, id string, at schema.Timestamp) (*known, error) {
	e, ok, err := s.Entry(schema.ByID(t.ID), id, at)
	if err != nil || !ok {
		return nil, err
	}
	return t.peek(s, d, id, e.TS)
}
