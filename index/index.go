// Package index derives index entries from rows and keeps the newest of them
// in memory until they are merged into the file.
//
// An index maps order-preserving keys to documents, at every timestamp. Each
// table has an index by id, with an entry for every version; a declared index
// has an entry only when a key of a document appears or disappears.
// [Deriver] computes them from a row and the row that it replaces.
//
// Entries newer than the file's indexes are the tail ([Tail]): an ordered run
// in memory that the writer adds to and readers search beside the file. When
// the active run is large, or the store idles, it is frozen and a [Merger]
// writes it to the file in key order, in slices, while a new run takes what
// comes. When the last slice is committed the watermark [WatermarkGlobal]
// moves and the frozen run is dropped. On open a [Replayer] derives what the
// log has behind the watermark.
//
// The package starts no goroutine and reads no clock. It does not decide when
// to freeze or how much to merge at once: the writer does.
package index

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firndb/firn/schema"
)

// ErrDeclaration means that a table's declaration is not valid, or
// contradicts the one that the store was made with.
var ErrDeclaration = errors.New("index: invalid declaration")

// KeyFunc calls add for each key under which a live document is found. It is
// a pure function of its arguments; add copies the key.
type KeyFunc func(id string, value []byte, add func(key []byte))

// Spec declares one index of a table.
type Spec struct {
	Name   string
	Prefix int // leading tuple elements of a key that name one ordered range
	Keys   KeyFunc
}

// Table is a table as the store knows it: its id and what is derived from its
// rows.
type Table struct {
	ID      schema.TableID
	Name    string
	Prefix  int  // leading tuple elements of an id that name one ordered range; 0: none
	Counted bool // live documents are counted per prefix
	Indexes []Spec
}

// PrefixOf is how many leading tuple elements of the index's keys name one
// ordered range; 0 if it has none.
func (t *Table) PrefixOf(x schema.IndexID) int {
	if n := x.Number(); n > 0 {
		return t.Indexes[n-1].Prefix
	}
	return t.Prefix
}

// Deriver derives entries from rows. It keeps its scratch from call to call
// and belongs to one goroutine; the zero Deriver is ready.
type Deriver struct{ before, after keyCollector }

// Derive appends the entries that next makes in table t when it replaces old,
// which is nil when there was no version before. The first is always the
// entry by id.
func (d *Deriver) Derive(dst []schema.Entry, t *Table, old, next *schema.Row) []schema.Entry {
	changes := (old == nil || old.Deleted) != next.Deleted
	dst = append(dst, schema.Entry{Index: schema.ByID(t.ID), Deleted: next.Deleted, Changes: changes, TS: next.TS, Key: next.ID})
	for i := range t.Indexes {
		before, after := d.before.collect(t, i, old), d.after.collect(t, i, next)
		x := schema.Index(t.ID, i+1)
		for _, key := range before {
			if !slices.Contains(after, key) {
				dst = append(dst, schema.Entry{Index: x, Deleted: true, Changes: true, TS: next.TS, Key: key, ID: next.ID})
			}
		}
		for _, key := range after {
			if !slices.Contains(before, key) {
				dst = append(dst, schema.Entry{Index: x, Changes: true, TS: next.TS, Key: key, ID: next.ID})
			}
		}
	}
	return dst
}

// Key is a key of a version in the declared index of a number.
type Key struct {
	Number int
	Key    string
}

// Keys appends the keys of a version in the declared indexes, in their order;
// none of a tombstone. They are what Derive needs to know of it.
func (d *Deriver) Keys(dst []Key, t *Table, row *schema.Row) []Key {
	for i := range t.Indexes {
		for _, key := range d.after.collect(t, i, row) {
			dst = append(dst, Key{i + 1, key})
		}
	}
	return dst
}

// DeriveKeys is Derive where is known whether the version before was live, and
// the keys of both. It needs no value.
func DeriveKeys(dst []schema.Entry, next *schema.Row, wasLive bool, before, after []Key) []schema.Entry {
	changes := wasLive == next.Deleted
	dst = append(dst, schema.Entry{Index: schema.ByID(next.Table), Deleted: next.Deleted, Changes: changes, TS: next.TS, Key: next.ID})
	for len(before)+len(after) > 0 {
		x := 0
		if len(before) > 0 {
			x = before[0].Number
		}
		if len(after) > 0 && (x == 0 || after[0].Number < x) {
			x = after[0].Number
		}
		gone, come := keysIn(before, x), keysIn(after, x)
		dst = deriveIn(dst, next, schema.Index(next.Table, x), gone, come)
		before, after = before[len(gone):], after[len(come):]
	}
	return dst
}

// keysIn are the first keys, as far as they are of an index.
func keysIn(keys []Key, number int) []Key {
	n := 0
	for n < len(keys) && keys[n].Number == number {
		n++
	}
	return keys[:n]
}

// deriveIn appends the entries of one index.
func deriveIn(dst []schema.Entry, next *schema.Row, x schema.IndexID, before, after []Key) []schema.Entry {
	for _, k := range before {
		if !slices.Contains(after, k) {
			dst = append(dst, schema.Entry{Index: x, Deleted: true, Changes: true, TS: next.TS, Key: k.Key, ID: next.ID})
		}
	}
	for _, k := range after {
		if !slices.Contains(before, k) {
			dst = append(dst, schema.Entry{Index: x, Changes: true, TS: next.TS, Key: k.Key, ID: next.ID})
		}
	}
	return dst
}

// keyCollector gathers the keys of one version in one declared index.
type keyCollector struct {
	keys []string
	add  func(key []byte) // appends to keys; made once
}

// collect is the keys of row in the i-th declared index, valid until the next
// call; none if row is nil or a tombstone.
func (c *keyCollector) collect(t *Table, i int, row *schema.Row) []string {
	clear(c.keys)
	c.keys = c.keys[:0]
	if row == nil || row.Deleted {
		return nil
	}
	if c.add == nil {
		c.add = func(key []byte) {
			if k := string(key); !slices.Contains(c.keys, k) {
				c.keys = append(c.keys, k)
			}
		}
	}
	t.Indexes[i].Keys(row.ID, row.Value, c.add)
	return c.keys
}

// Validate refuses declarations that cannot work.
func (t *Table) Validate() error {
	switch {
	case t.Name == "" || len(t.Name) > 255:
		return fmt.Errorf("%w: table name %q must have 1 to 255 bytes", ErrDeclaration, t.Name)
	case t.Prefix < 0:
		return fmt.Errorf("%w: table %q: negative prefix", ErrDeclaration, t.Name)
	case t.Counted && t.Prefix == 0:
		return fmt.Errorf("%w: table %q: counted, but no prefix to count by", ErrDeclaration, t.Name)
	case len(t.Indexes) > 255:
		return fmt.Errorf("%w: table %q: %d indexes, at most 255", ErrDeclaration, t.Name, len(t.Indexes))
	}
	seen := map[string]bool{}
	for _, x := range t.Indexes {
		if x.Name == "" || x.Keys == nil || x.Prefix < 0 || seen[x.Name] {
			return fmt.Errorf("%w: table %q: index %q needs a name of its own, a key function and no negative prefix", ErrDeclaration, t.Name, x.Name)
		}
		seen[x.Name] = true
	}
	return nil
}
