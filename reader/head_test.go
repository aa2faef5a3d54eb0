package reader

// The rule: the head is a cache. It has a budget and keeps it, and what it
// answers is what the file would have answered.

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/internal/slab"
	"github.com/firndb/firn/schema"
)

func TestHeadKeepsItsBudget(t *testing.T) {
	const budget = 32 << 10
	seed := seed.Fresh(t)
	rng := seed.Rand(2)
	g := newRig(t, budget)
	for i := range 600 {
		name := fmt.Sprint(rng.IntN(20))
		g.must(func(x tx) error {
			size := rng.IntN(600)
			if rng.IntN(20) == 0 {
				size = budget // never kept
			}
			if err := x.put(things, thing(name, rng.IntN(30)), strings.Repeat("v", size)); err != nil {
				return err
			}
			if rng.IntN(4) == 0 {
				_, err := x.view.Ordered(things, schema.ByID(things.ID), group(name))
				return err
			}
			return nil
		})
		if got := g.head.Size(); got.Bytes > budget || got.Bytes < 0 {
			t.Fatalf("after commit %d: got %d bytes, want at most %d", i, got.Bytes, budget)
		}
		if _, err := g.view().Ordered(things, schema.ByID(things.ID), group(fmt.Sprint(rng.IntN(20)))); err != nil {
			t.Fatal(err)
		}
		if got := g.head.Size(); got.Bytes > budget {
			t.Fatalf("after read %d: got %d bytes, want at most %d", i, got.Bytes, budget)
		}
	}
	if got := g.head.Size(); got.Documents == 0 {
		t.Errorf("documents in the head: got 0, want some")
	}
}

func TestLargeDocumentsAreNotKept(t *testing.T) {
	const budget = 8 << 10
	g := newRig(t, budget)
	g.head.Assume(plain.ID)
	g.put(plain, []byte("a"), "small")
	g.put(plain, []byte("a"), strings.Repeat("x", budget/2))
	if got := g.head.Size().Documents; got != 0 {
		t.Errorf("after a large version: got %d documents, want 0", got)
	}
	doc, err := g.view().Get(plain, []byte("a"))
	if err != nil || len(doc.Value) != budget/2 {
		t.Errorf("the large version: got %d bytes, %v, want %d", len(doc.Value), err, budget/2)
	}
	g.warm(&schema.Row{TS: 5, Table: plain.ID, ID: "b", Value: make([]byte, budget/2)})
	if got := g.head.Size().Documents; got != 0 {
		t.Errorf("after warming and reading a large version: got %d documents, want 0", got)
	}
}

// What is not on the heap is told, because nobody else knows of it, and given
// back at the end.
func TestSizeTellsWhatIsOffTheHeap(t *testing.T) {
	g := newRig(t, 1<<20)
	for i := range 1000 {
		g.put(plain, fmt.Append(nil, i), "value")
	}
	size := g.head.Size()
	if slab.OffHeap && (size.OffHeap < size.Bytes || size.OffHeap > 4*size.Bytes) || !slab.OffHeap && size.OffHeap != 0 {
		t.Errorf("off the heap: got %d bytes, of documents of %d", size.OffHeap, size.Bytes)
	}
	if err := g.head.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := g.head.Size(), (Size{}); got != want {
		t.Errorf("after Close: got %+v, want %+v", got, want)
	}
	if _, err := g.view().Get(plain, []byte("7")); err != nil {
		t.Errorf("reading after Close: %v", err)
	}
}

