package writer

// A barrier waits for groups that were stamped before it, and is not a write:
// who reads the recent past of a quiet store does not keep it from idling.

import (
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBarriersDoNotKeepTheWriterFromIdling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{})
		r.write()
		last := r.write().last
		for range 300 {
			if err := r.w.Barrier(); err != nil {
				t.Fatalf("barrier: got %v, want no error", err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if got := r.w.opts.Tail.Watermark(); got != last {
			t.Errorf("merged after three seconds of barriers: got up to %d, want %d", got, last)
		}
		if pages, err := r.engine.Appender().WALPages(); pages != 0 || err != nil {
			t.Errorf("write-ahead log after three seconds of barriers: got %d pages, %v, want it empty", pages, err)
		}
	})
}

// TestBarriersAreNotBookedAsWrites counts how often the writer looks at the
// log: only what is written makes it grow.
func TestBarriersAreNotBookedAsWrites(t *testing.T) {
	r := newRig(t, Options{WALMaxBytes: 1 << 20})
	var looks atomic.Int64
	r.engine.looked = func() { looks.Add(1) }
	r.start()
	r.write()
	before := looks.Load()
	for range 100 {
		if err := r.w.Barrier(); err != nil {
			t.Fatalf("barrier: got %v, want no error", err)
		}
	}
	if got := looks.Load() - before; got > 1 {
		t.Errorf("looks at the log because of 100 barriers: got %d, want none", got)
	}
}

func TestBarrierWaitsForTheGroupUnderWay(t *testing.T) {
	r := start(t, Options{})
	release := r.hold()
	passed := make(chan error, 1)
	go func() {
		passed <- r.w.Barrier()
	}()
	for r.w.barriers.Load() == 0 {
		runtime.Gosched()
	}
	select {
	case <-passed:
		t.Error("barrier beside a group: got it over, want it to wait")
	default:
	}
	release()
	if err := <-passed; err != nil {
		t.Errorf("barrier: got %v, want no error", err)
	}
}

func TestBarrierAfterTheEndSaysWhy(t *testing.T) {
	r := start(t, Options{})
	r.stop()
	r.wantEnd(nil)
	if err := r.w.Barrier(); !errors.Is(err, ErrClosed) {
		t.Errorf("barrier after the end: got %v, want ErrClosed", err)
	}
	r = newRig(t, Options{})
	r.engine.commit = fault(errDisk)
	r.start()
	r.submit(r.job(1))
	r.wantEnd(ErrInDoubt)
	if err := r.w.Barrier(); !errors.Is(err, ErrInDoubt) {
		t.Errorf("barrier after an unknown outcome: got %v, want ErrInDoubt", err)
	}
}
