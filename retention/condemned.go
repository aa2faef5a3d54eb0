package retention

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/schema"
)

// condemned is what is to be deleted in the next slices.
type condemned struct {
	keys    []schema.Entry // of declared indexes: everything up to TS that leads to ID
	entries []version      // whose entries by id are to go, in the order of the index
	rows    []version      // whose rows are, in the order of the log once no entry is left
}

// version names a version of a document.
type version struct {
	table schema.TableID
	ts    schema.Timestamp
	id    string
}

// sortEntries brings what is condemned into the order of the indexes. What is
// owned comes before its owners: it is found through them, also by a pass that
// comes after a crash in the middle.
func (b *condemned) sortEntries(table func(schema.TableID) *Table) {
	slices.SortFunc(b.keys, func(a, b schema.Entry) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Key, b.Key))
	})
	slices.SortFunc(b.rows, func(a, b version) int {
		if a.table != b.table {
			return cmp.Or(cmp.Compare(table(a.table).rank(), table(b.table).rank()), cmp.Compare(a.table, b.table))
		}
		return cmp.Or(strings.Compare(a.id, b.id), cmp.Compare(a.ts, b.ts))
	})
	b.entries = b.rows
}

// sortRows brings it into the order of the log, when all entries are gone, but
// what is owned still first.
func (b *condemned) sortRows(table func(schema.TableID) *Table) {
	slices.SortFunc(b.rows, func(a, b version) int {
		if a.table != b.table {
			if order := cmp.Compare(table(a.table).rank(), table(b.table).rank()); order != 0 {
				return order
			}
		}
		return cmp.Compare(a.ts, b.ts)
	})
}

func (b *condemned) empty() bool { return len(b.keys)+len(b.rows) == 0 }

// deleteSome deletes until the time is up, but at least a step, and takes away
// what it has deleted: the index before the documents. It ends where rows
// begin, for them to be sorted. Rows whose entries went in an earlier slice are
// condemned again should that have been the last one before a crash.
func (b *condemned) deleteSome(a schema.Appender, step int, until time.Time) (err error) {
	indexed := len(b.keys)+len(b.entries) > 0
	for first := true; err == nil && !b.empty() && (first || !time.Now().After(until)); first = false {
		switch {
		case len(b.keys) > 0:
			n := min(step, len(b.keys))
			err = a.Forget(b.keys[:n])
			b.keys = b.keys[n:]
		case len(b.entries) > 0:
			n := stepLength(b.entries, step)
			err = a.DeleteEntries(entriesOf(b.entries[:n]))
			b.entries = b.entries[n:]
		case indexed:
			return nil
		default:
			n := min(step, len(b.rows))
			err = a.DeleteRows(rowsOf(b.rows[:n]))
			b.rows = b.rows[n:]
		}
	}
	return err
}

// deleteWhole is deleteSome for versions that are found by their entries: each
// goes in one transaction with its own.
func (b *condemned) deleteWhole(a schema.Appender, step int, until time.Time) (err error) {
	for first := true; err == nil && !b.empty() && (first || !time.Now().After(until)); first = false {
		if n := min(step, len(b.keys)); n > 0 {
			err = a.Forget(b.keys[:n])
			b.keys = b.keys[n:]
			continue
		}
		n := stepLength(b.rows, step)
		if err = a.DeleteEntries(entriesOf(b.rows[:n])); err == nil {
			err = a.DeleteRows(rowsOf(b.rows[:n]))
		}
		b.rows = b.rows[n:]
	}
	return err
}

func entriesOf(versions []version) []schema.Entry {
	entries := make([]schema.Entry, len(versions))
	for i, v := range versions {
		entries[i] = schema.Entry{Index: schema.ByID(v.table), Key: v.id, TS: v.ts}
	}
	return entries
}

func rowsOf(versions []version) []*schema.Row {
	rows := make([]schema.Row, len(versions))
	pointers := make([]*schema.Row, len(versions))
	for i, v := range versions {
		rows[i] = schema.Row{Table: v.table, ID: v.id, TS: v.ts}
		pointers[i] = &rows[i]
	}
	return pointers
}

// stepLength is how many versions make a step: at least so many, and then up to
// the end of a document, whose entries are cheaper to touch once.
func stepLength(versions []version, step int) int {
	n := min(step, len(versions))
	for n < len(versions) && n < 2*step && versions[n].table == versions[n-1].table && versions[n].id == versions[n-1].id {
		n++
	}
	return n
}
