package reader

// The rule: a draft finds its document's place again, should readers have
// moved it meanwhile.

import (
	"errors"
	"fmt"
	"testing"

	"github.com/firndb/firn/schema"
)

// evict pushes all documents that are not staged out of the head.
func (g *rig) evict() {
	g.head.mu.Lock()
	g.head.docs.shrink(0)
	g.head.mu.Unlock()
}

// TestDraftsOutliveEviction moves the document between Edit and Stage, and
// between two drafts of it.
func TestDraftsOutliveEviction(t *testing.T) {
	for _, id := range []string{"there", "not there"} {
		for _, refilled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/refilled=%t", id, refilled), func(t *testing.T) {
				g := newRig(t, 1<<20)
				g.put(plain, []byte("there"), "old")
				g.merge(-1)
				move := func() {
					g.evict()
					if _, err := g.view().Last(plain, []byte(id)); refilled && err != nil && err != ErrNotFound {
						t.Error(err)
					}
				}
				stage := func(x tx, d Draft, value string) error {
					_, err := g.head.Stage(d, schema.Row{TS: x.ts, Value: []byte(value)})
					return err
				}
				g.must(func(x tx) error {
					a, err := x.view.Edit(plain, []byte(id))
					move()
					b, err2 := x.view.Edit(plain, []byte(id))
					move()
					err = errors.Join(err, err2, stage(x, a, "a"))
					move()
					c, err2 := x.view.Edit(plain, []byte(id))
					if old := c.Old(); old == nil || string(old.Value) != "a" {
						t.Errorf("a draft sees %v, want a", old)
					}
					move()
					return errors.Join(err, err2, stage(x, b, "b"), stage(x, c, "c"))
				}, func(x tx) error {
					move()
					d, err := x.view.Edit(plain, []byte(id))
					if old := d.Old(); old == nil || string(old.Value) != "c" {
						t.Errorf("the next transaction sees %v, want c", old)
					}
					return errors.Join(err, stage(x, d, "d"))
				})
				move()
				for row, err := range g.view().Versions(plain, id, VersionRange{Newest: true, Limit: 1}) {
					if err != nil || string(row.Value) != "d" || row.Prev != g.now-1 {
						t.Errorf("the newest version: got %v, %v, want d after %d", row, err, g.now-1)
					}
				}
				if row, err := g.view().Last(plain, []byte(id)); err != nil || string(row.Value) != "d" {
					t.Errorf("a view: got %v, %v, want d", row, err)
				}
			})
		}
	}
}

// TestStagedDocumentsOutliveEviction: what was published of them may go
// meanwhile.
func TestStagedDocumentsOutliveEviction(t *testing.T) {
	g := newRig(t, 1<<20)
	for n := range 10 {
		g.put(plain, fmt.Append(nil, n), "old")
	}
	g.must(func(x tx) error {
		var err error
		for n := range 5 {
			err = errors.Join(err, x.put(plain, fmt.Append(nil, n), "new"))
		}
		g.evict()
		if size := g.head.Size(); size.Documents != 0 || size.Bytes != 0 {
			t.Errorf("after eviction: got %+v, want nothing", size)
		}
		for n := range 10 {
			want := "old"
			if n < 5 {
				want = "new"
			}
			if row, err := x.view.Get(plain, fmt.Append(nil, n)); err != nil || string(row.Value) != want {
				t.Errorf("document %d in the transaction: got %v, %v, want %s", n, row, err, want)
			}
		}
		return err
	})
	g.engine.refuse.Store(true)
	for n := range 5 {
		if row, err := g.view().Get(plain, fmt.Append(nil, n)); err != nil || string(row.Value) != "new" {
			t.Errorf("document %d in the head: got %v, %v, want new", n, row, err)
		}
	}
}
