package schematest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// testRanges compares every range of a declared index, by both bounds, both
// directions and several page sizes, with the same range of a slice. The keys
// share 10 KB, so that they fill pages and differ only at their ends.
func testRanges(t *testing.T, open Open) {
	e, _ := open(t)
	prefix := strings.Repeat("p", 10<<10)
	index := schema.Index(1, 3)
	keys := []string{"a", "a\x00", "a\x00\x00", "b", prefix, prefix + "\x00", prefix + "\x01", prefix + "\xff", prefix + "\xff\xff", "q", "\xff"}
	slices.Sort(keys)
	var entries []schema.Entry
	for i, key := range keys {
		entries = append(entries, schema.Entry{Index: index, TS: schema.Timestamp(i + 1), Key: key, ID: fmt.Sprint("doc", i)})
	}
	write(t, e, nil, entries)
	s := session(t, e)
	bounds := append([]string{""}, keys...)
	bounds = append(bounds, "0", "m", prefix+"\x00\x00", "\xff\xff")
	for _, from := range bounds {
		for _, to := range bounds {
			var want []schema.Entry
			for _, x := range entries {
				if x.Key >= from && (to == "" || x.Key < to) {
					want = append(want, x)
				}
			}
			for _, reverse := range []bool{false, true} {
				if reverse {
					slices.Reverse(want)
				}
				for _, limit := range []int{1, 2, 100} {
					r := schema.KeyRange{Index: index, From: from, To: to, Reverse: reverse}
					got := scanAll(t, s, r, schema.MaxTimestamp, limit)
					wantEntries(t, fmt.Sprintf("scan from %.20q to %.20q, reverse %t, limit %d", from, to, reverse, limit), got, want)
				}
			}
		}
	}
}

func testLeak(t *testing.T, open Open) {
	e, _ := open(t)
	var want [][]schema.Entry
	indexes := []schema.IndexID{
		schema.ByID(1), schema.Index(1, 1), schema.Index(1, 2), schema.Index(1, 255), schema.ByID(2), schema.ByID(256), schema.Index(65536, 1),
	}
	for _, index := range indexes {
		var mine []schema.Entry
		for _, key := range []string{"\x00", "k", "\xff"} {
			entry := schema.Entry{Index: index, TS: 1, Key: key}
			if index.Number() > 0 {
				entry.ID = fmt.Sprint("of ", index)
			}
			mine = append(mine, entry)
		}
		write(t, e, nil, mine)
		want = append(want, mine)
	}
	s := session(t, e)
	for i, index := range indexes {
		for _, limit := range []int{1, 2, 10} {
			got := scanAll(t, s, schema.KeyRange{Index: index}, 1, limit)
			wantEntries(t, fmt.Sprintf("index %d", index), got, want[i])
			got = scanAll(t, s, schema.KeyRange{Index: index, Reverse: true}, 1, limit)
			slices.Reverse(got)
			wantEntries(t, fmt.Sprintf("index %d reversed", index), got, want[i])
		}
		entry, ok, err := s.Entry(index, "k", 1)
		must(t, err)
		if !ok || entry != want[i][1] {
			t.Fatalf("entry of index %d:\n got %v, %t\nwant %v, true", index, entry, ok, want[i][1])
		}
	}
}

// history writes keys k000 … with as many versions each; every third key ends
// deleted. Versions of all keys take turns, one ts each.
func history(t *testing.T, e schema.Engine, keys, versions int) (index schema.IndexID, entries []schema.Entry) {
	index = schema.Index(4, 2)
	for k := range keys {
		for v := range versions {
			x := schema.Entry{Index: index, TS: schema.Timestamp(1 + v*keys + k), Key: fmt.Sprintf("k%03d", k), ID: fmt.Sprintf("d%d", v)}
			if v == versions-1 && k%3 == 0 {
				x.Deleted = true
			}
			entries = append(entries, x)
		}
	}
	write(t, e, nil, entries)
	return index, entries
}

// liveAt is the expected answer of a scan of the whole index.
func liveAt(entries []schema.Entry, at schema.Timestamp) []schema.Entry {
	newest := map[string]schema.Entry{}
	for _, x := range entries {
		if x.TS <= at && x.TS > newest[x.Key].TS {
			newest[x.Key] = x
		}
	}
	var live []schema.Entry
	for _, x := range newest {
		if !x.Deleted {
			live = append(live, x)
		}
	}
	slices.SortFunc(live, func(a, b schema.Entry) int { return strings.Compare(a.Key, b.Key) })
	return live
}

