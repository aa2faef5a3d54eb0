package retention

// The rule: a range that loses what is current has no fences from the first
// step on, whoever counts it anew meanwhile; all other ranges keep theirs.

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// fence gives ranges two fences each.
func (r *rig) fence(ranges ...schema.KeyRange) {
	r.t.Helper()
	a := r.Appender()
	err := a.Begin()
	for _, in := range ranges {
		err = errors.Join(err, a.SetFences([]schema.Fence{{Index: in.Index, Key: in.From, Live: 3}, {Index: in.Index, Key: in.From + "\x29\x03", Live: 5}}))
	}
	if err := errors.Join(err, a.Commit()); err != nil {
		r.t.Fatal(err)
	}
}

// fences is how many fences a range has.
func (r *rig) fences(in schema.KeyRange) int {
	r.t.Helper()
	s, err := r.Session()
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	found, err := s.Fences(nil, in, "", 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return len(found)
}

// entries is how many keys of a range lead somewhere.
func (r *rig) entries(in schema.KeyRange) int {
	r.t.Helper()
	s, err := r.Session()
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	found, _, _, err := s.Scan(nil, in, schema.MaxTimestamp, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	return len(found)
}

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
	r.fence(append(lost, kept...)...)
	r.commit(time.Second, write{owners, "owner of a gone", nil})
	r.now += schema.Timestamp(time.Minute.Microseconds())

	steps := 0
	r.ran = func() {
		for _, in := range lost {
			if n := r.fences(in); n > 0 && r.entries(in) < 8 {
				t.Errorf("step %d: index %d has %d fences and has lost entries", steps, in.Index, n)
			}
		}
		if left := r.entries(lost[0]); left < 8 && left > 0 {
			steps++
			r.fence(lost...) // as a merge between two steps may
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
		if n := r.fences(in); n != 2 {
			t.Errorf("fences of a range that stays: got %d, want 2", n)
		}
	}
}
