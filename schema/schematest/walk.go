package schematest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// Who reads the log, an index or a range holds no more than a page of it, or
// one row, and no value that it has not asked for.

// wholeLog reads the log page by page.
func wholeLog(t *testing.T, s schema.Session) (rows []*schema.Row) {
	t.Helper()
	after := schema.Cursor{}
	for {
		page, err := s.Log(nil, after, schema.MaxTimestamp, 1000)
		must(t, err)
		if len(page) == 0 {
			return rows
		}
		rows = append(rows, page...)
		after = schema.Behind(page[len(page)-1])
	}
}

// sized are rows with values of sizes at which something changes.
func sized() (rows []*schema.Row) {
	for i, n := range []int{-1, 0, 1, 4000, 64<<10 - 1, 64 << 10, 64<<10 + 1, 100_000, 3 << 20, 3 << 20, 5 << 20, 7, -1} {
		r := &schema.Row{TS: schema.Timestamp(i/2 + 1), Table: 1, ID: fmt.Sprintf("%03d", i), JSON: i%3 == 1, Deleted: i%5 == 4, Author: int64(i)}
		if n >= 0 {
			r.Value = bytes.Repeat([]byte{byte('a' + i)}, n)
		}
		r.JSON = r.JSON && r.Value != nil
		rows = append(rows, r)
	}
	return rows
}

func testWalk(t *testing.T, open Open) {
	e, _ := open(t)
	want := sized()
	put(t, e, want...)
	s := session(t, e)
	for asked := range 3 {
		var got []*schema.Row
		next, done, err := s.Walk(schema.Cursor{}, schema.MaxTimestamp, 0, func(v *schema.Visit) (bool, error) {
			row := v.Row
			if w := want[len(got)]; v.ValueBytes != len(w.Value) || v.Row.Value != nil {
				t.Errorf("visit of %q: got a value of %d bytes, want none yet, of %d", v.ID, v.ValueBytes, len(w.Value))
			}
			for range asked { // once, and again
				value, err := v.Value()
				must(t, err)
				row.Value = slices.Clone(value)
				found, err := s.Peek(v.Table, v.ID, v.TS, peeksAt(t, want[len(got)]))
				if must(t, err); !found {
					t.Errorf("peek at %q: got none", v.ID)
				}
			}
			got = append(got, &row)
			return true, nil
		})
		must(t, err)
		if last := want[len(want)-1]; next != schema.Behind(last) || !done {
			t.Errorf("a whole walk: got next %v, done %t, want behind the last row and true", next, done)
		}
		if asked == 0 {
			for i, r := range got {
				r.Value = want[i].Value
			}
		}
		wantRows(t, fmt.Sprintf("walk that asks for values %d times", asked), got, want)
	}
	if found, err := s.Peek(1, "none", 1, nil); found || err != nil {
		t.Errorf("peek at nothing: got %t, %v, want false", found, err)
	}
}

// peeksAt wants to be shown a row.
func peeksAt(t *testing.T, want *schema.Row) func(*schema.Visit) error {
	return func(v *schema.Visit) error {
		row, err := v.Copy()
		must(t, err)
		wantRow(t, "peek", row, want)
		return nil
	}
}

func testWalkStops(t *testing.T, open Open) {
	e, _ := open(t)
	want := sized()
	put(t, e, want...)
	s := session(t, e)
	for n := range len(want) {
		var got []string
		stop := func(v *schema.Visit) (bool, error) {
			if len(got) == n {
				return false, nil
			}
			got = append(got, v.ID)
			return true, nil
		}
		next, done, err := s.Walk(schema.Cursor{}, schema.MaxTimestamp, 0, stop)
		if must(t, err); done || len(got) != n {
			t.Fatalf("walk that is stopped behind %d: got %d rows, done %t", n, len(got), done)
		}
		limited := 0
		again, done, err := s.Walk(next, schema.MaxTimestamp, len(want)-n, func(v *schema.Visit) (bool, error) {
			if v.ID != want[n+limited].ID {
				t.Errorf("row %d behind %v: got %q, want %q", limited, next, v.ID, want[n+limited].ID)
			}
			limited++
			return true, nil
		})
		if must(t, err); done || n+limited != len(want) || again != schema.Behind(want[len(want)-1]) {
			t.Errorf("limited walk of the rest behind %d: got %d rows, done %t", n, limited, done)
		}
	}
	_, _, err := s.Walk(schema.Cursor{}, schema.MaxTimestamp, 0, func(*schema.Visit) (bool, error) {
		_, _, err := s.Walk(schema.Cursor{}, schema.MaxTimestamp, 0, nil)
		return true, err
	})
	if err == nil {
		t.Error("walk within a walk: got no error")
	}
}

// testPages holds pages against their bound in bytes. One row may be larger.
func testPages(t *testing.T, open Open) {
	e, _ := open(t)
	rows := sized()
	for i := range 6 {
		rows = append(rows, &schema.Row{TS: 100, Table: 2, ID: strings.Repeat(string(rune('a'+i)), schema.MaxIDBytes)})
	}
	put(t, e, rows...)
	s := session(t, e)
	after, pages := schema.Cursor{}, 0
	for {
		page, err := s.Log(nil, after, schema.MaxTimestamp, 1000)
		if must(t, err); len(page) == 0 {
			break
		}
		bytes := 0
		for _, r := range page {
			bytes += len(r.ID) + len(r.Value)
		}
		if pages++; bytes > schema.PageBytes && len(page) > 1 {
			t.Errorf("page of the log: got %d rows of %d bytes, want at most %d", len(page), bytes, schema.PageBytes)
		}
		after = schema.Behind(page[len(page)-1])
	}
	wantRows(t, "the log in pages", wholeLog(t, s), rows)
	if pages < 5 {
		t.Errorf("pages of the log: got %d, want at least 5", pages)
	}
	boundedEntries(t, s, rows)
	for _, reverse := range []bool{false, true} {
		boundedScan(t, s, reverse)
	}
}

func boundedEntries(t *testing.T, s schema.Session, rows []*schema.Row) {
	t.Helper()
	var all []schema.Entry
	for last := (schema.Entry{}); ; {
		page, err := s.Entries(nil, last, 1000)
		if must(t, err); len(page) == 0 {
			break
		}
		if bytes := keyBytes(page); bytes > schema.PageBytes+schema.MaxIDBytes {
			t.Errorf("page of entries: got %d bytes, want about %d", bytes, schema.PageBytes)
		}
		all, last = append(all, page...), page[len(page)-1]
	}
	wantEntries(t, "entries in pages", all, byID(rows))
}

func boundedScan(t *testing.T, s schema.Session, reverse bool) {
	t.Helper()
	found, rest, done := 0, schema.KeyRange{Index: schema.ByID(2), Reverse: reverse}, false
	for !done {
		page, left, end, err := s.Scan(nil, rest, schema.MaxTimestamp, 1000)
		must(t, err)
		if bytes := keyBytes(page); bytes > schema.PageBytes+schema.MaxIDBytes {
			t.Errorf("scan, reverse %t: got %d bytes at once, want about %d", reverse, bytes, schema.PageBytes)
		}
		found, rest, done = found+len(page), left, end
	}
	if found != 6 {
		t.Errorf("scan, reverse %t: got %d keys, want 6", reverse, found)
	}
}

func keyBytes(entries []schema.Entry) (n int) {
	for _, e := range entries {
		n += len(e.Key) + len(e.ID)
	}
	return n
}
