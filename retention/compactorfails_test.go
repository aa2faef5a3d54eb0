package retention

// The rule: compaction that fails says so, is seen to have failed, and goes on
// where it was once it can.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn/schema"
)

// failing is an Executor that can be told to fail.
type failing struct {
	Executor
	err atomic.Pointer[error] // nil: it works
}

func (f *failing) Exec(ctx context.Context, fn func(schema.Appender) error) error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return f.Executor.Exec(ctx, fn)
}

func TestCompactionThatFailsIsSeenAndTriedAgain(t *testing.T) {
	r := newRig(t)
	r.state.Put(Scope{}, &Record{Off: true})
	for _, value := range []string{"a1", "a2", "a3"} {
		r.commit(time.Millisecond, write{things, "t", []byte(value)})
	}
	var log bytes.Buffer
	c := r.compactor()
	c.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
	gone := errors.New("the disk is gone")
	writer := &failing{Executor: c.opts.Writer}
	writer.err.Store(&gone)
	c.opts.Writer = writer
	synctest.Test(t, func(t *testing.T) {
		c.wake = make(chan struct{}, 1) // of this bubble
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- c.Run(ctx) }()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		st := c.Stats()
		if st.Failed < 3 || st.Failed > 5 || st.Passes != st.Failed || !errors.Is(st.Err, gone) || st.Rows != 0 {
			t.Errorf("after 10 s of failing: got %+v, want 3 to 5 passes that have failed", st)
		}
		if n := strings.Count(log.String(), "the disk is gone"); int64(n) != st.Failed {
			t.Errorf("logged: got %d lines, want %d", n, st.Failed)
		}
		failed := st.Failed
		writer.err.Store(nil)
		time.Sleep(maxRetry)
		synctest.Wait()
		if st = c.Stats(); st.Err != nil || st.Failed != failed || st.Rows != 2 || st.Passes <= failed {
			t.Errorf("when the disk is back: got %+v, want 2 versions deleted and no error", st)
		}
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Run: got %v, want nil", err)
		}
	})
	if got := r.rows(); len(got) != 1 || !strings.Contains(got[0], `"a3"`) {
		t.Errorf("rows: got %q, want the newest version", got)
	}
}
