package firn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// The write-ahead log's file stays below Options.WALMaxBytes under endless
// writes with readers that come and go. One that stays is counted, and over
// when it has gone.

const walBound = 4 << 20

type walLoad struct {
	store *firn.Store
	table *firn.Table
	path  string
}

func newWALLoad(t *testing.T) walLoad {
	path := filepath.Join(t.TempDir(), "firn.db")
	store, err := firn.Open(path, firn.Options{
		Tables: []firn.TableSpec{{Name: "t"}}, Memory: -1, WALMaxBytes: walBound, TailEntries: 2000, Durability: firn.None,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	l := walLoad{store, store.Table("t"), path}
	l.put(t, 0)
	l.put(t, 1)
	return l
}

func (l walLoad) put(t testing.TB, i int) {
	_, err := l.store.Update(context.Background(), func(tx *firn.Tx) error {
		for n := range 4 {
			if err := tx.Put(l.table, fmt.Appendf(nil, "k%d", (i+n*1000)%4000), make([]byte, 500)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func (l walLoad) bytes(t testing.TB) int64 {
	info, err := os.Stat(l.path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// read holds a snapshot that reads the file until hold returns.
func (l walLoad) read(t testing.TB, hold func()) {
	err := l.store.View(func(s *firn.Snapshot) error {
		if _, err := s.Get(l.table, []byte("k1")); err != nil {
			return err
		}
		hold()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestWriteAheadLogStaysBelowItsBound(t *testing.T) {
	l := newWALLoad(t)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	seed := seed.Fresh(t)
	for n := range uint64(4) {
		random := seed.Rand(n)
		readers.Go(func() {
			for ctx.Err() == nil {
				l.read(t, func() { <-time.After(time.Duration(random.Int64N(int64(15 * time.Millisecond)))) })
			}
		})
	}
	largest := int64(0)
	for i := range 4_000 {
		l.put(t, i)
		largest = max(largest, l.bytes(t))
	}
	stop()
	readers.Wait()
	st := l.store.Stats()
	if largest >= walBound || st.WALOverruns != 0 {
		t.Errorf("largest file: got %d bytes and %d overruns, want less than %d and none", largest, st.WALOverruns, walBound)
	}
	if st.WALWrittenBytes < 5*walBound {
		t.Errorf("written to the log: got %d bytes, want several times its bound, %d", st.WALWrittenBytes, walBound)
	}
	if largest < walBound/8 {
		t.Errorf("largest file: got %d bytes: readers were never in the way", largest)
	}
	t.Logf("largest %d, written %d, checkpoints %d", largest, st.WALWrittenBytes, st.Checkpoints)
}

func TestReaderThatStaysIsCountedUntilItGoes(t *testing.T) {
	l := newWALLoad(t)
	l.read(t, func() {
		for i := 0; l.store.Stats().WALOverruns == 0; i++ {
			if i == 100_000 {
				t.Fatalf("no overrun was counted; the log has %d bytes", l.bytes(t))
			}
			l.put(t, i)
		}
		if got := l.bytes(t); got < walBound {
			t.Errorf("file when an overrun is counted: got %d bytes, want at least %d", got, walBound)
		}
	})
	for i := 0; l.bytes(t) > walBound/2; i++ {
		if i == 10_000 {
			t.Fatalf("file after the reader has gone: got %d bytes, want at most %d", l.bytes(t), walBound/2)
		}
		l.put(t, i)
	}
	if got := l.store.Stats().WALOverruns; got != 1 {
		t.Errorf("overruns: got %d, want 1", got)
	}
}

func TestTinyBoundOfTheWriteAheadLogIsRefused(t *testing.T) {
	_, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{WALMaxBytes: 4096})
	if err == nil || !strings.Contains(err.Error(), "the least is 1048576") {
		t.Errorf("got %v, want an error that names the least bound", err)
	}
}
