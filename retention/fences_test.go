package retention

// The rule: a range that loses what is current has no fences from the first
// step on, whoever counts it anew meanwhile; all other ranges keep theirs.

import (
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

func TestCondemnedRangesLoseTheirFencesFirst(t *testing.T) {
	r := newRig(t)
	r.tables[parts].Indexes[0].Prefix = 1
	policy := NewRecord(Policy{Age: 10 * time.Second}, 0)
	r.state.Put(Scope{}, &policy)
	writes := func(uid string) (all []write) {
		for i := range 8 {
			all = append(all, write{parts, partID(uid, i), fmt.Append(nil, uid[:1], i)})
		}
		return append(all, write{owners, "owner of " + uid, []byte(uid)})
	}
	r.commit(time.Second, writes("a gone")...)
	r.commit(time.Second, writes("b stays")...)
	bytes := func(text string) string { return string(tuple.AppendBytes(nil, []byte(text))) }
	lost := []schema.KeyRange{
		index.PrefixRange(schema.ByID(parts), bytes("a gone")),
		index.PrefixRange(schema.Index(parts, 1), bytes("a")),
	}
	kept := []schema.KeyRange{
		index.PrefixRange(schema.ByID(parts), bytes("b stays")),
		index.PrefixRange(schema.Index(parts, 1), bytes("b")),
	}
	count := func(ranges ...schema.KeyRange) {
		a := r.Appender()
		if err := a.Begin(); err != nil {
			t.Fatal(err)
		}
		for _, in := range ranges {
			if err := a.SetFences([]schema.Fence{{Index: in.Index, Key: in.From, Live: 3}, {Index: in.Index, Key: in.From + "\x29\x03", Live: 5}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	count(append(lost, kept...)...)
	r.commit(time.Second, write{owners, "owner of a gone", nil})
	r.now += schema.Timestamp(time.Minute.Microseconds())

	s, err := r.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fences := func(in schema.KeyRange) int {
		found, err := s.Fences(nil, in, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	entries := func(in schema.KeyRange) int {
		found, _, _, err := s.Scan(nil, in, schema.MaxTimestamp, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	steps := 0
	r.ran = func() {
		for _, in := range lost {
			if n := fences(in); n > 0 && entries(in) < 8 {
				t.Errorf("step %d: index %d has %d fences and has lost entries", steps, in.Index, n)
			}
		}
		if left := entries(lost[0]); left < 8 && left > 0 {
			steps++
			count(lost...) // as a merge between two steps may
		}
	}
	c := r.compactor()
	c.sizes = smallSizes
	if _, err := c.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if steps < 3 {
		t.Fatalf("the range went in %d steps, want some", steps)
	}
	for _, in := range kept {
		if n := fences(in); n != 2 {
			t.Errorf("fences of a range that stays: got %d, want 2", n)
		}
	}
}
