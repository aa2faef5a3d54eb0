package reader

// The rule: an id that is said to be new was never written, wherever what was
// written lies, and to look for one that is new costs no read of the file.

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// learnNow learns, however few look-ups were in vain.
func (g *rig) learnNow() error {
	g.head.learning.vain.Store(1 << 40)
	return g.head.learning.learn(context.Background(), g.head)
}

func TestNewIDsNeedNoFile(t *testing.T) {
	g := newRig(t, 1<<20)
	g.must(func(x tx) error {
		return errors.Join(x.put(plain, []byte("a"), "v"), x.put(things, thing("g", 1), "v"))
	})
	g.merge(-1)
	g.must(func(x tx) (err error) {
		for n := range 40 {
			err = errors.Join(err, x.put(plain, fmt.Append(nil, "frozen ", n), "v"))
		}
		return err
	})
	g.merge(1) // 16 of them
	g.put(plain, []byte("b"), "v")
	g.empty()
	if err := g.learnNow(); err != nil {
		t.Fatal(err)
	}
	g.put(plain, []byte("c"), "v")
	g.empty()
	g.engine.reads.Store(0)
	hot := new(View)
	hot.Reset(g.head, true)
	for name, v := range map[string]*View{"hot": hot, "present": g.view(), "past": g.at(500)} {
		for n := range 100 {
			if row, err := v.Last(plain, key(n)); err != ErrNotFound {
				t.Errorf("%s view: got %v, %v, want not found", name, row, err)
			}
		}
	}
	g.must(func(x tx) error {
		return errors.Join(x.put(plain, []byte("d"), "v"), x.put(things, thing("g", 2), "v"))
	})
	if got := g.engine.reads.Load(); got > 1 { // one wrong yes is likely enough
		t.Errorf("looking for and writing new ids: got %d reads of the file, want none", got)
	}
	for _, id := range []string{"a", "b", "c", "d", "frozen 0", "frozen 39", "frozen 9"} {
		g.empty()
		if row, err := g.view().Get(plain, []byte(id)); err != nil || string(row.Value) != "v" {
			t.Errorf("%q: got %v, %v, want what was written", id, row, err)
		}
	}
}

// TestLearningWhileWriting writes, takes back, deletes, merges and evicts while
// it is learned without end which ids there are, and holds what every view
// sees against the history.
func TestLearningWhileWriting(t *testing.T) {
	keys, commits := 3000, race.Lighter(1200, 300)
	seed := seed.Fresh(t)
	rng := seed.Rand(1)
	g := newRig(t, 256<<10)
	g.slice = 64
	history := make([][]schema.Timestamp, keys)
	ctx, stop := context.WithCancel(context.Background())
	var run errgroup.Group
	run.Go(func() error {
		for ctx.Err() == nil {
			if err := g.learnNow(); err != nil {
				return err
			}
		}
		return nil
	})
	for n := range commits {
		var transactions []func(tx) error
		for range 1 + rng.IntN(4) {
			k, fails, deletes := rng.IntN(n/2+20), rng.IntN(4) == 0, rng.IntN(4) == 0
			transactions = append(transactions, func(x tx) error {
				if deletes {
					if len(history[k]) > 0 && history[k][len(history[k])-1] > 0 && !fails {
						history[k] = append(history[k], -x.ts)
					}
					return errors.Join(x.del(plain, key(k)), failing(fails))
				}
				if !fails {
					history[k] = append(history[k], x.ts)
				}
				return errors.Join(x.put(plain, key(k), "v"), failing(fails))
			})
		}
		if err := g.commit(transactions...); err != nil {
			t.Fatal(err)
		}
		switch rng.IntN(40) {
		case 0:
			g.merge(1)
		case 1:
			g.merge(-1)
		}
		g.empty()
		k, at := rng.IntN(n/2+40), g.now-schema.Timestamp(rng.IntN(50))
		for _, v := range []*View{g.view(), g.at(at)} {
			checkLast(t, v, key(k), lastOf(history[k], v.at))
			v.Close()
		}
	}
	stop()
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	for k := range keys {
		g.empty()
		checkLast(t, g.view(), key(k), lastOf(history[k], g.now))
	}
}

var errFails = errors.New("the transaction fails")

func failing(fails bool) error {
	if fails {
		return errFails
	}
	return nil
}

// lastOf is the newest of versions at a moment, of which deletions are
// negative; 0 if there is none.
func lastOf(versions []schema.Timestamp, at schema.Timestamp) (last schema.Timestamp) {
	for _, ts := range versions {
		if max(ts, -ts) <= at {
			last = ts
		}
	}
	return last
}

