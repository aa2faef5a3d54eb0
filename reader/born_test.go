package reader

// The rule: a range that begins in a transaction is complete from its first
// entry on, without a read of the file, and gone if the transaction fails. What
// grows unseen is read before it is too large.

import (
	"errors"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

func TestRangesThatBeginAreComplete(t *testing.T) {
	g := newRig(t, 1<<20)
	g.put(plain, []byte("other"), "1")
	g.merge(-1)
	value := schema.Index(things.ID, 1)
	reads := g.engine.reads.Load()
	err := g.commit(
		func(x tx) error {
			g.head.Fresh(group("a"))
			return errors.Join(x.put(things, thing("a", 1), "failed"), errStop)
		},
		func(x tx) error {
			if x.view.InMemory(schema.ByID(things.ID), group("a")) {
				return errors.New("the range of a transaction that failed is there")
			}
			g.head.Fresh(group("b"))
			g.head.Fresh(group("v"))
			if err := x.put(things, thing("b", 1), "v"); err != nil {
				return err
			}
			o, err := x.view.Ordered(things, value, group("v"))
			if err != nil || o.Len() != 1 {
				t.Errorf("inside: got %d, %v, want 1", o.Len(), err)
			}
			return x.put(things, thing("b", 2), "v")
		},
		func(x tx) error { return x.put(things, thing("b", 3), "v") },
	)
	if err != nil {
		t.Fatal(err)
	}
	hot := new(View)
	hot.Reset(g.head, true)
	defer hot.Close()
	for _, r := range []schema.KeyRange{whole("b"), index.PrefixRange(value, group("v"))} {
		if got, want := show(hot.Scan(things, r, 0)), "v@1003 v@1003 v@1004 "; got != want {
			t.Errorf("index %d: got %q, want %q", r.Index.Number(), got, want)
		}
	}
	if hot.InMemory(schema.ByID(things.ID), group("a")) {
		t.Error("the range of a transaction that failed is in memory")
	}
	// The first member's look-up knew of no range yet.
	if got := g.engine.reads.Load() - reads; got > 2 {
		t.Errorf("reads of the file: got %d, want at most 2", got)
	}
}

func TestLargeAbsentLeavesAreRead(t *testing.T) {
	g := newRig(t, 1<<20)
	value := schema.Index(things.ID, 1)
	g.put(things, thing("g", 0), "v")
	if _, err := g.view().Ordered(things, value, group("v")); err != nil {
		t.Fatal(err)
	}
	s := g.head.ranges.byKey[rangeKey{value, group("v")}]
	s.work.EvictAt("")
	const n = 3 * maxAbsent
	for i := range n / 8 {
		g.must(func(x tx) error {
			for j := range 8 {
				if err := x.put(things, thing("g", 8*i+j), "v"); err != nil {
					return err
				}
			}
			return nil
		})
		if gap := s.work.AbsentAt(""); gap != nil && gap.Count > maxAbsent+8 {
			t.Fatalf("an absent leaf has %d entries, want at most %d", gap.Count, maxAbsent+8)
		}
	}
	if got, err := g.view().CountRange(things, index.PrefixRange(value, group("v")), 0); got != n || err != nil {
		t.Errorf("count: got %d, %v, want %d", got, err, n)
	}
	checkOrdered(t, g.view(), value, group("v"), nil)
}

// A promise ends with its transaction.
func TestPromisesEnd(t *testing.T) {
	g := newRig(t, 1<<20)
	g.put(things, thing("c", 1), "v")
	g.merge(-1)
	g.empty()
	g.must(
		func(x tx) error { g.head.Fresh(group("c")); return nil },
		func(x tx) error { return x.put(things, thing("c", 2), "v") })
	if got, want := show(g.view().Scan(things, whole("c"), 0)), "v@1001 v@1003 "; got != want {
		t.Errorf("the range: got %q, want %q", got, want)
	}
}
