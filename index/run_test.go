package index

// A run answers like a sorted list of its entries, however they came into it,
// whatever was taken out again, and however many versions a key has.

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// seeded is a random source that a failure says how to draw again.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	return seed.Fresh(t).Rand(1)
}

func compare(a, b schema.Entry) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Key, b.Key), cmp.Compare(a.TS, b.TS))
}

// all is the entries of a run in order.
func (r *Run) all() []schema.Entry { return r.merging().slice(nil, r.Len()+1) }

// reference is a run in the simplest way: entries in order.
type reference []schema.Entry

func (r reference) at(x schema.IndexID, key string, at schema.Timestamp) (found schema.Entry, ok bool) {
	for _, e := range r {
		if e.Index == x && e.Key == key && e.TS <= at {
			found, ok = e, true
		}
	}
	return found, ok
}

func (r reference) scan(kr schema.KeyRange, at schema.Timestamp) []schema.Entry {
	var all []schema.Entry
	for _, e := range r {
		if e.Index != kr.Index || e.Key < kr.From || kr.To != "" && e.Key >= kr.To || e.TS > at {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Key == e.Key {
			all[n-1] = e
		} else {
			all = append(all, e)
		}
	}
	if kr.Reverse {
		slices.Reverse(all)
	}
	return all
}

const testKeys = 30

// testKey is the n-th key; the first is empty, which an index may have too.
func testKey(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("k%02d", n)
}

// fillRun inserts groups into a run and its reference, taking some back, and
// reads now and then if it is asked to, so that parts of every age and size come
// about.
// Every fourth entry is a version of one key.
func fillRun(t *testing.T, random *rand.Rand, r *Run, groups int, read bool) (want reference, out []schema.Entry, last schema.Timestamp) {
	t.Helper()
	ts := schema.Timestamp(10)
	for range groups {
		var group []schema.Entry
		for range 1 + random.IntN(40) {
			key := testKey(random.IntN(testKeys))
			if random.IntN(4) == 0 {
				key = testKey(7)
			}
			ts += schema.Timestamp(1 + random.IntN(3))
			group = append(group, schema.Entry{Index: schema.ByID(1) + schema.IndexID(random.IntN(3)), Deleted: random.IntN(3) == 0, TS: ts, Key: key, ID: fmt.Sprint(ts)})
		}
		r.insert(group, false)
		if read && random.IntN(8) == 0 {
			r.merging() // sorts what is recent
		}
		if kept := random.IntN(8 * len(group)); kept < len(group) {
			r.remove(group[kept:])
			group, out = group[:kept], append(out, group[kept:]...)
		}
		want = append(want, group...)
	}
	slices.SortFunc(want, compare)
	return want, out, ts
}

func TestRunAgreesWithAList(t *testing.T) {
	for _, tt := range []struct {
		groups int
		read   bool
	}{{1, true}, {20, true}, {400, true}, {2000, true}, {5000, false}} {
		t.Run(fmt.Sprintf("groups=%d/read=%t", tt.groups, tt.read), func(t *testing.T) {
			random, r := seeded(t), newRun()
			want, out, last := fillRun(t, random, r, tt.groups, tt.read)
			for _, reverse := range []bool{false, true} { // before other reads sort what is recent
				checkScan(t, r, want, schema.KeyRange{Index: schema.ByID(1), Reverse: reverse}, last, 7)
			}
			for range 300 {
				at := schema.Timestamp(random.Int64N(int64(last) + 20))
				x := schema.ByID(1) + schema.IndexID(random.IntN(4))
				checkAt(t, r, want, x, testKey(random.IntN(testKeys+1)), at)
			}
			for range 100 {
				at := schema.Timestamp(random.Int64N(int64(last) + 20))
				kr := schema.KeyRange{Index: schema.ByID(1) + schema.IndexID(random.IntN(4)), Reverse: random.IntN(2) == 0}
				kr.From, kr.To = testKey(random.IntN(testKeys)), testKey(random.IntN(testKeys))
				checkScan(t, r, want, kr, at, 1+random.IntN(testKeys+2))
			}
			checkSize(t, r, want, out)
			checkSlices(t, r, want)
			if got := len(r.parts()); got > maxSmall+len(want)/maxRecent {
				t.Errorf("parts of %d entries: got %d, want at most %d", len(want), got, maxSmall+len(want)/maxRecent)
			}
		})
	}
}

func checkAt(t *testing.T, r *Run, want reference, x schema.IndexID, key string, at schema.Timestamp) {
	t.Helper()
	got, ok := r.At(x, key, at)
	expected, has := want.at(x, key, at)
	if got != expected || ok != has {
		t.Fatalf("At(%d, %q, %d): got %v, %t, want %v, %t", x, key, at, got, ok, expected, has)
	}
	if newer := r.Newer(x, key, at); newer != slices.ContainsFunc(want, func(e schema.Entry) bool {
		return e.Index == x && e.Key == key && e.TS > at
	}) {
		t.Fatalf("Newer(%d, %q, %d): got %t, want %t", x, key, at, newer, !newer)
	}
	var versions []schema.Entry
	for _, e := range want {
		if e.Index == x && e.Key == key && e.TS > at/2 && e.TS <= at {
			versions = append(versions, e)
		}
	}
	newest := slices.Clone(versions)
	slices.Reverse(newest)
	for _, n := range []int{1, 2, 100, len(versions) + 1} {
		few := min(n, len(versions))
		if got := r.Earliest(nil, x, key, at/2, at, n); !slices.Equal(got, versions[:few]) {
			t.Fatalf("Earliest(%d, %q, %d, %d, %d):\n got %v\nwant %v", x, key, at/2, at, n, got, versions[:few])
		}
		if got := r.Latest(nil, x, key, at/2, at, n); !slices.Equal(got, newest[:few]) {
			t.Fatalf("Latest(%d, %q, %d, %d, %d):\n got %v\nwant %v", x, key, at/2, at, n, got, newest[:few])
		}
	}
}

// checkScan scans in pages of limit; a page that is not full must be the last.
func checkScan(t *testing.T, r *Run, want reference, kr schema.KeyRange, at schema.Timestamp, limit int) {
	t.Helper()
	expected := want.scan(kr, at)
	var got []schema.Entry
	rest := kr
	for pages := 0; ; pages++ {
		before := len(got)
		var done bool
		got, rest, done = r.Scan(got, rest, at, limit)
		if n := len(got) - before; n > limit || n < limit && !done || pages > testKeys {
			t.Fatalf("page %d of %+v at %d: got %d entries, done %t, want %d unless it is the last", pages, kr, at, n, done, limit)
		}
		if done {
			break
		}
	}
	if !slices.Equal(got, expected) {
		t.Fatalf("scan of %+v at %d in pages of %d:\n got %v\nwant %v", kr, at, limit, got, expected)
	}
}

// checkSize compares sizes. The bytes of what was taken out stay.
func checkSize(t *testing.T, r *Run, want reference, out []schema.Entry) {
	t.Helper()
	least, most := Size{Entries: len(want)}, Size{Entries: len(want)}
	for _, e := range want {
		least.Bytes += entryBytes(e)
	}
	for _, e := range out {
		most.Bytes += entryBytes(e)
	}
	most.Bytes += least.Bytes
	if got := r.Size(); got.Entries != least.Entries || got.Bytes < least.Bytes || got.Bytes > most.Bytes {
		t.Errorf("size: got %+v, want %+v to %+v", got, least, most)
	}
}

func checkSlices(t *testing.T, r *Run, want reference) {
	t.Helper()
	for _, n := range []int{1, 7, max(len(want), 1), len(want) + 1} {
		var got []schema.Entry
		for m := r.merging(); ; {
			before := len(got)
			got = m.slice(got, n)
			if len(got)-before < n {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("slices of %d: got %d entries, want %d in order", n, len(got), len(want))
		}
	}
}

// TestEmptyKeyIsAKey scans back to the empty key, which as the end of a range
// would mean the end of the index.
func TestEmptyKeyIsAKey(t *testing.T) {
	r, x := newRun(), schema.Index(1, 1)
	entries := []schema.Entry{{Index: x, TS: 1, Key: "", ID: "a"}, {Index: x, TS: 2, Key: "b", ID: "b"}}
	r.insert(entries, false)
	checkScan(t, r, entries, schema.KeyRange{Index: x, Reverse: true}, 9, 1)
	checkScan(t, r, entries, schema.KeyRange{Index: x}, 9, 1)
}

// TestRunMayBeReadWhileItGrows is for the race detector: readers see every
// entry up to the timestamp that was handed to them.
func TestRunMayBeReadWhileItGrows(t *testing.T) {
	tail, x := NewTail(0), schema.ByID(1)
	const rounds = 3000
	inserted := make(chan schema.Timestamp, 1)
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ts := range inserted {
				runs := tail.Runs()
				if e, ok := runs.Active.At(x, "k", ts); !ok || e.TS != ts {
					t.Errorf("newest at %d: got %v, %t, want it", ts, e, ok)
				}
				if got := len(runs.Active.Earliest(nil, x, "k", 0, ts, int(ts)+1)); got != int(ts) {
					t.Errorf("versions up to %d: got %d, want all", ts, got)
				}
			}
		})
	}
	for ts := schema.Timestamp(1); ts <= rounds; ts++ {
		failed := []schema.Entry{{Index: x, TS: ts, Key: "failed"}, {Index: x, TS: ts, Key: "z"}}
		tail.Insert(failed)
		tail.Insert([]schema.Entry{{Index: x, TS: ts, Key: "k"}})
		tail.Remove(failed)
		select {
		case inserted <- ts:
		default:
		}
	}
	close(inserted)
	readers.Wait()
	if got := tail.Runs().Active.Len(); got != rounds {
		t.Errorf("entries left: got %d, want %d", got, rounds)
	}
}

