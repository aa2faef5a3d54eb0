package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// sqlDeleteRun forgets the rows of one key that begin in an interval.
const sqlDeleteRun = `
DELETE FROM indexes
 WHERE index_id = :index AND key = :key AND ts BETWEEN :first AND :last`

// sqlDeleteSingle forgets an entry that has a row of its own.
const sqlDeleteSingle = `
DELETE FROM indexes
 WHERE index_id = :index AND key = :key AND ts = :ts AND more IS NULL`

// A forgetter takes entries out of the rows of indexes. It goes by runs: rows
// of one key that follow one another and all lose entries. A run is read with
// one statement and dropped with another, and what stays of it is written back
// together, so that forgetting a row of 64 entries costs little more than
// forgetting one of them.
type forgetter struct {
	conn   *sqlite.Conn
	single *sqlite.Stmt // sqlDeleteSingle
	walk   *sqlite.Stmt // sqlVersions
	drop   *sqlite.Stmt // sqlDeleteRun
	put    *inserter

	// The run at hand.
	rows        int
	first, last Timestamp // what its rows begin with
	stay        []Entry   // what is left of it

	moments  []moment // scratch
	more, id []byte   // scratch
}

const (
	// forgetPatience is the number of rows that lose nothing and are stepped
	// over before a walk seeks instead. At least 2: a walk begins at the row
	// before the moment that is sought.
	forgetPatience = 8

	// forgetStay is the number of entries of a run that stay from which the run
	// ends, which bounds the memory for them.
	forgetStay = 16 * maxPacked
)

// each forgets single entries; one that is not there is passed over.
func (f *forgetter) each(entries []Entry) error {
	if !slices.IsSortedFunc(entries, compareEntries) {
		entries = slices.Clone(entries)
		slices.SortFunc(entries, compareEntries)
	}
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Index == entries[0].Index && entries[n].Key == entries[0].Key {
			n++
		}
		if err := f.eachOf(entries[:n]); err != nil {
			return fmt.Errorf("entries of %d/%.40q: %w", entries[0].Index, entries[0].Key, err)
		}
		entries = entries[n:]
	}
	return nil
}

func compareEntries(x, y Entry) int {
	return cmp.Or(cmp.Compare(x.Index, y.Index), strings.Compare(x.Key, y.Key), cmp.Compare(x.TS, y.TS))
}

// eachOf forgets entries of one key, in the order of time.
func (f *forgetter) eachOf(doomed []Entry) error {
	if len(doomed) == 1 {
		if gone, err := f.lone(&doomed[0]); err != nil || gone {
			return err
		}
	}
	e, to := &doomed[0], doomed[len(doomed)-1].TS
	judge := func(moments []moment) (stay []moment) {
		stay = moments[:0]
		for _, m := range moments {
			for len(doomed) > 0 && doomed[0].TS < m.ts {
				doomed = doomed[1:]
			}
			if len(doomed) == 0 || doomed[0].TS != m.ts {
				stay = append(stay, m)
			}
		}
		return stay
	}
	for len(doomed) > 0 {
		_, done, err := f.sweep(e, doomed[0].TS, to, judge)
		if err != nil || done {
			return err
		}
	}
	return nil
}

// lone forgets an entry if it has a row of its own. In the order of the log
// entries come one a key, and a merge seldom finds two of a key to pack: to
// read such a row first would take twice as long.
func (f *forgetter) lone(e *Entry) (gone bool, err error) {
	f.bindKey(f.single, e)
	f.single.BindInt64(3, int64(e.TS))
	err = run(f.single)
	return f.conn.Changes() > 0, err
}

// upTo forgets what led to a document up to a moment.
func (f *forgetter) upTo(entries []Entry) error {
	for i := range entries {
		if err := f.upToOf(&entries[i]); err != nil {
			return fmt.Errorf("entries of %d/%.40q up to %d: %w", entries[i].Index, entries[i].Key, entries[i].TS, err)
		}
	}
	return nil
}

func (f *forgetter) upToOf(e *Entry) (err error) {
	judge := func(moments []moment) (stay []moment) {
		if string(f.id) != e.ID {
			return moments
		}
		stay = moments[:0]
		for _, m := range moments {
			if m.ts > e.TS {
				stay = append(stay, m)
			}
		}
		return stay
	}
	from, done := Timestamp(0), false
	for err == nil && !done {
		from, done, err = f.sweep(e, from, e.TS, judge)
	}
	return err
}

// sweep forgets the first run of rows of e's key that have entries from from
// to to and lose some. judge says which moments of the row at hand stay. next
// is where to go on unless done: all rows before it have been judged.
func (f *forgetter) sweep(e *Entry, from, to Timestamp, judge func([]moment) []moment) (next Timestamp, done bool, err error) {
	f.rows, f.stay = 0, f.stay[:0]
	f.bind(f.walk, e, to, from)
	for passed := 0; passed < forgetPatience && len(f.stay) < forgetStay && (f.rows == 0 || passed == 0); {
		found, err := f.walk.Step()
		if err != nil {
			return 0, false, err
		}
		if done = !found; done {
			break
		}
		if err := f.read(); err != nil {
			return 0, false, errors.Join(err, f.walk.Reset())
		}
		next = f.moments[0].ts
		stay := judge(f.moments)
		if len(stay) == len(f.moments) {
			passed++
			continue
		}
		f.take(e, next, stay)
	}
	if err := f.walk.Reset(); err != nil {
		return 0, false, err
	}
	return next, done, f.rewrite(e)
}

// bind gives a statement the key of e and two timestamps.
func (f *forgetter) bind(stmt *sqlite.Stmt, e *Entry, third, fourth Timestamp) {
	f.bindKey(stmt, e)
	stmt.BindInt64(3, int64(third))
	stmt.BindInt64(4, int64(fourth))
}

// bindKey gives a statement the key of e.
func (f *forgetter) bindKey(stmt *sqlite.Stmt, e *Entry) {
	var index [4]byte
	stmt.BindBytes(1, appendID(index[:0], uint32(e.Index)))
	stmt.BindBytes(2, bytesOf(e.Key))
}

// read takes the row at hand apart.
func (f *forgetter) read() (err error) {
	m, more := readMoment(f.walk, 0, 1, 3, f.more)
	f.more, f.id = more, readInto(f.id, f.walk, 2)
	f.moments, err = m.unpack(f.moments[:0], more)
	return err
}

// take puts the row at hand, which begins at first, into the run.
func (f *forgetter) take(e *Entry, first Timestamp, stay []moment) {
	if f.rows == 0 {
		f.first = first
	}
	f.rows, f.last = f.rows+1, first
	if len(stay) == 0 {
		return
	}
	kept := Entry{Index: e.Index, Key: e.Key, ID: string(f.id)}
	for _, m := range stay {
		kept.TS, kept.Deleted = m.ts, m.deleted
		f.stay = append(f.stay, kept)
	}
}

// rewrite drops the run and writes back what stays of it. A single row that
// still begins with the same entry is replaced.
func (f *forgetter) rewrite(e *Entry) error {
	if f.rows == 0 {
		return nil
	}
	if f.rows > 1 || len(f.stay) == 0 || f.stay[0].TS != f.first {
		f.bind(f.drop, e, f.first, f.last)
		if err := run(f.drop); err != nil {
			return err
		}
	}
	err := f.put.entries(f.stay)
	clear(f.stay)
	return err
}
