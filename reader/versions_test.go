package reader

// The rule: the history of a document is the same whether its index entries
// are in memory, in the file, or on their way; and a long one costs no more
// than a short one.

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/firndb/firn/schema"
)

// TestVersionsDuringAMerge asks for every part of a history in both
// directions, with a merge at every point of its way.
func TestVersionsDuringAMerge(t *testing.T) {
	const versions = 60
	g := newRig(t, 0)
	id := thing("g", 1)
	for n := range versions {
		if n == versions/2 {
			g.merge(0) // freezes the first half
		}
		g.put(things, id, fmt.Sprint(n))
	}
	held := g.view()
	for slice := 0; ; slice++ {
		for _, v := range []*View{held, g.view(), g.at(1000 + versions - 7)} {
			checkVersions(t, fmt.Sprintf("after %d slices", slice), v, string(id))
		}
		if !g.merger.Active() {
			break
		}
		g.merge(1)
	}
	g.merge(-1)
	checkVersions(t, "all merged", g.view(), string(id))
	checkVersions(t, "all merged, held", held, string(id))
}

// checkVersions compares with what the version of timestamp 1001 + n must be:
// n, there since the transaction of its number.
func checkVersions(t *testing.T, when string, v *View, id string) {
	t.Helper()
	newest := min(v.at, 1060)
	for _, r := range []VersionRange{
		{}, {Limit: 1}, {Limit: 31}, {From: 1020}, {To: 1040}, {From: 1029, To: 1032},
		{From: 1030, To: 1030}, {From: 1041, To: 1040}, {From: 1010, To: 1055, Limit: 17}, {Limit: 100}, {To: 5}, {From: 1059},
	} {
		for _, r.Newest = range []bool{false, true} {
			var want []schema.Timestamp
			for ts := max(r.From, 1001); ts <= newest && (r.To == 0 || ts <= r.To); ts++ {
				want = append(want, ts)
			}
			if r.Newest {
				slices.Reverse(want)
			}
			if r.Limit > 0 {
				want = want[:min(r.Limit, len(want))]
			}
			var got []schema.Timestamp
			for row, err := range v.Versions(things, id, r) {
				if err != nil {
					t.Fatalf("%s, %+v: %v", when, r, err)
				}
				if value := fmt.Sprint(row.TS - 1001); string(row.Value) != value {
					t.Fatalf("%s, version %d: got %s, want %s", when, row.TS, row.Value, value)
				}
				got = append(got, row.TS)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, view at %d, %+v: got %v, want %v", when, v.at, r, got, want)
			}
			if r.Newest && r.From == 0 && r.Limit > 0 {
				checkBack(t, when, v, id, r.Limit, want)
			}
		}
	}
}

// checkBack wants to find the last of some versions, newest first, by counting.
func checkBack(t *testing.T, when string, v *View, id string, n int, want []schema.Timestamp) {
	t.Helper()
	row, count, err := v.Back(things, id, schema.MaxTimestamp, n)
	if err != nil || count != len(want) || row.TS != want[count-1] {
		t.Errorf("%s, %d versions back from %d: got %v, %d, %v, want %d of %d", when, n, v.at, row, count, err, want[len(want)-1], len(want))
	}
	if row, count, err := v.Back(things, id, 1000, n); row != nil || count != 0 || err != nil {
		t.Errorf("%s, back from before the first: got %v, %d, %v, want none", when, row, count, err)
	}
}

// TestLongHistoriesCostNothing reads a document of many versions in the
// middle of its history, and its neighbours. How often the file is asked must
// not depend on the number of versions.
func TestLongHistoriesCostNothing(t *testing.T) {
	reads := func(versions int, merged bool) (counted [5]int64) {
		g := newRig(t, 0)
		id := thing("g", 2)
		g.must(func(x tx) error {
			return errors.Join(x.put(things, thing("g", 1), "v"), x.put(things, thing("g", 3), "v"))
		})
		var all []func(tx) error
		for range versions {
			all = append(all, func(x tx) error { return x.put(things, id, "v") })
		}
		g.must(all...)
		if merged {
			g.merge(-1)
		}
		middle := schema.Timestamp(1002 + versions/2)
		count := func(read func(v *View)) int64 {
			before := g.engine.reads.Load()
			read(g.at(middle))
			return g.engine.reads.Load() - before
		}
		counted[0] = count(func(v *View) {
			if row, err := v.Get(things, id); err != nil || row.TS != middle {
				t.Errorf("the middle of %d versions: got %v, %v, want %d", versions, row, err, middle)
			}
		})
		counted[1] = count(func(v *View) {
			if got, want := show(v.Scan(things, whole("g"), 0)), fmt.Sprintf("v@1001 v@%d v@1001 ", middle); got != want {
				t.Errorf("scan over %d versions: got %q, want %q", versions, got, want)
			}
		})
		for _, newest := range []bool{false, true} {
			n := 0
			for row, err := range g.view().Versions(things, string(id), VersionRange{Newest: newest}) {
				if err != nil || row.ID != string(id) {
					t.Fatal(row, err)
				}
				n++
			}
			if n != versions {
				t.Errorf("all versions, newest first %t: got %d, want %d", newest, n, versions)
			}
		}
		for i, newest := range []bool{false, true} {
			counted[2+i] = count(func(v *View) {
				n := 0
				for range v.Versions(things, string(id), VersionRange{Newest: newest, Limit: 2}) {
					n++
				}
				if n != 2 {
					t.Errorf("two versions of %d: got %d", versions, n)
				}
			})
		}
		counted[4] = count(func(v *View) {
			if row, n, err := v.Back(things, string(id), v.at, 5); err != nil || n != 5 || row.TS != middle-4 {
				t.Errorf("five versions back of %d: got %v, %d, %v", versions, row, n, err)
			}
		})
		return counted
	}
	for _, merged := range []bool{false, true} {
		if got, want := reads(10_000, merged), reads(10, merged); got != want || want[0] == 0 {
			t.Errorf("merged=%t: calls of the file for a get, a scan, two versions from either end and the fifth of 10,000: got %v, want %v as for 10", merged, got, want)
		}
	}
}

// TestTheOldestVersionIsFoundAtOnce: in memory too, what one version costs does
// not depend on how many there are.
func TestTheOldestVersionIsFoundAtOnce(t *testing.T) {
	const versions = 20_000
	g := newRig(t, 0)
	var all []func(tx) error
	for range versions {
		all = append(all, func(x tx) error { return x.put(things, thing("g", 1), "v") })
	}
	g.must(all...)
	v := g.view()
	oldest := func() {
		for row, err := range v.Versions(things, string(thing("g", 1)), VersionRange{Limit: 1}) {
			if err != nil || row.TS != 1001 {
				t.Fatalf("the oldest of %d versions: got %v, %v", versions, row, err)
			}
		}
	}
	oldest() // sorts the tail
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	oldest()
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10 {
		t.Errorf("memory for the oldest of %d versions: got %d bytes, want 65536 at most", versions, took)
	}
}
