package retention

// The rule: whenever a policy changes while a pass is under way, what is left
// in the end is what the policies keep: nothing less, and no version whose
// successor is gone.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

// set changes a policy as the store does, from inside a pass too.
func (r *rig) set(scope Scope, p Policy) {
	r.t.Helper()
	err := r.state.Rewind(r.t.Context(), r.store, func() error {
		start, _, _ := r.state.Horizon(scope)
		record := NewRecord(p, start)
		r.state.Put(scope, &record)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// before is an Executor that calls fn before each transaction.
type before struct {
	Executor
	fn func()
}

func (b before) Exec(ctx context.Context, fn func(schema.Appender) error) error {
	b.fn()
	return b.Executor.Exec(ctx, fn)
}

func TestPoliciesThatChangeUnderAPassLeaveNoGap(t *testing.T) {
	for _, where := range []string{"walking", "writing"} {
		for _, to := range []Policy{{Off: true}, {}} { // of things, instead of the other one
			for at := 1; at < 9; at++ {
				t.Run(fmt.Sprintf("%s %d, %s", where, at, to), func(t *testing.T) { testChange(t, where, at, to) })
			}
		}
	}
}

// testChange changes a policy at the n-th time that something is asked for
// whose history it is, or that something is written.
func testChange(t *testing.T, where string, n int, to Policy) {
	r := newRig(t)
	defer r.Close()
	first := Policy{Off: to == Policy{}}
	r.set(Scope{Group: "things"}, first)
	r.set(Scope{Group: "owners", Member: "o0"}, Policy{Off: !first.Off}) // so that there are two
	if first.Off {
		r.state.Put(Scope{Group: "owners", Member: "o0"}, nil) // until they become one
	}
	for i := range 4 {
		r.commit(time.Second, write{things, "t", fmt.Append(nil, "a", i)}, write{owners, "o1", fmt.Append(nil, "o1/", i)})
	}
	r.commit(time.Second, write{things, "t", nil})
	left, changed := n, false
	change := func() {
		if left--; left == 0 {
			changed = true
			r.set(Scope{Group: "things"}, to)
		}
	}
	c := r.compactor()
	if where == "walking" {
		r.tables[things].Scope = func(id string) Scope {
			change()
			return Scope{Group: "things", Member: id}
		}
	} else {
		c.opts.Writer = before{c.opts.Writer, change}
	}
	for range 2 {
		if _, err := c.Compact(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	r.tables[things].Scope = nil
	got := r.rows()
	for i := range 4 { // o1 is nobody's business
		if !slices.ContainsFunc(got, func(row string) bool { return strings.Contains(row, fmt.Sprintf(`"o1/%d"`, i)) }) {
			t.Errorf("version %d of what is kept: got %q, want it there", i, got)
		}
	}
	var versions []string
	for _, row := range got {
		if strings.HasPrefix(row, fmt.Sprintf("%d ", things)) {
			versions = append(versions, row)
		}
	}
	gone := to.Off && changed || !changed && first.Off
	if gone && len(versions) > 0 || !gone && len(versions) > 0 && len(versions) < 5 {
		t.Errorf("changed %t: got %d versions, want all 5 or none:\n%s", changed, len(versions), strings.Join(versions, "\n"))
	}
}
