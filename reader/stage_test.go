package reader

// The rule: a transaction sees what the transactions before it have staged and
// what it has written itself, and nothing of those that failed; a view sees
// none of it until it is published.

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

var errStop = errors.New("stop")

// is is the value that a transaction or a view reads; "-" for nothing.
func is(v *View, id []byte) string {
	row, err := v.Get(things, id)
	if err != nil {
		return map[bool]string{true: "-", false: fmt.Sprint(err)}[err == ErrNotFound]
	}
	return string(row.Value)
}

// The newest version of a document is remembered between two reads; a write,
// a rollback, an abandoned group and another document must all be noticed.
func TestMemosFollowTransactions(t *testing.T) {
	for _, budget := range []int64{0, 1 << 20} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			g := newRig(t, budget)
			a, b := thing("g", 1), thing("g", 2)
			g.put(things, a, "old")
			g.merge(-1)
			var got []string
			look := func(x tx) { got = append(got, is(x.view, a)+is(x.view, b)) }
			err := g.commit(
				func(x tx) error { look(x); return errors.Join(x.put(things, b, "B"), errStop) },
				func(x tx) error { look(x); err := x.put(things, a, "new"); look(x); return err },
				func(x tx) error { look(x); err := x.del(things, a); look(x); return errors.Join(err, errStop) },
				func(x tx) error { look(x); err := x.put(things, b, "b"); look(x); return err },
				func(x tx) error {
					err := errors.Join(x.put(things, a, "1"), x.put(things, a, "2"))
					look(x)
					return errors.Join(err, errStop)
				},
				func(x tx) error { look(x); return nil },
			)
			if err != nil {
				t.Fatal(err)
			}
			g.must(func(x tx) error { look(x); return nil })
			want := "old- old- new- new- -- new- newb 2b newb newb"
			if text := strings.Join(got, " "); text != want {
				t.Errorf("what transactions saw:\n got %s\nwant %s", text, want)
			}
		})
	}
}

