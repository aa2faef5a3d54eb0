package reader

// The rule: a short question to a leaf that is absent gets the answer that the
// leaf would give, and does not read it; one that is asked often does.

import (
	"slices"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// coldRig is a rig with members in a range whose leaves are absent, some
// of them in the file and some in the tail.
func coldRig(t *testing.T, members int) (*rig, remembered) {
	t.Helper()
	g := newRig(t, 1<<20)
	var all remembered
	for n := range members / 100 {
		if n == members/200 {
			g.merge(-1)
		}
		g.must(func(x tx) error {
			for i := range 100 {
				id := thing("large", 2*((100*n+i)*7%members))
				if err := x.put(things, id, "v"); err != nil {
					return err
				}
				all.keys = append(all.keys, string(id))
			}
			return nil
		})
	}
	slices.Sort(all.keys)
	g.empty()
	held, err := g.view().Warm(things, schema.ByID(things.ID), group("large"), len(all.keys))
	if !held || err != nil {
		t.Fatalf("warm: got %t, %v, want true", held, err)
	}
	g.head.Lock()
	defer g.head.Unlock()
	g.head.mu.Lock()
	defer g.head.mu.Unlock()
	s := g.head.ranges.byKey[rangeKey{schema.ByID(things.ID), group("large")}]
	g.head.ranges.evictLeaves(s, 1<<30)
	g.head.ranges.evictLeaves(s, 1<<30)
	return g, all
}

// absentKeys is how many keys lie in leaves that are absent.
func absentKeys(g *rig) int {
	tree := g.head.ranges.byKey[rangeKey{schema.ByID(things.ID), group("large")}].work
	n, from := 0, ""
	for {
		gap := tree.AbsentAt(from)
		if gap == nil {
			return n
		}
		if n += gap.Count; gap.To == "" {
			return n
		}
		from = gap.To
	}
}

func TestShortQuestionsReadNoLeaf(t *testing.T) {
	rng := seed.Fresh(t).Rand(0)
	g, all := coldRig(t, 2000)
	members := len(all.keys)
	if got := absentKeys(g); got != members {
		t.Fatalf("keys in absent leaves: got %d, want %d", got, members)
	}
	for range 400 {
		r := whole("large") // with one bound, so that no leaf is asked more than three times
		switch end := string(thing("large", rng.IntN(2*members+100)-50)); rng.IntN(3) {
		case 0:
			r.From = end
		case 1:
			r.To = end
		}
		r.Reverse = rng.IntN(2) == 0
		g.head.briefs = briefs{seed: g.head.briefs.seed} // nothing was asked yet
		v := g.view()
		all.ask(t, v, r, 1+rng.IntN(members), 1+rng.IntN(fewKeys))
		v.Close()
		g.head.briefs = briefs{seed: g.head.briefs.seed}
		g.head.Lock()
		all.ask(t, g.head.Transaction(), r, 1+rng.IntN(members), 1+rng.IntN(fewKeys))
		g.head.Unlock()
	}
	if got := absentKeys(g); got != members {
		t.Errorf("keys in absent leaves, after questions: got %d, want %d", got, members)
	}
}

func TestLeavesThatAreAskedOftenAreRead(t *testing.T) {
	g, all := coldRig(t, 2000)
	r := index.PrefixRange(schema.ByID(things.ID), group("large"))
	r.To = all.keys[len(all.keys)/2]
	ask := func() int64 {
		before := g.engine.reads.Load()
		all.ask(t, g.view(), r, 0, 1)
		return g.engine.reads.Load() - before
	}
	for range 2 * (briefTimes + 1) {
		ask()
	}
	if got := ask(); got != 0 {
		t.Errorf("reads of the file for a rank in a leaf that was asked often: got %d, want 0", got)
	}
}