// An empty range takes memory too, and a reader can ask for any number.
func TestEmptyRangesAreNotFree(t *testing.T) {
	const budget = 32 << 10
	g := newRig(t, budget)
	for i := range 1000 {
		if _, err := g.view().Ordered(things, schema.ByID(things.ID), group(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := g.head.Size().Ranges, budget/warmRangeOverhead; got > want || got == 0 {
		t.Errorf("empty ranges kept: got %d, want 1 to %d", got, want)
	}
}

func TestWithoutBudgetNothingIsKept(t *testing.T) {
	g := newRig(t, 0)
	g.head.Assume(things.ID)
	for i := range 20 {
		g.must(func(x tx) error {
			if _, err := x.view.Ordered(things, schema.ByID(things.ID), group("a")); err != nil {
				return err
			}
			return x.put(things, thing("a", i), "v")
		})
		if _, err := g.view().Get(things, thing("a", i)); err != nil {
			t.Fatal(err)
		}
		if got := show(g.view().Scan(things, whole("a"), 0)); len(strings.Fields(got)) != i+1 {
			t.Fatalf("scan: got %q, want %d documents", got, i+1)
		}
	}
	if got, want := g.head.Size(), (Size{}); got != want {
		t.Errorf("size: got %+v, want %+v", got, want)
	}
}

// A hot view answers from memory or says ErrCold. It never asks the engine,
// which here would refuse.
func TestHotViewsNeverReadTheFile(t *testing.T) {
	g := newRig(t, 1<<20)
	g.put(things, thing("warm", 1), "w")
	g.put(things, thing("cold", 1), "c")
	if _, err := g.view().Ordered(things, schema.ByID(things.ID), group("warm")); err != nil {
		t.Fatal(err)
	}
	g.head.mu.Lock()
	g.head.docs.shrink(0)
	g.head.mu.Unlock()
	g.engine.refuse.Store(true)
	opened := g.engine.opened.Load()

	hot := new(View)
	hot.Reset(g.head, true)
	defer hot.Close()
	first := func(items func(func(Item, error) bool)) error {
		for _, err := range items {
			return err
		}
		return nil
	}
	value := schema.Index(things.ID, 1)
	for _, tt := range []struct {
		name string
		read func() error
		want error
	}{
		{"get in a range", func() error { _, err := hot.Get(things, thing("warm", 1)); return err }, nil},
		{"get of nothing in a range", func() error { _, err := hot.Get(things, thing("warm", 9)); return err }, ErrNotFound},
		{"last of nothing in a range", func() error { _, err := hot.Last(things, thing("warm", 9)); return err }, ErrCold},
		{"get", func() error { _, err := hot.Get(things, thing("cold", 1)); return err }, ErrCold},
		{"last", func() error { _, err := hot.Last(things, thing("cold", 1)); return err }, ErrCold},
		{"scan of a range", func() error { return first(hot.Scan(things, whole("warm"), 0)) }, nil},
		{"scan", func() error { return first(hot.Scan(things, whole("cold"), 0)) }, ErrCold},
		{"ordered", func() error { _, err := hot.Ordered(things, value, group("w")); return err }, ErrCold},
		{"counted", func() error { _, err := hot.Count(things, group("cold")); return err }, nil},
		{"count", func() error { _, err := hot.Count(plain, ""); return err }, ErrCold},
		{"versions", func() error {
			for _, err := range hot.Versions(things, string(thing("warm", 1)), VersionRange{}) {
				return err
			}
			return nil
		}, ErrCold},
	} {
		if err := tt.read(); err != tt.want {
			t.Errorf("%s: got %v, want %v, bare", tt.name, err, tt.want)
		}
	}
	if got := g.engine.opened.Load(); got != opened {
		t.Errorf("sessions opened: got %d, want %d", got, opened)
	}
}

// An element of a declared index's range whose document is not in memory is
// cold too.
func TestHotRangeOfAnIndexMayBeCold(t *testing.T) {
	g := newRig(t, 1<<20)
	g.put(things, thing("a", 1), "red")
	value := schema.Index(things.ID, 1)
	if _, err := g.view().Ordered(things, value, group("red")); err != nil {
		t.Fatal(err)
	}
	g.head.mu.Lock()
	g.head.docs.shrink(0)
	g.head.mu.Unlock()
	hot := new(View)
	hot.Reset(g.head, true)
	defer hot.Close()
	o, err := hot.Ordered(things, value, group("red"))
	if err != nil || o.Len() != 1 {
		t.Fatalf("ordered: got %v, want a range of 1", err)
	}
	if _, err := o.At(0); err != ErrCold {
		t.Errorf("its element: got %v, want %v", err, ErrCold)
	}
	if _, err := o.At(1); err != ErrNotFound {
		t.Errorf("an element that is not there: got %v, want %v", err, ErrNotFound)
	}
}

// The count of a view that is a little older than the newest commit is its
// own, and one that is too old counts.
func TestCountsOfOlderViews(t *testing.T) {
	g := newRig(t, 1<<20)
	views := []*View{g.view()}
	for i := range 30 {
		g.must(func(x tx) error {
			if i%3 == 2 {
				return x.del(things, thing("a", i-1))
			}
			return x.put(things, thing("a", i), "v")
		})
		views = append(views, g.view())
	}
	check := func(how string) {
		t.Helper()
		want := 0
		for i, v := range views {
			if i > 0 && i%3 == 0 {
				want--
			} else if i > 0 {
				want++
			}
			if got, err := v.Count(things, group("a")); err != nil || got != want {
				t.Errorf("%s, view %d: got %d, %v, want %d", how, i, got, err, want)
			}
		}
	}
	before := g.engine.reads.Load()
	check("by changes")
	if got := g.engine.reads.Load(); got != before {
		t.Errorf("reads of the file: got %d, want %d", got, before)
	}
	for range maxCountChanges + 1 {
		g.head.mu.Lock()
		g.head.counts.add(g.head.newest, things.ID, "other", 1)
		g.head.mu.Unlock()
	}
	check("by counting")
	if got := g.engine.reads.Load(); got == before {
		t.Error("views before the ring's start: got no reads of the file, want some")
	}
}

// After Close the sessions that views still hold are closed when they are
// returned.
func TestSessionsReturnedLateAreClosed(t *testing.T) {
	g := newRig(t, 0)
	g.put(plain, []byte("a"), "1")
	v := new(View)
	v.Reset(g.head, false)
	if _, err := v.Get(plain, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := g.head.Close(); err != nil {
		t.Fatal(err)
	}
	v.Close()
	if got := len(g.head.idle); got != 0 {
		t.Errorf("idle sessions after Close: got %d, want 0", got)
	}
}

func TestKeysThatAreTooLongAreRefused(t *testing.T) {
	g := newRig(t, 1<<20)
	long := strings.Repeat("v", schema.MaxIDBytes)
	var refused error
	err := g.commit(
		func(x tx) error { return x.put(things, thing("a", 1), "short") },
		func(x tx) error {
			refused = x.put(things, thing("a", 2), long)
			return refused
		})
	if err != nil || !errors.Is(refused, index.ErrDeclaration) {
		t.Errorf("a long key: got %v, %v, want %v", refused, err, index.ErrDeclaration)
	}
	g.merge(-1)
	if got, want := show(g.view().Scan(things, whole("a"), 0)), "short@1001 "; got != want {
		t.Errorf("what is there: got %q, want %q", got, want)
	}
}