func testLimits(t *testing.T, open Open) {
	// Few versions are stepped over, many are jumped over: around where an
	// engine may change its mind, answers stay the same.
	for _, versions := range []int{1, 2, 3, 7, 8, 9, 10, 11, 40} {
		e, _ := open(t)
		index, entries := history(t, e, 20, versions)
		s := session(t, e)
		for _, at := range []schema.Timestamp{0, 1, 10, 20, 21, 155, 170, schema.Timestamp(20*versions - 1), schema.Timestamp(20 * versions), schema.MaxTimestamp} {
			want := liveAt(entries, at)
			for _, limit := range []int{1, 2, 5, 20, 100} {
				got := scanAll(t, s, schema.KeyRange{Index: index}, at, limit)
				wantEntries(t, fmt.Sprintf("%d versions at %d, limit %d", versions, at, limit), got, want)
				got = scanAll(t, s, schema.KeyRange{Index: index, Reverse: true}, at, limit)
				slices.Reverse(got)
				wantEntries(t, fmt.Sprintf("%d versions at %d, limit %d, reversed", versions, at, limit), got, want)
			}
		}
		page, _, _, err := s.Scan(nil, schema.KeyRange{Index: index}, schema.MaxTimestamp, 5)
		must(t, err)
		if len(page) != 5 {
			t.Fatalf("first page among the deleted: got %d entries, want 5", len(page))
		}
	}
}

// testDead scans a range in which nothing lives. A call may give up before
// the end, but the scan as a whole ends.
func testDead(t *testing.T, open Open) {
	const keys = 5000
	e, _ := open(t)
	index := schema.Index(1, 1)
	var entries []schema.Entry
	for k := range keys {
		entries = append(entries, schema.Entry{Index: index, TS: 1, Key: fmt.Sprintf("%05d", k), ID: "d", Deleted: true})
	}
	last := schema.Entry{Index: index, TS: 1, Key: "zzz", ID: "d"}
	write(t, e, nil, append(entries, last))
	s := session(t, e)
	wantEntries(t, "scan of the dead", scanAll(t, s, schema.KeyRange{Index: index}, 5, 10), []schema.Entry{last})
	wantEntries(t, "scan of the dead, reversed", scanAll(t, s, schema.KeyRange{Index: index, Reverse: true}, 5, 1), []schema.Entry{last})
	page, rest, done, err := s.Scan(nil, schema.KeyRange{Index: index}, 5, 10)
	must(t, err)
	if len(page) != 0 || done || rest.From == "" {
		t.Fatalf("one call over %d dead keys: got %d entries, rest %v, done %t, want 0, a rest and false", keys, len(page), rest, done)
	}
}

// testHistory bounds the work that a long history makes. A scan that walks
// every version of one key with 10,000 takes some 10,000 times as long as one
// that seeks; half of that is the line, and the fastest of several runs counts.
func testHistory(t *testing.T, open Open) {
	const versions = 10_000
	e, _ := open(t)
	long, short := schema.Index(1, 1), schema.Index(1, 2)
	var entries []schema.Entry
	for v := range versions {
		entries = append(entries, schema.Entry{Index: long, TS: schema.Timestamp(v + 1), Key: "key", ID: fmt.Sprint(v)})
	}
	entries = append(entries, schema.Entry{Index: long, TS: 1, Key: "next", ID: "n"},
		schema.Entry{Index: short, TS: 1, Key: "key", ID: "d"}, schema.Entry{Index: short, TS: 1, Key: "next", ID: "n"})
	write(t, e, nil, entries)
	s := session(t, e)
	for _, reverse := range []bool{false, true} {
		for _, at := range []schema.Timestamp{1, versions / 2, versions} {
			r := schema.KeyRange{Index: long, Reverse: reverse}
			got := scanAll(t, s, r, at, 10)
			wantLive := liveAt(entries[:versions+1], at)
			if reverse {
				slices.Reverse(wantLive)
			}
			wantEntries(t, fmt.Sprintf("scan at %d, reverse %t", at, reverse), got, wantLive)
			slow := fastest(func() { scanAll(t, s, r, at, 10) })
			r.Index = short
			quick := fastest(func() { scanAll(t, s, r, at, 10) })
			if slow > 100*quick {
				t.Errorf("scan at %d, reverse %t, over %d versions: got %v, want at most 100 times the %v of one version", at, reverse, versions, slow, quick)
			}
		}
	}
}