func TestAbandonedGroupLeavesNoTrace(t *testing.T) {
	g := newRig(t, 1<<20)
	a := thing("g", 1)
	g.put(things, a, "old")
	g.head.Lock()
	g.head.Begin()
	x := tx{g, g.head.Transaction(), g.now + 1}
	if _, err := x.view.Ordered(things, schema.ByID(things.ID), group("g")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(x.put(things, a, "never"), x.put(things, thing("g", 2), "never")); err != nil {
		t.Fatal(err)
	}
	g.head.Abandon()
	g.head.Unlock()
	if x.view.file != nil {
		t.Error("the transactions' session: got one that is still borrowed, want none")
	}
	for name, v := range map[string]*View{"present": g.view(), "at": g.at(g.now + 1)} {
		if got, want := show(v.Scan(things, whole("g"), 0)), "old@1001 "; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	g.must(func(x tx) error {
		if got := is(x.view, a); got != "old" {
			return fmt.Errorf("got %q, want %q", got, "old")
		}
		return nil
	})
}

// Rows that are staged but not committed are in the tail already. No view
// must be led to them, and every transaction of the group must be.
func TestVersionsWithinAGroup(t *testing.T) {
	g := newRig(t, 1<<20)
	a := thing("g", 1)
	g.put(things, a, "1")
	versions := func(v *View) string {
		text := ""
		for row, err := range v.Versions(things, string(a), VersionRange{}) {
			if err != nil {
				return err.Error()
			}
			text += string(row.Value) + " "
		}
		return text
	}
	var inside, outside string
	g.must(
		func(x tx) error { return x.put(things, a, "2") },
		func(x tx) error { return x.put(things, a, "3") },
		func(x tx) error {
			inside, outside = versions(x.view), versions(g.view())
			return x.put(things, a, "4")
		})
	if inside != "1 2 3 " || outside != "1 " {
		t.Errorf("versions inside and outside the group: got %q and %q, want %q and %q", inside, outside, "1 2 3 ", "1 ")
	}
	if got, want := versions(g.view()), "1 2 3 4 "; got != want {
		t.Errorf("versions after it: got %q, want %q", got, want)
	}
}

// TestVersionsBeginBeforeTheWalk: a transaction may write the document whose
// versions it walks, and does not meet its own version, however many there are.
func TestVersionsBeginBeforeTheWalk(t *testing.T) {
	for _, merged := range []bool{false, true} {
		g := newRig(t, 0)
		a := thing("g", 1)
		for range versionPage {
			g.put(things, a, "old")
		}
		if merged {
			g.merge(-1)
			g.put(things, a, "old")
		}
		g.must(func(x tx) error {
			for row, err := range x.view.Versions(things, string(a), VersionRange{}) {
				if err != nil || string(row.Value) != "old" {
					t.Fatalf("merged=%t: got %s, %v, want old versions only", merged, row.Value, err)
				}
				if err := x.put(things, a, "new"); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// A transaction may write what it is scanning. It gets no document twice for
// that, none that is deleted, and no error.
func TestTransactionsMayWriteWhileTheyScan(t *testing.T) {
	value := schema.Index(things.ID, 1)
	for _, loaded := range []bool{false, true} {
		t.Run(fmt.Sprintf("loaded=%t", loaded), func(t *testing.T) {
			for name, r := range map[string]schema.KeyRange{
				"by id":    whole("g"),
				"by value": index.PrefixRange(value, group("v")),
			} {
				g := newRig(t, 1<<20)
				for n := range 40 {
					g.put(things, thing("g", n), "v")
				}
				seen := 0
				g.must(func(x tx) error {
					return x.put(things, thing("g", 39), "v") // staged by a neighbour
				}, func(x tx) error {
					if err := x.put(things, thing("g", 39), "v"); err != nil {
						return err
					}
					if loaded {
						if _, err := x.view.Ordered(things, r.Index, r.From); err != nil {
							return err
						}
					}
					for item, err := range x.view.Scan(things, r, 0) {
						if err != nil {
							return err
						}
						seen++
						next := thing("g", seen)
						if seen == 20 {
							next = thing("g", 39) // which this transaction has written
						}
						if item.Doc.Deleted {
							return fmt.Errorf("%q is deleted", item.Key)
						}
						if err := errors.Join(x.del(things, []byte(item.Doc.ID)), x.del(things, next)); err != nil {
							return err
						}
					}
					return nil
				})
				if seen < 20 || seen > 40 {
					t.Errorf("%s: got %d documents, want 20 to 40", name, seen)
				}
				if got := show(g.view().Scan(things, r, 0)); got != "" {
					t.Errorf("%s: after deleting all: got %q, want nothing", name, got)
				}
			}
		})
	}
}

// A range that a transaction loads has what its group has staged before; if
// the transaction fails the range is read again.
func TestRangesLoadedByTransactions(t *testing.T) {
	g := newRig(t, 1<<20)
	g.put(things, thing("g", 1), "1")
	g.merge(-1)
	ordered := func(v *View) string {
		o, err := v.Ordered(things, schema.ByID(things.ID), group("g"))
		if err != nil {
			return err.Error()
		}
		return show(o.Ascend(nil))
	}
	var second, third string
	if err := g.commit(
		func(x tx) error { return x.put(things, thing("g", 2), "2") },
		func(x tx) error {
			err := x.put(things, thing("g", 3), "3")
			second = ordered(x.view)
			return errors.Join(err, errStop)
		},
		func(x tx) error {
			err := x.del(things, thing("g", 1))
			third = ordered(x.view)
			return err
		},
	); err != nil {
		t.Fatal(err)
	}
	if want := "1@1001 2@1002 3@1003 "; second != want {
		t.Errorf("the second transaction: got %q, want %q", second, want)
	}
	want := "2@1002 "
	if third != want {
		t.Errorf("the third transaction: got %q, want %q", third, want)
	}
	if got := ordered(g.view()); got != want {
		t.Errorf("a view: got %q, want %q", got, want)
	}
	if got := ordered(g.at(1001)); got != "1@1001 " {
		t.Errorf("the past: got %q, want %q", got, "1@1001 ")
	}
}
