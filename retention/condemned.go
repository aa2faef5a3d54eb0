package retention

import (
	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// condemned is a batch of versions that are to be deleted in the next slices.
//
//   - keys: declared entries. Everything up to TS that leads to ID goes.
//   - entries: versions whose entries by id go, in the order of the index.
//   - rows: versions whose rows go; in the order of the index too, and in that
//     of the log once no entry is left.
//   - ranges: those that lose what is current, and so their fences. They go in
//     each slice: a merge between two of them may have counted the range anew.
type condemned struct {
	keys    []schema.Entry
	entries []version
	rows    []version
	ranges  []schema.KeyRange
	idBytes int // of rows and keys
}

func (b *condemned) add(v version) {
	b.rows = append(b.rows, v)
	b.idBytes += len(v.id)
}

// version names a version of a document.
type version struct {
	table schema.TableID
	ts    schema.Timestamp
	id    string
}

func (b *condemned) empty() bool { return len(b.keys)+len(b.rows) == 0 }

// delete deletes until it is over, but at least a step, and takes away what
// it has deleted. Entries go before rows, and declared ones first.
//
// Unless whole it ends where rows begin, for them to be sorted. Entries of an
// earlier slice may be gone already while their rows are not, if a crash came
// between: these rows are condemned again by the next pass. whole is for
// versions that are found by their entries: each goes in one transaction with
// its own.
func (b *condemned) delete(a schema.Appender, step int, over func() bool, whole bool) (err error) {
	for _, r := range b.ranges {
		if err := a.DropFences(r); err != nil {
			return err
		}
	}
	indexed := len(b.keys)+len(b.entries) > 0
	for first := true; err == nil && !b.empty() && (first || !over()); first = false {
		switch {
		case len(b.keys) > 0:
			n := min(step, len(b.keys))
			err = a.Forget(b.keys[:n])
			b.keys = b.keys[n:]
		case whole:
			n := stepLength(b.rows, step)
			if err = a.DeleteEntries(entriesOf(b.rows[:n])); err == nil {
				err = a.DeleteRows(rowsOf(b.rows[:n]))
			}
			b.rows = b.rows[n:]
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

// uncount adds the range of a key that loses what is current.
func (b *condemned) uncount(t *Table, x schema.IndexID, key string) {
	n, ok := tuple.PrefixLen(key, t.PrefixOf(x))
	if !ok || n == 0 {
		return
	}
	for _, r := range b.ranges {
		if r.Index == x && r.From == key[:n] {
			return
		}
	}
	b.ranges = append(b.ranges, index.PrefixRange(x, key[:n]))
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

// stepLength is how many versions make a step: step of them, and then up to the
// end of a document, whose entries are cheaper to touch once.
func stepLength(versions []version, step int) int {
	n := min(step, len(versions))
	for n < len(versions) && n < 2*step && versions[n].table == versions[n-1].table && versions[n].id == versions[n-1].id {
		n++
	}
	return n
}