func testMerge(t *testing.T, open Open) {
	e, _ := open(t)
	index := schema.Index(1, 1)
	first := []schema.Entry{{Index: index, TS: 1, Key: "a", ID: "one"}, {Index: index, TS: 1, Key: "b", ID: "two"}, {Index: index, TS: 2, Key: "a", Deleted: true}}
	write(t, e, nil, first)
	remerge(t, e, first)
	s := session(t, e)
	got, err := s.Entries(nil, schema.Entry{}, 10)
	must(t, err)
	wantEntries(t, "entries merged twice", got, []schema.Entry{first[0], first[2], first[1]})
	other := schema.Entry{Index: index, TS: 1, Key: "b", ID: "", Deleted: true}
	remerge(t, e, []schema.Entry{other})
	got, err = s.Entries(nil, schema.Entry{}, 10)
	must(t, err)
	wantEntries(t, "entries replaced", got, []schema.Entry{first[0], first[2], other})
	a := e.Appender()
	must(t, a.Begin())
	if err := a.Merge([]schema.Entry{{Index: index, TS: 0, Key: "a"}}); err == nil {
		t.Error("entry without ts: got no error, want one")
	}
	must(t, a.Rollback())
}

func testEntries(t *testing.T, open Open) {
	e, _ := open(t)
	_, entries := history(t, e, 7, 5)
	byIDs := byID(sampleLog())
	write(t, e, nil, byIDs)
	s := session(t, e)
	whole, err := s.Entries(nil, schema.Entry{}, 1000)
	must(t, err)
	if got, want := len(whole), len(entries)+len(byIDs); got != want {
		t.Fatalf("entries of the whole table: got %d, want %d", got, want)
	}
	if !slices.IsSortedFunc(whole, func(a, b schema.Entry) int {
		if a.Index != b.Index {
			return int(a.Index) - int(b.Index)
		}
		if c := strings.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return int(a.TS - b.TS)
	}) {
		t.Fatalf("entries are out of order:\n got %v", whole)
	}
	for _, size := range []int{1, 2, 10} {
		var got []schema.Entry
		after := schema.Entry{}
		for {
			page, err := s.Entries(nil, after, size)
			must(t, err)
			if len(page) == 0 {
				break
			}
			got = append(got, page...)
			after = page[len(page)-1]
		}
		wantEntries(t, fmt.Sprintf("entries in pages of %d", size), got, whole)
	}
	for _, start := range []schema.Entry{{Index: schema.ByID(1)}, {Index: schema.ByID(2), Key: "a"}, {Index: schema.ByID(2), Key: "a\x00"}, {Index: schema.ByID(2), Key: "aa"}, {Index: schema.ByID(3)}, {Index: schema.Index(4, 2), Key: "k00"}} {
		first, _ := slices.BinarySearchFunc(whole, start, compareEntries)
		for _, size := range []int{1, 6, 1000} {
			got, err := s.Entries(nil, start, size)
			must(t, err)
			wantEntries(t, fmt.Sprintf("entries from key %d/%q on", start.Index, start.Key), got, whole[first:min(first+size, len(whole))])
		}
	}
}

func testDrop(t *testing.T, open Open) {
	e, _ := open(t)
	rows := sampleLog()
	put(t, e, rows...)
	a := e.Appender()
	must(t, a.Begin(), a.SetFences([]schema.Fence{{Index: schema.ByID(1), Key: "b", Live: 1}}), a.Commit())
	must(t, a.Begin(), a.DropIndexes(), a.Commit())
	read(t, e, func(s schema.Session) {
		wantFences(t, "after dropping", s, schema.KeyRange{Index: schema.ByID(1)}, "", 0, nil)
		got, err := s.Entries(nil, schema.Entry{}, 10)
		must(t, err)
		wantEntries(t, "entries after dropping", got, nil)
		row, err := s.Get(1, "b", 50)
		must(t, err)
		wantRow(t, "Get after dropping", row, nil)
		log, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1000)
		must(t, err)
		wantRows(t, "log after dropping", log, rows)
	})
	must(t, a.Begin(), a.Merge(byID(rows)), a.Commit())
	read(t, e, func(s schema.Session) {
		row, err := s.Get(1, "b", 50)
		must(t, err)
		wantRow(t, "Get after rebuilding", row, rows[35])
	})
}

