package index

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

// Merging gives what sorting all parts together gives, in both directions, in
// slices of any length, whatever the keys are.

// drawKey draws keys that comparisons could take for others: empty ones, equal
// ones, prefixes of one another, zeros, much in common.
func drawKey(random *rand.Rand) string {
	common := []string{"", "\x00", "key", strings.Repeat("c", 7), strings.Repeat("c", 8), strings.Repeat("long", 20)}
	alphabet := []string{"\x00", "\x00\x01", "ab", "\x00\xff", "0123456789"}[random.IntN(5)]
	var b strings.Builder
	b.WriteString(common[random.IntN(len(common))])
	for range random.IntN(12) {
		b.WriteByte(alphabet[random.IntN(len(alphabet))])
	}
	return b.String()
}

// drawParts draws sorted parts, no entry of one older than any of a part
// before it; want is all entries in order.
func drawParts(random *rand.Rand, s *slab) (parts []part, want []schema.Entry) {
	keys := make([]string, 1+random.IntN(300))
	for i := range keys {
		keys[i] = drawKey(random)
	}
	ts := schema.Timestamp(1)
	for range random.IntN(12) {
		var records []record
		for range 1 + random.IntN(200) {
			e := schema.Entry{Index: schema.ByID(1) + schema.IndexID(random.IntN(3)), TS: ts, Key: keys[random.IntN(len(keys))]}
			ts += schema.Timestamp(1 + random.IntN(3))
			want, records = append(want, e), append(records, s.record(&e))
		}
		parts = append(parts, s.sorted(records))
	}
	slices.SortFunc(want, compare)
	return parts, want
}

func TestMergingAgreesWithComparing(t *testing.T) {
	random := seeded(t)
	for range 300 {
		var s slab
		parts, want := drawParts(random, &s)
		m := newMerging(&s, parts, false)
		var got []schema.Entry
		for before := -1; before < len(got); {
			before = len(got)
			got = m.slice(got, 1+random.IntN(60))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d parts of %d entries:\n got %v\nwant %v", len(parts), len(want), got, want)
		}
		checkReversed(t, &s, parts, want)
	}
}

func checkReversed(t *testing.T, s *slab, parts []part, want []schema.Entry) {
	t.Helper()
	m := newMerging(s, parts, true)
	for i := len(want) - 1; i >= 0; i-- {
		h := m.top()
		if h == nil {
			t.Fatalf("%d parts in reverse end %d entries early", len(parts), i+1)
		}
		if got := s.entry(&h.left[len(h.left)-1]); got != want[i] {
			t.Fatalf("%d parts in reverse, entry %d: got %v, want %v", len(parts), i, got, want[i])
		}
		m.keep(h.left[:len(h.left)-1])
	}
	if h := m.top(); h != nil {
		t.Fatalf("%d parts in reverse: got %q behind the last entry", len(parts), h.key)
	}
}
