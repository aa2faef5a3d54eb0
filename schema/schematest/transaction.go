package schematest

import (
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

// fastest is the shortest of several runs.
func fastest(f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range 7 {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func testRollback(t *testing.T, open Open) {
	e, _ := open(t)
	rows := sampleLog()
	put(t, e, rows[:8]...)
	a := e.Appender()
	must(t, a.Rollback()) // without a transaction
	must(t, a.Begin(), a.Append(rows[8:]), a.Merge(byID(rows[8:])), a.SetGlobal("g", "1"),
		a.DeleteRows(rows[:4]), a.DeleteEntries(byID(rows[:4])), a.Rollback(), a.Rollback())
	s := session(t, e)
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
	must(t, err)
	wantRows(t, "log after rolling back", got, rows[:8])
	entries, err := s.Entries(nil, schema.Entry{}, 100)
	must(t, err)
	wantEntries(t, "entries after rolling back", entries, byID(rows[:8]))
	if _, ok, err := s.Global("g"); ok || err != nil {
		t.Errorf("global after rolling back: got %t, %v, want false, nil", ok, err)
	}
	put(t, e, rows[8:]...)
	got, err = s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
	must(t, err)
	wantRows(t, "log after writing again", got, rows)
}

func testNoTransaction(t *testing.T, open Open) {
	e, _ := open(t)
	a := e.Appender()
	rows := sampleLog()
	for name, f := range map[string]func() error{
		"Append":        func() error { return a.Append(rows) },
		"Merge":         func() error { return a.Merge(byID(rows)) },
		"DeleteRows":    func() error { return a.DeleteRows(rows) },
		"DeleteEntries": func() error { return a.DeleteEntries(byID(rows)) },
		"Forget":        func() error { return a.Forget(byID(rows)) },
		"DropIndexes":   a.DropIndexes,
		"SetGlobal":     func() error { return a.SetGlobal("g", "1") },
		"Commit":        a.Commit,
	} {
		if err := f(); err == nil {
			t.Errorf("%s without a transaction: got no error, want one", name)
		}
	}
	must(t, a.Begin())
	if err := a.Begin(); err == nil {
		t.Error("Begin twice: got no error, want one")
	}
	must(t, a.Rollback())
	last, err := session(t, e).Last()
	must(t, err)
	if last != 0 {
		t.Errorf("newest row of an empty log: got %d, want 0", last)
	}
}

// testSession reads before, within and after a read transaction while rows
// are written beside it.
func testSession(t *testing.T, open Open) {
	e, _ := open(t)
	rows := sampleLog()
	put(t, e, rows[0])
	s := session(t, e)
	count := func() int {
		t.Helper()
		got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
		must(t, err)
		return len(got)
	}
	must(t, s.Begin())
	if got := count(); got != 1 {
		t.Fatalf("rows at the start: got %d, want 1", got)
	}
	put(t, e, rows[1])
	if got := count(); got != 1 {
		t.Fatalf("rows within the transaction: got %d, want 1", got)
	}
	if err := s.Begin(); err == nil {
		t.Error("Begin twice: got no error, want one")
	}
	must(t, s.End(), s.End())
	if got := count(); got != 2 {
		t.Fatalf("rows after the transaction: got %d, want 2", got)
	}
	a := e.Appender()
	must(t, a.Begin(), a.Append(rows[2:3]))
	if got := count(); got != 2 {
		t.Fatalf("rows beside an open write: got %d, want 2", got)
	}
	must(t, a.Commit())
	if got := count(); got != 3 {
		t.Fatalf("rows after the commit: got %d, want 3", got)
	}
}

func testGlobals(t *testing.T, open Open) {
	e, _ := open(t)
	a := e.Appender()
	must(t, a.Begin(), a.SetGlobal("a", `"one"`), a.SetGlobal("b", `{"x":[1,null]}`), a.SetGlobal("a", `2`), a.Commit())
	s := session(t, e)
	for key, want := range map[string]string{"a": `2`, "b": `{"x":[1,null]}`} {
		if got, ok, err := s.Global(key); got != want || !ok || err != nil {
			t.Errorf("global %q: got %q, %t, %v, want %q, true, nil", key, got, ok, err, want)
		}
	}
	for _, key := range []string{"", "c", "A"} {
		if got, ok, err := s.Global(key); got != "" || ok || err != nil {
			t.Errorf("global %q: got %q, %t, %v, want none", key, got, ok, err)
		}
	}
	first, ok, err := s.Global(schema.GlobalIncarnation)
	if !ok || err != nil || len(first) < 10 {
		t.Errorf("incarnation: got %q, %t, %v, want an id", first, ok, err)
	}
	must(t, a.Begin())
	if err := a.SetGlobal("a", "not json"); err == nil {
		t.Error("global that is not JSON: got no error, want one")
	}
	must(t, a.Rollback())
}

func testReopen(t *testing.T, open Open) {
	e, reopen := open(t)
	rows := sampleLog()
	put(t, e, rows...)
	a := e.Appender()
	must(t, a.Begin(), a.SetGlobal("g", "1"), a.Commit())
	var incarnation string
	read(t, e, func(s schema.Session) {
		var err error
		incarnation, _, err = s.Global(schema.GlobalIncarnation)
		must(t, err)
	})
	a = e.Appender()
	must(t, a.Begin(), a.Append([]*schema.Row{{TS: 99, Table: 1, ID: "lost"}})) // never committed
	must(t, a.Rollback())
	e = reopen()
	read(t, e, func(s schema.Session) {
		got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
		must(t, err)
		wantRows(t, "log after reopening", got, rows)
		entries, err := s.Entries(nil, schema.Entry{}, 100)
		must(t, err)
		if len(entries) != len(rows) {
			t.Fatalf("entries after reopening: got %d, want %d", len(entries), len(rows))
		}
		for key, want := range map[string]string{"g": "1", schema.GlobalIncarnation: incarnation} {
			if got, _, err := s.Global(key); got != want || err != nil {
				t.Errorf("global %q after reopening: got %q, %v, want %q", key, got, err, want)
			}
		}
		must(t, s.Check())
	})
	put(t, e, &schema.Row{TS: 100, Table: 1, ID: "more"})
}

// testCheckpoint takes every kind of checkpoint, sync and vacuum between
// writes, with a reader in the way and without.
func testCheckpoint(t *testing.T, open Open) {
	e, _ := open(t)
	a := e.Appender()
	var rows []*schema.Row
	for i := range 20 {
		var group []*schema.Row
		for j := range 50 {
			ts := schema.Timestamp(1 + i*50 + j)
			group = append(group, &schema.Row{TS: ts, Table: 1, ID: fmt.Sprintf("%05d", ts), Value: make([]byte, 300)})
		}
		put(t, e, group...)
		rows = append(rows, group...)
		var err error
		switch i % 5 {
		case 0:
			err = e.Sync()
		case 1:
			_, err = e.Checkpoint()
		case 2:
			_, err = a.Checkpoint()
		case 3:
			_, err = a.Truncate()
		case 4:
			_, err = a.Vacuum(10)
		}
		must(t, err)
	}
	s := session(t, e)
	must(t, s.Begin())
	_, err := s.Last()
	must(t, err)
	put(t, e, &schema.Row{TS: 5000, Table: 1, ID: "behind the reader"})
	for range 2 {
		if r, err := a.Truncate(); err != nil || !r.Busy {
			t.Fatalf("Truncate with a reader in the way: got %+v, %v, want busy", r, err)
		}
	}
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 2000)
	must(t, err)
	wantRows(t, "log that the reader sees", got, rows)
	must(t, s.End())
	if r, err := a.Truncate(); err != nil || r.Busy {
		t.Fatalf("Truncate without a reader: got %+v, %v, want not busy", r, err)
	}
	must(t, a.Begin(), a.DeleteRows(rows), a.DropIndexes(), a.Commit())
	total, free, err := a.Pages()
	if err != nil || free < 1 || total <= free {
		t.Errorf("Pages: got %d of %d free, %v, want some of them", free, total, err)
	}
	left, err := a.Vacuum(0)
	must(t, err)
	for left > 0 {
		now, err := a.Vacuum(10)
		must(t, err)
		if now >= left {
			t.Fatalf("free pages after a vacuum: got %d, want fewer than %d", now, left)
		}
		left = now
	}
	must(t, s.Check())
}
