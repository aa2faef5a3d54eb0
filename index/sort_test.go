package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// Sorting by digests is sorting by keys, and leaves versions of a key in order.

func TestSortingAgreesWithComparing(t *testing.T) {
	random := seeded(t)
	letters := func(alphabet string, most int) string {
		var b strings.Builder
		for range random.IntN(most + 1) {
			b.WriteByte(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	for name, key := range map[string]func() string{
		"zeros":     func() string { return letters("\x00", 20) },
		"few zeros": func() string { return "common" + letters("\x00\x01", 12) },
		"digits":    func() string { return "key:" + letters("0123456789", 12) },
		"collection": func() string {
			return letters("ab", 1) + "collection" + letters("ab", 1) + "member:" + letters("0123456789", 9)
		},
		"ends": func() string { return strings.Repeat("x", random.IntN(40)) },
		"one":  func() string { return "one and the same" },
		"any":  func() string { return letters("\x00\x01az\xff", 30) },
	} {
		for _, n := range []int{0, 1, 2, 40, 60, 1000, 5000} {
			checkSorting(t, random, name, n, key)
		}
	}
}

func checkSorting(t *testing.T, random *rand.Rand, name string, n int, key func() string) {
	t.Helper()
	var s slab
	var records []record
	var want []schema.Entry
	for i := range n {
		e := schema.Entry{Index: schema.IndexID(256 + random.IntN(3)), TS: schema.Timestamp(i/2 + 1), Key: key()}
		want, records = append(want, e), append(records, s.record(&e))
	}
	slices.SortStableFunc(want, compare)
	sorted := s.sorted(records)
	for i := range want {
		if got := s.entry(&sorted[i]); got != want[i] {
			t.Fatalf("%s, %d records: number %d is %v, want %v", name, n, i, got, want[i])
		}
	}
}
