package schematest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// sampleLog is a log in its order: several rows per ts, two tables, tombstones.
func sampleLog() []*schema.Row {
	var rows []*schema.Row
	for ts := schema.Timestamp(10); ts <= 50; ts += 10 {
		for table := schema.TableID(1); table <= 2; table++ {
			for _, id := range []string{"\x00", "a", "a\x00", "b"} {
				row := &schema.Row{TS: ts, Table: table, ID: id, Value: fmt.Appendf(nil, "%d", ts)}
				if ts > 10 {
					row.Prev = ts - 10
				}
				if ts == 30 && id == "a" {
					row.Deleted, row.Value = true, nil
				}
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func testLogOrder(t *testing.T, open Open) {
	e, _ := open(t)
	want := sampleLog()
	shuffled := slices.Clone(want)
	slices.Reverse(shuffled[8:16]) // any order of (table, id) within a ts
	write(t, e, shuffled, nil)
	s := session(t, e)
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1000)
	must(t, err)
	wantRows(t, "the whole log", got, want)
	last, err := s.Last()
	must(t, err)
	if newest := want[len(want)-1].TS; last != newest {
		t.Errorf("the newest row: got %d, want %d", last, newest)
	}
	for i := range len(want) + 1 {
		after := schema.Cursor{}
		if i > 0 {
			r := want[i-1]
			after = schema.Cursor{TS: r.TS, Table: r.Table, ID: r.ID}
		}
		for to := schema.Timestamp(0); to <= 55; to += 5 {
			var expected []*schema.Row
			for _, r := range want[i:] {
				if r.TS <= to {
					expected = append(expected, r)
				}
			}
			got, err := s.Log(nil, after, to, 1000)
			must(t, err)
			wantRows(t, fmt.Sprintf("log behind %v up to %d", after, to), got, expected)
		}
	}
}

// testAuthors writes versions by many and by nobody in calls of every size, so
// that none gets the author of one that was written in its place before.
func testAuthors(t *testing.T, open Open) {
	e, _ := open(t)
	authors := []int64{0, 1, 0, 0, 2, 127, 128, 1 << 40, math.MaxInt64, math.MaxInt64}
	var want []*schema.Row
	ts := schema.Timestamp(0)
	for _, size := range []int{1, 1, 3, 64, 65, 200, 1, 1} {
		var rows []*schema.Row
		for range size {
			ts++
			row := &schema.Row{TS: ts, Prev: ts - 1, Table: 1, ID: "a", Author: authors[int(ts*ts/7)%len(authors)], Deleted: ts%5 == 0}
			if ts%3 == 0 {
				row.Value = make([]byte, 100+ts%2*100_000)
			}
			rows = append(rows, row)
		}
		put(t, e, rows...)
		want = append(want, rows...)
	}
	s := session(t, e)
	got := wholeLog(t, s)
	wantRows(t, "log", got, want)
	for _, w := range want {
		row, err := s.Row(1, "a", w.TS)
		must(t, err)
		wantRow(t, "Row", row, w)
		row, err = s.Get(1, "a", w.TS)
		must(t, err)
		wantRow(t, "Get", row, w)
	}
	last, err := s.Last()
	must(t, err)
	if newest := want[len(want)-1].TS; last != newest {
		t.Errorf("Last: got %d, want %d", last, newest)
	}
}

func testLogPages(t *testing.T, open Open) {
	e, _ := open(t)
	want := sampleLog()
	write(t, e, want, nil)
	s := session(t, e)
	for _, size := range []int{1, 2, 3, 7, 100} {
		var got []*schema.Row
		after := schema.Cursor{}
		for {
			n := len(got)
			var err error
			got, err = s.Log(got, after, schema.MaxTimestamp, size)
			must(t, err)
			if len(got) == n {
				break
			}
			if len(got)-n > size {
				t.Fatalf("page of the log: got %d rows, want at most %d", len(got)-n, size)
			}
			r := got[len(got)-1]
			after = schema.Cursor{TS: r.TS, Table: r.Table, ID: r.ID}
		}
		wantRows(t, fmt.Sprintf("log in pages of %d", size), got, want)
	}
}

func testValues(t *testing.T, open Open) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	rows := []*schema.Row{
		{Value: nil}, {Value: []byte{}}, {Value: []byte{0}}, {Value: []byte("a\x00b")}, {Value: every},
		{Value: []byte(`{"a":1}`), JSON: true}, {Value: []byte(`"é\u0000"`), JSON: true}, {Value: []byte(""), JSON: true},
		{Deleted: true}, {Deleted: true, Value: []byte("expired")}, {Deleted: true, Value: []byte(`{}`), JSON: true},
		{ID: string(every), Value: every}, {ID: strings.Repeat("k", schema.MaxIDBytes), Value: every},
	}
	for i, r := range rows {
		r.TS, r.Table = schema.Timestamp(i+1), 7
		if r.ID == "" {
			r.ID = fmt.Sprintf("id%d", i)
		}
	}
	e, _ := open(t)
	put(t, e, rows...)
	s := session(t, e)
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
	must(t, err)
	wantRows(t, "the log", got, rows)
	for _, r := range rows {
		got, err := s.Get(r.Table, r.ID, schema.MaxTimestamp)
		must(t, err)
		wantRow(t, "Get", got, r)
		got, err = s.Row(r.Table, r.ID, r.TS)
		must(t, err)
		wantRow(t, "Row", got, r)
	}
}

func testLargeValues(t *testing.T, open Open) {
	var rows []*schema.Row
	for i, size := range []int{4000, 4096, 65535, 65536, 65537, 1 << 20, 16 << 20} {
		value := make([]byte, size)
		for j := range value {
			value[j] = byte(j * (i + 3) >> 3)
		}
		rows = append(rows, &schema.Row{TS: schema.Timestamp(i + 1), Table: 1, ID: fmt.Sprint(size), Value: value})
	}
	e, _ := open(t)
	put(t, e, rows...)
	// A small row behind large ones must not inherit anything from them.
	small := &schema.Row{TS: 100, Table: 1, ID: "small", Value: []byte("s")}
	put(t, e, small)
	s := session(t, e)
	for _, r := range append(rows, small) {
		got, err := s.Get(1, r.ID, schema.MaxTimestamp)
		must(t, err)
		if got == nil || !bytes.Equal(got.Value, r.Value) {
			t.Fatalf("value of %s bytes:\n got %s\nwant %s", r.ID, text(got), text(r))
		}
	}
}

func testDuplicate(t *testing.T, open Open) {
	e, _ := open(t)
	first := &schema.Row{TS: 5, Table: 1, ID: "a", Value: []byte("first")}
	put(t, e, first)
	for _, before := range []int{0, 1, 3, 70} {
		var rows []*schema.Row
		for i := range before {
			rows = append(rows, &schema.Row{TS: 6, Table: 1, ID: fmt.Sprint(i)})
		}
		rows = append(rows, &schema.Row{TS: 5, Table: 1, ID: "a", Value: []byte("second")})
		a := e.Appender()
		must(t, a.Begin())
		if err := a.Append(rows); !errors.Is(err, schema.ErrDuplicate) {
			t.Fatalf("same version behind %d others: got %v, want ErrDuplicate", before, err)
		}
		must(t, a.Rollback())
	}
	s := session(t, e)
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
	must(t, err)
	wantRows(t, "log after the refusals", got, []*schema.Row{first})
}

func testBadRows(t *testing.T, open Open) {
	e, _ := open(t)
	for name, r := range map[string]schema.Row{
		"ts 0":        {TS: 0, Table: 1, ID: "a"},
		"ts negative": {TS: -1, Table: 1, ID: "a"},
		"no id":       {TS: 1, Table: 1},
		"long id":     {TS: 1, Table: 1, ID: strings.Repeat("k", schema.MaxIDBytes+1)},
		"table 0":     {TS: 1, Table: 0, ID: "a"},
		"prev now":    {TS: 5, Prev: 5, Table: 1, ID: "a"},
		"prev later":  {TS: 5, Prev: 6, Table: 1, ID: "a"},
		"author < 0":  {TS: 5, Table: 1, ID: "a", Author: -1},
	} {
		a := e.Appender()
		must(t, a.Begin())
		if err := a.Append([]*schema.Row{&r}); err == nil || errors.Is(err, schema.ErrDuplicate) {
			t.Errorf("%s: got %v, want an error", name, err)
		}
		must(t, a.Rollback())
	}
	good := &schema.Row{TS: 1, Table: 1, ID: "a"}
	put(t, e, good)
	read(t, e, func(s schema.Session) {
		got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 100)
		must(t, err)
		wantRows(t, "log after the refusals", got, []*schema.Row{good})
	})
}

func testTwoTables(t *testing.T, open Open) {
	e, _ := open(t)
	tables := []schema.TableID{1, 2, 255, 256, 257, 65535, 65536, schema.MaxTables}
	var rows []*schema.Row
	for _, table := range tables {
		rows = append(rows, &schema.Row{TS: 5, Table: table, ID: "same", Value: fmt.Appendf(nil, "table %d", table)})
	}
	put(t, e, rows...)
	s := session(t, e)
	for i, table := range tables {
		got, err := s.Get(table, "same", 5)
		must(t, err)
		wantRow(t, fmt.Sprintf("table %d", table), got, rows[i])
		wantEntries(t, fmt.Sprintf("scan of table %d", table),
			scanAll(t, s, schema.KeyRange{Index: schema.ByID(table)}, 5, 10), byID(rows[i:i+1]))
	}
	got, err := s.Get(3, "same", 5)
	must(t, err)
	wantRow(t, "table without rows", got, nil)
	log, err := s.Log(nil, schema.Cursor{}, 5, 100)
	must(t, err)
	stored := []*schema.Row{rows[0], rows[3], rows[6], rows[4], rows[1], rows[2], rows[5], rows[7]}
	wantRows(t, "tables in the order of their stored ids", log, stored)
}

func testVersions(t *testing.T, open Open) {
	const versions = 101
	e, _ := open(t)
	rows := make([]*schema.Row, versions)
	for i := range rows {
		rows[i] = &schema.Row{TS: schema.Timestamp(10 + 10*i), Table: 1, ID: "a", Value: fmt.Appendf(nil, "v%d", i), Deleted: i%7 == 6}
		if i > 0 {
			rows[i].Prev = rows[i-1].TS
		}
	}
	put(t, e, rows...)
	put(t, e, &schema.Row{TS: 15, Table: 1, ID: "A"}, &schema.Row{TS: 15, Table: 1, ID: "a\x00"}, &schema.Row{TS: 15, Table: 1, ID: "b"})
	s := session(t, e)
	entries := byID(rows)
	for at := schema.Timestamp(0); at < 10*versions+20; at += 5 {
		var want *schema.Row
		n := int(at) / 10
		if n > 0 {
			want = rows[min(n, versions)-1]
		}
		got, err := s.Get(1, "a", at)
		must(t, err)
		wantRow(t, fmt.Sprintf("Get at %d", at), got, want)
		entry, ok, err := s.Entry(schema.ByID(1), "a", at)
		must(t, err)
		if ok != (want != nil) || ok && entry != entries[min(n, versions)-1] {
			t.Fatalf("Entry at %d:\n got %v, %t\nwant that of %s", at, entry, ok, text(want))
		}
		exact, err := s.Row(1, "a", at)
		must(t, err)
		if at%10 != 0 || n > versions {
			want = nil
		}
		wantRow(t, fmt.Sprintf("Row at %d", at), exact, want)
	}
	for _, bounds := range [][2]int{{0, 5}, {10, 10}, {10, 20}, {15, 55}, {0, 2000}, {1000, 2000}, {2000, 3000}} {
		testVersionsBetween(t, s, entries, schema.Timestamp(bounds[0]), schema.Timestamp(bounds[1]))
	}
}

func testVersionsBetween(t *testing.T, s schema.Session, entries []schema.Entry, from, to schema.Timestamp) {
	t.Helper()
	var want []schema.Entry
	for _, e := range entries {
		if from < e.TS && e.TS <= to {
			want = append(want, e)
		}
	}
	for _, newestFirst := range []bool{false, true} {
		if newestFirst {
			slices.Reverse(want)
		}
		for _, limit := range []int{0, 1, 2, 1000} {
			expected := want
			if limit > 0 {
				expected = want[:min(limit, len(want))]
			}
			got, err := s.Versions(nil, schema.ByID(1), "a", from, to, newestFirst, limit)
			must(t, err)
			wantEntries(t, fmt.Sprintf("versions in (%d, %d], newest first %t, limit %d", from, to, newestFirst, limit), got, expected)
		}
	}
}

func testManyRows(t *testing.T, open Open) {
	const n = 8191
	e, _ := open(t)
	rows := make([]*schema.Row, n)
	for i := range rows {
		rows[i] = &schema.Row{TS: schema.Timestamp(1 + i/10), Table: schema.TableID(1 + i%2), ID: fmt.Sprintf("%06d", i), Value: fmt.Append(nil, i), Deleted: i%3 == 0}
	}
	put(t, e, rows...)
	s := session(t, e)
	got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 2*n)
	must(t, err)
	sorted := slices.Clone(rows)
	slices.SortFunc(sorted, func(a, b *schema.Row) int {
		if a.TS != b.TS {
			return int(a.TS - b.TS)
		}
		if a.Table != b.Table {
			return int(a.Table) - int(b.Table)
		}
		return strings.Compare(a.ID, b.ID)
	})
	wantRows(t, "rows of one call", got, sorted)
	if live := scanAll(t, s, schema.KeyRange{Index: schema.ByID(1)}, schema.MaxTimestamp, 100); len(live) != n/3 {
		t.Fatalf("live documents of table 1: got %d, want %d", len(live), n/3)
	}
}

func testDelete(t *testing.T, open Open) {
	e, _ := open(t)
	rows := sampleLog()
	put(t, e, rows...)
	gone, kept := rows[:20], rows[20:]
	for range 2 {
		a := e.Appender()
		must(t, a.Begin(), a.DeleteEntries(byID(gone)), a.DeleteRows(gone), a.Commit())
		read(t, e, func(s schema.Session) {
			got, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1000)
			must(t, err)
			wantRows(t, "log after deleting", got, kept)
			entries, err := s.Entries(nil, schema.Entry{}, 1000)
			must(t, err)
			if len(entries) != len(kept) {
				t.Fatalf("entries after deleting: got %d, want %d", len(entries), len(kept))
			}
			row, err := s.Get(1, "b", 10)
			must(t, err)
			wantRow(t, "Get of the deleted", row, nil)
		})
	}
}
