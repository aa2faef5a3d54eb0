package reader

// The rule: a range that the file has counted is in memory, as counts, after a
// few reads, and answers as one that was read whole; whatever was written since
// the file counted it, and whatever is written after.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

func TestRangesAreCountedByTheFile(t *testing.T) {
	const members = 4000
	value := schema.Index(things.ID, 1)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	g := newRig(t, 64<<10)
	for i := range members / 100 {
		g.must(func(x tx) error {
			for j := range 100 {
				if err := x.put(things, thing("g", 2*(100*i+j)), "v"); err != nil {
					return err
				}
			}
			return nil
		})
	}
	g.merge(-1)
	change := func(x tx) error {
		n := rng.IntN(2 * members)
		if rng.IntN(3) == 0 {
			return x.del(things, thing("g", n))
		}
		return x.put(things, thing("g", n), "v")
	}
	for range 60 {
		g.must(change, change)
	}
	for _, x := range []schema.IndexID{value, schema.ByID(things.ID)} {
		prefix := group("v")
		if x != value {
			prefix = group("g")
		}
		reads := g.engine.reads.Load()
		held, err := g.view().Warm(things, x, prefix, 0)
		for tries := 1; !held && err == nil && tries < 10; tries++ { // in so small a head it may be evicted at once
			reads = g.engine.reads.Load()
			held, err = g.view().Warm(things, x, prefix, 0)
		}
		if !held || err != nil {
			t.Fatalf("index %d: warm: got %t, %v, want true", x.Number(), held, err)
		}
		if got := g.engine.reads.Load() - reads; got > 20 {
			t.Errorf("index %d: reads to count it: got %d, want at most 20", x.Number(), got)
		}
		g.head.mu.RLock()
		s := g.head.ranges.byKey[rangeKey{x, prefix}]
		whole := s.work.Whole()
		g.head.mu.RUnlock()
		if whole {
			t.Errorf("index %d: the range was read whole", x.Number())
		}
		for range 40 {
			checkKeys(t, g.view(), index.PrefixRange(x, prefix), rng.IntN(members), 1+rng.IntN(20))
			if err := g.commit(func(tx tx) error {
				err := change(tx)
				checkKeys(t, tx.view, index.PrefixRange(x, prefix), rng.IntN(members), 1+rng.IntN(20))
				if rng.IntN(4) == 0 {
					return errors.Join(err, errStop)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		checkOrdered(t, g.view(), x, prefix, rng)
	}
}

// A transaction counts a range with what its group has staged.
func TestTransactionsCountByTheFile(t *testing.T) {
	g := newRig(t, 64<<10)
	value := schema.Index(things.ID, 1)
	const members = 2000
	g.must(func(x tx) error {
		for i := range members {
			if err := x.put(things, thing("g", i), "v"); err != nil {
				return err
			}
		}
		return nil
	})
	g.merge(-1)
	g.empty()
	count := func(x tx, want int) error {
		if held, err := x.view.Warm(things, value, group("v"), 0); !held || err != nil {
			return fmt.Errorf("warm: got %t, %w, want true", held, err)
		}
		if n, err := x.view.CountRange(things, index.PrefixRange(value, group("v")), 0); n != want || err != nil {
			return fmt.Errorf("count: got %d, %w, want %d", n, err, want)
		}
		return nil
	}
	g.must(
		func(x tx) error { return errors.Join(x.del(things, thing("g", 7)), x.del(things, thing("g", 8))) },
		func(x tx) error { return errors.Join(x.put(things, thing("g", members), "v"), count(x, members-1)) },
		func(x tx) error { return errors.Join(x.del(things, thing("g", 9)), count(x, members-2)) })
	if n, err := g.view().CountRange(things, index.PrefixRange(value, group("v")), 0); n != members-2 || err != nil {
		t.Errorf("a view: got %d, %v, want %d", n, err, members-2)
	}
}

// What is published while a range is read is applied to it, also where the
// range is only counted.
func TestRangesCatchUpWithWhatWasNoted(t *testing.T) {
	g := newRig(t, 16<<10)
	g.head.pageBytes = smallPage
	value := schema.Index(things.ID, 1)
	for i := range 300 {
		g.put(things, thing("g", 2*i), "v")
	}
	g.empty()
	v := g.view()
	k := rangeKey{value, group("v")}
	log := beginBuilding(v, k)
	g.must(func(x tx) error {
		return errors.Join(x.put(things, thing("g", 7), "v"), x.del(things, thing("g", 10)), x.del(things, thing("g", 12)))
	})
	g.merge(-1) // the tail does not know any more
	tree, err := v.load(things, k, false)
	if err != nil || tree.Whole() || log == nil {
		t.Fatalf("load: got %v, want a tree with absent leaves", err)
	}
	g.put(things, thing("g", 9), "v")
	offer(g.head, adoption{key: k, table: things, tree: tree, at: v.at, log: log})
	if !g.view().InMemory(value, k.prefix) {
		t.Fatal("the range was not taken over")
	}
	if n, err := g.view().CountRange(things, index.PrefixRange(value, k.prefix), 0); n != 300 || err != nil {
		t.Errorf("count: got %d, %v, want 300", n, err)
	}
	want := 0
	for _, err := range g.view().Keys(things, index.PrefixRange(value, k.prefix), 0, 0) {
		if err != nil {
			t.Fatal(err)
		}
		want++
	}
	if want != 300 {
		t.Errorf("keys: got %d, want 300", want)
	}
}

// A range that has counted wrongly says so, once, and is read anew.
func TestWrongCountsAreNoticed(t *testing.T) {
	g := newRig(t, 1<<20)
	value := schema.Index(things.ID, 1)
	for i := range 20 {
		g.put(things, thing("g", i), "v")
	}
	if _, err := g.view().Ordered(things, value, group("v")); err != nil {
		t.Fatal(err)
	}
	g.head.Lock()
	s := g.head.ranges.byKey[rangeKey{value, group("v")}]
	s.work.EvictAt("")
	s.work.Adjust("", 1)
	g.head.mu.Lock()
	g.head.ranges.renew(s.picture())
	g.head.mu.Unlock()
	g.head.Unlock()
	read := func() error {
		for _, err := range g.view().Keys(things, index.PrefixRange(value, group("v")), 0, 0) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := read(); !errors.Is(err, schema.ErrCorrupt) {
		t.Errorf("a wrong count: got %v, want %v", err, schema.ErrCorrupt)
	}
	if err := read(); err != nil {
		t.Errorf("then: got %v, want nil", err)
	}
}
