package schematest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firndb/firn/schema"
)

// fencesOf is what a session or a transaction reads of a range's fences.
type fencesOf interface {
	Fences(dst []schema.Fence, r schema.KeyRange, from string, limit int) ([]schema.Fence, error)
}

func wantFences(t *testing.T, what string, s fencesOf, r schema.KeyRange, from string, limit int, want []schema.Fence) {
	t.Helper()
	got, err := s.Fences(nil, r, from, limit)
	if must(t, err); !slices.Equal(got, want) {
		t.Errorf("fences, %s: got %v, want %v", what, got, want)
	}
}

func testFences(t *testing.T, open Open) {
	e, reopen := open(t)
	x := schema.Index(1, 2)
	fence := func(x schema.IndexID, key string, live int64, ts schema.Timestamp) schema.Fence {
		return schema.Fence{Index: x, Key: key, Live: live, TS: ts}
	}
	all := []schema.Fence{
		fence(x, "b", 300, 7), fence(x, "bd", 0, 9), fence(x, "bg\x00", schema.Uncounted, 0),
		fence(x, "d", 256, 1), fence(schema.Index(1, 3), "b", 1, 1), fence(schema.Index(1, 3), "", 5, 5),
	}
	r := schema.KeyRange{Index: x, From: "b", To: "c"}
	a := e.Appender()
	must(t, a.Begin(), a.SetFences(all))
	wantFences(t, "in the transaction", a, r, "", 0, all[:3])
	must(t, a.Commit())
	read(t, reopen(), func(s schema.Session) {
		wantFences(t, "all", s, r, "", 0, all[:3])
		wantFences(t, "from the prefix", s, r, "b", 0, all[:3])
		wantFences(t, "of the first interval", s, r, "bc", 1, all[:1])
		wantFences(t, "from a fence", s, r, "bd", 2, all[1:3])
		wantFences(t, "from within the last", s, r, "bzz", 0, all[2:3])
		wantFences(t, "of a range without any", s, schema.KeyRange{Index: x, From: "c", To: "d"}, "cc", 0, nil)
		wantFences(t, "to the index's end", s, schema.KeyRange{Index: x, From: "d"}, "dx", 0, all[3:4])
		wantFences(t, "of an empty prefix", s, schema.KeyRange{Index: schema.Index(1, 3)}, "", 0, []schema.Fence{all[5], all[4]})
		wantFences(t, "of another index", s, schema.KeyRange{Index: schema.Index(1, 1), From: "b", To: "c"}, "", 0, nil)
	})
}

func testKeys(t *testing.T, open Open) {
	e, _ := open(t)
	x := schema.ByID(1)
	a := e.Appender()
	put := func(entries ...schema.Entry) { must(t, a.Merge(entries)) }
	must(t, a.Begin())
	var want []schema.Entry
	for i := range 100 {
		newest := schema.Entry{Index: x, Key: fmt.Sprintf("k%02d", i), TS: schema.Timestamp(2 + i), Deleted: i%3 == 0}
		put(schema.Entry{Index: x, Key: newest.Key, TS: 1}, newest)
		want = append(want, newest)
	}
	r, done, got := schema.KeyRange{Index: x, From: "k", To: "l"}, false, []schema.Entry(nil)
	for !done {
		before := len(got)
		var err error
		got, r, done, err = a.Keys(got, r, 7)
		if must(t, err); len(got)-before > 7 {
			t.Fatalf("keys: got %d at once, want 7", len(got)-before)
		}
	}
	must(t, a.Rollback())
	wantEntries(t, "keys in a transaction", got, want)
	must(t, a.Begin())
	got, _, done, err := a.Keys(nil, schema.KeyRange{Index: x}, 10)
	if must(t, err, a.Rollback()); len(got) > 0 || !done {
		t.Errorf("keys after a rollback: got %v, %t, want none", got, done)
	}
}

func testTally(t *testing.T, open Open) {
	e, _ := open(t)
	x := schema.Index(1, 1)
	var entries []schema.Entry
	for i := range 200 {
		for v := range 1 + i%23 { // some with more rows than are stepped over
			entries = append(entries, schema.Entry{Index: x, Key: fmt.Sprintf("k%03d", i), TS: schema.Timestamp(1 + 10*v + i%10), ID: fmt.Sprint(v % 3), Deleted: (i+v)%3 == 0})
		}
	}
	write(t, e, nil, entries)
	read(t, e, func(s schema.Session) {
		for _, at := range []schema.Timestamp{1, 15, 55, 101, 500} {
			fences := []schema.Fence{{Index: x, Key: "k0", Live: 7}, {Index: x, Key: "k050"}, {Index: x, Key: "k0505"}, {Index: x, Key: "k120"}}
			must(t, s.Tally(fences, "k190", at))
			for i, f := range fences {
				r, had := schema.KeyRange{Index: x, From: f.Key, To: "k190"}, 0
				if i+1 < len(fences) {
					r.To = fences[i+1].Key
				}
				if i == 0 {
					had = 7
				}
				if want := had + len(scanAll(t, s, r, at, 1000)); int(f.Live) != want {
					t.Errorf("tally from %q at %d: got %d, want %d", f.Key, at, f.Live, want)
				}
			}
		}
		none := []schema.Fence{{Index: x, Key: "k190"}}
		if must(t, s.Tally(none, "k190", 500)); none[0].Live != 0 {
			t.Errorf("tally of no keys: got %d, want 0", none[0].Live)
		}
	})
}
