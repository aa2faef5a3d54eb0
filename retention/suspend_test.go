package retention

// The rule: once Suspend has returned nothing is deleted until resume is
// called, and then a pass does what was left.

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

// suspending is an Executor that has somebody suspend the compactor while the
// n-th transaction is under way.
type suspending struct {
	Executor
	c        *Compactor
	left     int
	during   func() // after Suspend was called, and before the transaction ends
	resuming chan func()
}

func (s *suspending) Exec(ctx context.Context, fn func(schema.Appender) error) error {
	if s.left--; s.left == 0 {
		go func() { s.resuming <- s.c.Suspend() }()
		for s.c.suspended.Load() == 0 {
			runtime.Gosched()
		}
		s.during()
	}
	return s.Executor.Exec(ctx, fn)
}

func TestNothingIsDeletedWhileACompactorIsSuspended(t *testing.T) {
	r := newRig(t)
	r.state.Put(Scope{}, &Record{Off: true})
	for n := range 10 {
		r.commit(time.Second, write{things, "t", fmt.Append(nil, "a", n)}, write{owners, "o", fmt.Append(nil, "o/", n)})
	}
	c := r.compactor()
	c.sizes = smallSizes
	w := &suspending{Executor: c.opts.Writer, c: c, left: 6, resuming: make(chan func(), 1)}
	w.during = func() {
		if len(w.resuming) > 0 {
			t.Error("Suspend has returned while a slice was being deleted")
		}
	}
	c.opts.Writer = w
	report, err := c.Compact(t.Context())
	if err != nil || report.Rows >= 18 {
		t.Errorf("the pass that was suspended: got %d versions deleted, %v, want fewer than 18 and no error", report.Rows, err)
	}
	resume := <-w.resuming
	left := r.rows()
	if len(left) == 2 {
		t.Fatal("the pass had ended before it was suspended")
	}
	if report, err = c.Compact(t.Context()); report.Rows != 0 || err != nil || !slices.Equal(r.rows(), left) {
		t.Errorf("a pass while suspended: got %+v, %v, want that nothing is deleted", report, err)
	}
	resume()
	select {
	case <-c.wake:
	default:
		t.Error("resume did not wake the compactor")
	}
	if _, err = c.Compact(t.Context()); err != nil || len(r.rows()) != 2 {
		t.Errorf("afterwards: got %q, %v, want the present 2", r.rows(), err)
	}
	r.checkIndexes()
}