// TestReplaceLeavesOneEntry writes a document twice in one transaction.
func TestReplaceLeavesOneEntry(t *testing.T) {
	for _, sorted := range []bool{false, true} {
		tail, x := NewTail(0), schema.ByID(1)
		tail.Insert([]schema.Entry{{Index: x, TS: 5, Key: "k"}})
		if sorted {
			tail.Runs().Active.merging()
		}
		again := schema.Entry{Index: x, TS: 5, Key: "k", Deleted: true}
		tail.Replace([]schema.Entry{again})
		got := tail.Runs().Active.all()
		if want := []schema.Entry{again}; !slices.Equal(got, want) {
			t.Errorf("sorted before %t: got %v, want %v", sorted, got, want)
		}
	}
}

// TestAnotherIndexIsReadWithoutSorting: what was written to one is no matter for
// who reads another, until something of that comes.
func TestAnotherIndexIsReadWithoutSorting(t *testing.T) {
	r := newRun()
	written, read := schema.ByID(3), schema.Index(3, 1)
	const n = 2 * maxUnsorted
	for i := range n {
		r.insert([]schema.Entry{{Index: written, TS: schema.Timestamp(i + 1), Key: fmt.Sprint(i)}}, false)
	}
	scan := func(x schema.IndexID) int {
		found, _, _ := r.Scan(nil, schema.KeyRange{Index: x}, schema.MaxTimestamp, n+1)
		return len(found)
	}
	if got := scan(read); got != 0 || len(r.recent) != n {
		t.Errorf("an empty index: %d entries, and %d of %d wait to be sorted; want 0 and all", got, len(r.recent), n)
	}
	r.insert([]schema.Entry{{Index: read, TS: n + 1, Key: "k", ID: "d"}}, false)
	if got := scan(read); got != 1 || len(r.recent) != 0 {
		t.Errorf("then: %d entries, and %d wait to be sorted; want 1 and 0", got, len(r.recent))
	}
	if got := scan(written); got != n {
		t.Errorf("the other: %d entries, want %d", got, n)
	}
	r.insert([]schema.Entry{{Index: written, TS: n + 2, Key: "k"}}, false)
	if got := scan(written); got != n+1 {
		t.Errorf("with another: %d entries, want %d", got, n+1)
	}
}
