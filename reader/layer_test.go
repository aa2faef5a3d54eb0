package reader

// The rule: while a group is being committed the next one runs on what it has
// staged. Views see neither. When the first is committed views see it, and
// nothing of the second; when it fails nothing of both is left.

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// layered drives a head through overlapping groups beside maps that say what
// it must hold.
type layered struct {
	*rig
	random *rand.Rand
	locked bool
	flying []*schema.Row // the sealed group's
	landed bool          // flying is in the file

	published, sealed, running map[string]string // by id
	ran                        bool              // running differs from what is sealed, or published
	before                     map[string]string // published, before what was published last
	last                       schema.Timestamp  // of before
}

const layerGroups, layerMembers = 3, 6

func TestGroupsOverlap(t *testing.T) {
	for _, budget := range []int64{0, 4 << 10, 1 << 20} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			g := &layered{rig: newRig(t, budget), random: seed.Fresh(t).Rand(uint64(budget))}
			g.published, g.running, g.before = map[string]string{}, map[string]string{}, map[string]string{}
			for range 1500 {
				g.step()
				if t.Failed() {
					return
				}
			}
			g.settle(true)
		})
	}
}

func (g *layered) step() {
	if !g.locked {
		if g.random.IntN(8) == 0 {
			g.merge(g.random.IntN(4) - 1)
		}
		g.head.Lock()
		g.locked = true
	}
	switch n := g.random.IntN(20); {
	case n < 11:
		g.transaction()
	case n < 14:
		g.seal()
	case n < 15:
		g.write()
	case n < 17:
		g.settle(true)
	case n < 18:
		g.settle(false)
	default:
		g.compare("a view", g.viewNow(), g.published)
		old := new(View)
		old.ResetAt(g.head, g.last)
		defer old.Close()
		g.compare("an older view", old, g.before)
	}
}

func (g *layered) viewNow() *View { return g.rig.view() }

// transaction runs one that looks, writes, looks again and may fail.
func (g *layered) transaction() {
	g.now++
	g.head.Begin()
	x := tx{g.rig, g.head.Transaction(), g.now}
	was := maps.Clone(g.running)
	if g.random.IntN(3) == 0 {
		g.compare("a transaction", x.view, g.running)
	}
	for range 1 + g.random.IntN(3) {
		id := string(thing(fmt.Sprint(g.random.IntN(layerGroups)), g.random.IntN(layerMembers)))
		var err error
		if g.random.IntN(4) == 0 {
			err = x.del(things, []byte(id))
			delete(g.running, id)
		} else {
			value := fmt.Sprint(g.now) + strings.Repeat("x", g.random.IntN(2)*g.random.IntN(2000))
			err = x.put(things, []byte(id), value)
			g.running[id] = value
		}
		if err != nil {
			g.t.Fatal(err)
		}
	}
	if g.random.IntN(3) == 0 {
		g.compare("a transaction that has written", x.view, g.running)
	}
	if g.random.IntN(4) == 0 {
		g.head.Rollback()
		g.running = was
		return
	}
	g.ran = true
}

func (g *layered) seal() {
	if g.sealed != nil || !g.ran {
		return
	}
	g.flying, g.landed, g.ran = g.head.Seal(), false, false
	g.sealed = maps.Clone(g.running)
}

// write commits what is sealed; that it is so comes to light later.
func (g *layered) write() {
	if g.sealed == nil || g.landed {
		return
	}
	app := g.engine.Appender()
	err := errors.Join(app.Begin(), app.Append(g.flying), app.Commit())
	if err != nil {
		g.t.Fatal(err)
	}
	g.landed = true
}

// settle ends what is sealed, well or not.
func (g *layered) settle(well bool) {
	if g.sealed == nil {
		if !g.ran && g.locked {
			g.head.Unlock()
			g.locked = false
		}
		return
	}
	if !well && !g.landed {
		g.head.Abandon()
		g.sealed, g.running, g.ran = nil, maps.Clone(g.published), false
		return
	}
	g.write()
	if len(g.flying) > 0 {
		g.before, g.last = g.published, g.head.Newest()
	}
	g.head.Publish()
	g.published, g.sealed = g.sealed, nil
}

// compare asks a view in every way for all that there may be.
func (g *layered) compare(who string, v *View, want map[string]string) {
	g.t.Helper()
	defer v.Close()
	n := g.random.IntN(layerGroups)
	name := fmt.Sprint(n)
	var shown []string
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if strings.HasPrefix(id, group(name)) {
			shown = append(shown, want[id])
		}
	}
	for m := range layerMembers {
		id := thing(name, m)
		value, ok := want[string(id)]
		if !ok {
			value = "-"
		}
		if got := is(v, id); got != value {
			g.t.Errorf("%s: get of %q: got %.20q, want %.20q", who, id, got, value)
		}
	}
	check := func(how string, got []string) {
		if !slices.Equal(got, shown) {
			g.t.Errorf("%s: %s of group %s: got %.80q, want %.80q", who, how, name, got, shown)
		}
	}
	check("scan", valuesOf(v.Scan(things, whole(name), 0)))
	if g.random.IntN(2) == 0 {
		o, err := v.Ordered(things, schema.ByID(things.ID), group(name))
		if err != nil {
			g.t.Fatal(err)
		}
		check("range", valuesOf(o.Ascend(nil)))
	}
	if got, err := v.Count(things, group(name)); err != nil || got != len(shown) {
		g.t.Errorf("%s: count of group %s: got %d, %v, want %d", who, name, got, err, len(shown))
	}
	byValue := schema.Index(things.ID, 1)
	for _, value := range shown {
		if got := valuesOf(v.Scan(things, index.PrefixRange(byValue, group(value)), 0)); len(got) == 0 || got[0] != value {
			g.t.Errorf("%s: scan by value %.20q: got %.20q, want it", who, value, got)
		}
	}
}

func valuesOf(items func(func(Item, error) bool)) (all []string) {
	for item, err := range items {
		if err != nil {
			return append(all, err.Error())
		}
		all = append(all, string(item.Doc.Value))
	}
	return all
}
