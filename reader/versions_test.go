package reader

// The rule: the history of a document is the same whether its index entries
// are in memory, in the file, or on their way; and a long one costs no more
// than a short one.

import (
	"errors"
	"fmt"
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
		{From: 1030, To: 1030}, {From: 1041, To: 1040}, {From: 1010, To: 1055, Limit: 17}, {To: 5}, {From: 1059},
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
		}
	}
}

// TestLongHistoriesCostNothing reads a document of many versions in the
// middle of its history, and its neighbours. How often the file is asked must
// not depend on the number of versions.
func TestLongHistoriesCostNothing(t *testing.T) {
	reads := func(versions int, merged bool) (get, scan, few int64) {
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
		get = count(func(v *View) {
			if row, err := v.Get(things, id); err != nil || row.TS != middle {
				t.Errorf("the middle of %d versions: got %v, %v, want %d", versions, row, err, middle)
			}
		})
		scan = count(func(v *View) {
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
		few = count(func(v *View) {
			n := 0
			for range v.Versions(things, string(id), VersionRange{Newest: true, Limit: 2}) {
				n++
			}
			if n != 2 {
				t.Errorf("the last two of %d versions: got %d", versions, n)
			}
		})
		return get, scan, few
	}
	for _, merged := range []bool{false, true} {
		get, scan, few := reads(10, merged)
		longGet, longScan, longFew := reads(10_000, merged)
		got, want := [3]int64{longGet, longScan, longFew}, [3]int64{get, scan, few}
		if got != want || get == 0 {
			t.Errorf("merged=%t: calls of the file for a get, a scan and two versions of 10,000: got %v, want %v as for 10", merged, got, want)
		}
	}
}