func testDangling(t *testing.T, open Open) {
	e, _ := open(t)
	rows := []*schema.Row{
		{TS: 1, Table: 1, ID: "a", Value: []byte("1")}, {TS: 2, Prev: 1, Table: 1, ID: "a", Value: []byte("2")},
		{TS: 3, Table: 1, ID: "ended", Deleted: true}, {TS: 4, Table: 1, ID: "living", Value: []byte("4")},
	}
	entries := byID(rows)
	entries[2].Deleted = false // leads to a tombstone as if it lived
	entries[3].Deleted = true  // hides a living row
	write(t, e, rows, entries)
	a := e.Appender()
	must(t, a.Begin(), a.DeleteRows(rows[1:2]), a.Commit())
	s := session(t, e)
	for _, id := range []string{"a", "ended", "living"} {
		if row, err := s.Get(1, id, 9); !errors.Is(err, schema.ErrCorrupt) {
			t.Errorf("Get of %s: got %s, %v, want ErrCorrupt", id, text(row), err)
		}
	}
	got, err := s.Get(1, "a", 1)
	must(t, err)
	wantRow(t, "Get before the damage", got, rows[0])
}

// remerge writes entries that may be there already.
func remerge(t *testing.T, e schema.Engine, entries []schema.Entry) {
	t.Helper()
	a := e.Appender()
	must(t, a.Begin(), a.Remerge(entries), a.Commit())
}

// testForget gives a key to one document, to another and back, and forgets
// the first up to a moment.
func testForget(t *testing.T, open Open) {
	x := schema.Index(1, 1)
	entry := func(ts schema.Timestamp, key, id string, deleted bool) schema.Entry {
		return schema.Entry{Index: x, TS: ts, Key: key, ID: id, Deleted: deleted}
	}
	all := []schema.Entry{
		entry(1, "k", "a", false), entry(2, "k", "a", true), entry(3, "k", "b", false), entry(4, "k", "b", true),
		entry(5, "k", "a", false), entry(6, "k", "a", true), entry(7, "k", "a", false), entry(1, "l", "a", false),
		{Index: x, TS: 8, Key: "m", Deleted: true},
	}
	ids := []schema.Entry{{Index: schema.ByID(1), TS: 1, Key: "a"}, {Index: schema.ByID(1), TS: 2, Key: "a", Deleted: true}, {Index: schema.ByID(1), TS: 3, Key: "a"}}
	for name, tt := range map[string]struct {
		forget []schema.Entry
		want   []schema.Entry // but those by id
	}{
		"before all":        {[]schema.Entry{entry(0, "k", "a", false)}, all},
		"the first":         {[]schema.Entry{entry(1, "k", "a", true)}, all[1:]},
		"around another":    {[]schema.Entry{entry(6, "k", "a", false)}, append(slices.Clone(all[2:4]), all[6:]...)},
		"all of one key":    {[]schema.Entry{entry(schema.MaxTimestamp, "k", "a", false)}, append(slices.Clone(all[2:4]), all[7:]...)},
		"another document":  {[]schema.Entry{entry(9, "k", "b", false)}, append(slices.Clone(all[:2]), all[4:]...)},
		"several, repeated": {[]schema.Entry{entry(9, "l", "a", false), entry(3, "k", "b", false), entry(9, "k", "b", false), entry(9, "l", "a", false)}, append(append(slices.Clone(all[:2]), all[4:7]...), all[8])},
		"nobody's":          {[]schema.Entry{entry(9, "m", "", false)}, all[:8]},
		"not there":         {[]schema.Entry{entry(9, "k", "c", false), entry(9, "j", "a", false), entry(9, "k", "", false)}, all},
	} {
		e, _ := open(t)
		write(t, e, nil, append(slices.Clone(ids), all...))
		a := e.Appender()
		must(t, a.Begin(), a.Forget(tt.forget), a.Commit())
		got, err := session(t, e).Entries(nil, schema.Entry{}, 100)
		must(t, err)
		wantEntries(t, "entries after forgetting "+name, got, append(slices.Clone(ids), tt.want...))
	}
	e, _ := open(t)
	write(t, e, nil, ids)
	a := e.Appender()
	must(t, a.Begin(), a.Forget([]schema.Entry{{Index: schema.ByID(1), TS: 2, Key: "a"}}), a.Commit())
	got, err := session(t, e).Entries(nil, schema.Entry{}, 100)
	must(t, err)
	wantEntries(t, "entries by id after forgetting", got, ids[2:])
}
