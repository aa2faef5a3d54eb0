package index

// Known never says that an id is new which was written before it was asked,
// whatever it is taught meanwhile, and seldom that another is not.

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firndb/firn/schema"
)

func idOf(n int) []byte { return fmt.Append(nil, "id ", n) }

func TestKnownSaysNothingUntaught(t *testing.T) {
	var k Known
	k.Add(1, "a")
	if k.New(1, []byte("b")) || k.Bytes() != 0 {
		t.Error("got an answer of one that was taught nothing, want none")
	}
	teacher := k.Teacher(0, 1<<20)
	if k.New(1, []byte("b")) {
		t.Error("got an answer before all was taught, want none")
	}
	teacher.Leave()
	if k.New(1, []byte("b")) || k.Bytes() != 0 {
		t.Error("got an answer after the teacher has left, want none")
	}
	k.Teacher(0, 1<<20).Done()
	if !k.New(1, []byte("b")) {
		t.Error("an id that nobody has taught: got maybe, want new")
	}
}

func TestKnownGrowsWithinItsMemory(t *testing.T) {
	const most = 1 << 17 // for 87,000 ids
	for _, tt := range []struct {
		taught, added int
		done, answers bool
	}{{10_000, 0, true, true}, {80_000, 0, true, true}, {1000, 80_000, true, true}, {1000, 400_000, true, false}, {400_000, 0, false, false}} {
		var k Known
		teacher := k.Teacher(1000, most)
		for n := range tt.taught {
			teacher.Add(&schema.Entry{Index: schema.ByID(1), Key: string(idOf(n))})
			teacher.Add(&schema.Entry{Index: schema.Index(1, 1), Key: string(idOf(-n - 1))}) // is no id
		}
		if got := teacher.Done(); got != tt.done || teacher.Found() != int64(tt.taught) {
			t.Errorf("%d ids: got %t, %d found, want %t", tt.taught, got, teacher.Found(), tt.done)
		}
		for n := range tt.added {
			k.Add(1, string(idOf(tt.taught+n)))
		}
		if got := k.Bytes(); got > most+lineBytes {
			t.Errorf("%+v: got %d bytes, want at most %d", tt, got, most)
		}
		if k.New(1, idOf(0)) || k.New(1, idOf(tt.taught+tt.added-1)) {
			t.Errorf("%+v: got new, want not what was written", tt)
		}
		news := 0
		for n := range 1000 {
			if k.New(1, idOf(-n-1)) {
				news++
			}
		}
		if tt.answers != (news > 0) || tt.answers && news < 900 {
			t.Errorf("%+v: got %d of 1000 new ones, want answers %t", tt, news, tt.answers)
		}
	}
}

// file is what is merged, to be read entry by entry.
type file struct {
	mu  sync.Mutex
	ids []schema.Entry
}

func (f *file) page(from int) []schema.Entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ids[from:min(from+16, len(f.ids))]
}

// TestTaughtWhileWritten teaches without end while ids are written and merged.
func TestTaughtWhileWritten(t *testing.T) {
	const written = 10_000
	random := seeded(t)
	var k Known
	var f file
	var newest atomic.Int64 // ids up to it are written
	tail, done := NewTail(0), make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			teacher := k.Teacher(0, 1<<16)
			runs := tail.Runs()
			teacher.AddRun(runs.Active)
			if runs.Frozen != nil {
				teacher.AddRun(runs.Frozen)
			}
			for from, page := 0, f.page(0); len(page) > 0; page = f.page(from) {
				for i := range page {
					teacher.Add(&page[i])
				}
				from += len(page)
			}
			teacher.Done()
		}
	})
	for n := range written {
		tail.Insert([]schema.Entry{{Index: schema.ByID(1), TS: schema.Timestamp(n + 1), Key: string(idOf(n))}})
		k.Add(1, string(idOf(n)))
		newest.Store(int64(n))
		if random.IntN(500) == 0 && tail.Freeze() {
			f.mu.Lock()
			f.ids = append(f.ids, tail.Runs().Frozen.all()...)
			f.mu.Unlock()
			tail.Drop(schema.Timestamp(n + 1))
		}
		for range 4 {
			if id := random.IntN(n + 1); k.New(1, idOf(id)) {
				t.Fatalf("id %d of %d: got new, want not", id, n)
			}
		}
		if k.New(1, idOf(n)) {
			t.Fatalf("id %d: got new at once, want not", n)
		}
	}
	close(done)
	others.Wait()
}