func checkLast(t *testing.T, v *View, id []byte, want schema.Timestamp) {
	t.Helper()
	row, err := v.Last(plain, id)
	got := schema.Timestamp(0)
	if err == nil {
		got = row.TS
		if row.Deleted {
			got = -got
		}
	} else if err != ErrNotFound {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("%q at %d: got version %d, want %d", id, v.at, got, want)
	}
}

// TestLearningBegins when enough was looked for in vain, and again when what
// was learned has been forgotten in the file.
func TestLearningBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, 1<<20)
		for n := range 40 {
			g.put(plain, fmt.Append(nil, "old ", n), "v")
		}
		g.merge(-1)
		g.empty()
		g.head.learning.vain.Store(0) // that they were new had to be looked up
		ctx, stop := context.WithCancel(t.Context())
		var run errgroup.Group
		run.Go(func() error { return g.head.Learn(ctx) })
		g.lookInVain(t, "first", firstVain-1)
		if g.head.learning.known.Bytes() > 0 {
			t.Error("learned before it was worth it")
		}
		g.lookInVain(t, "second", 1)
		if g.head.learning.known.Bytes() == 0 {
			t.Error("did not learn when it was worth it")
		}
		if got := g.lookInVain(t, "third", 100); got > 5 {
			t.Errorf("looking for 100 new ids: got %d reads, want nearly none", got)
		}
		g.forgetAll(t, 40)
		if got := g.lookForOld(t, 40); got != 40 {
			t.Errorf("looking for what is forgotten: got %d reads, want 40", got)
		}
		for range firstVain / 40 {
			g.lookForOld(t, 40)
		}
		if got := g.lookForOld(t, 40); got > 3 {
			t.Errorf("looking for what is forgotten, learned anew: got %d reads, want nearly none", got)
		}
		stop()
		if err := run.Wait(); err != nil {
			t.Error(err)
		}
	})
}

// lookInVain looks for n ids and says how often the file was read.
func (g *rig) lookInVain(t *testing.T, name string, n int) int64 {
	t.Helper()
	before := g.engine.reads.Load()
	for n := range n {
		g.miss(t, fmt.Append(nil, name, n))
	}
	synctest.Wait()
	return g.engine.reads.Load() - before
}

// lookForOld is lookInVain for ids that there were.
func (g *rig) lookForOld(t *testing.T, n int) int64 {
	t.Helper()
	before := g.engine.reads.Load()
	for n := range n {
		g.miss(t, fmt.Append(nil, "old ", n))
	}
	g.empty()
	synctest.Wait()
	return g.engine.reads.Load() - before
}

func (g *rig) miss(t *testing.T, id []byte) {
	t.Helper()
	v := new(View)
	v.Reset(g.head, false)
	defer v.Close()
	if row, err := v.Last(plain, id); err != ErrNotFound {
		t.Fatalf("%q: got %v, %v, want not found", id, row, err)
	}
}

// forgetAll removes the old ids from the file, as the compactor does.
func (g *rig) forgetAll(t *testing.T, n int) {
	t.Helper()
	app := g.engine.Appender()
	var entries []schema.Entry
	var rows []*schema.Row
	for n := range n {
		id := fmt.Sprint("old ", n)
		entries = append(entries, schema.Entry{Index: schema.ByID(plain.ID), Key: id, TS: schema.Timestamp(1001 + n)})
		rows = append(rows, &schema.Row{TS: schema.Timestamp(1001 + n), Table: plain.ID, ID: id})
	}
	if err := errors.Join(app.Begin(), app.DeleteRows(rows), app.DeleteEntries(entries), app.Commit()); err != nil {
		t.Fatal(err)
	}
}

// TestWithoutBudgetNothingIsLearned, and a file that cannot be read harms
// nobody.
func TestWithoutBudgetNothingIsLearned(t *testing.T) {
	g := newRig(t, 0)
	if err := g.learnNow(); err != nil || g.head.learning.known.Bytes() > 0 {
		t.Errorf("got %v, %d bytes, want nothing", err, g.head.learning.known.Bytes())
	}
	g = newRig(t, 1<<20)
	g.engine.refuse.Store(true)
	if err := g.learnNow(); !errors.Is(err, errRefused) || g.head.learning.known.New(plain.ID, []byte("a")) {
		t.Errorf("got %v, want %v and no answer", err, errRefused)
	}
}
