package redis

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// A copy that a tracking client keeps is the value, or an invalidation is on
// its way.

// invalidated are the keys of the invalidations in b; "*" is a flush.
func invalidated(t testing.TB, b []byte) (keys []string) {
	t.Helper()
	for _, frame := range frames(t, b) {
		v, _, _ := parseValue(frame)
		if v.mark != '>' || v.elements[0].text != "invalidate" {
			continue
		}
		if v.elements[1].null {
			keys = append(keys, "*")
		}
		for _, key := range v.elements[1].elements {
			keys = append(keys, key.text)
		}
	}
	return keys
}

// TestAWriteBetweenSnapshotAndReadIsTold has a read run on a snapshot that is
// not the newest any more: nobody knew yet that the client reads the key.
func TestAWriteBetweenSnapshotAndReadIsTold(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	b.Run(t, "SET k old")
	input := "GET k\r\n"
	a.session.Fill(copy(a.session.Space(len(input)), input))
	if !a.session.fetch() {
		t.Fatal("there is no command")
	}
	err := b.Store.View(func(snap *firn.Snapshot) error {
		if snap.Timestamp() == 0 {
			t.Error("the snapshot has no timestamp")
		}
		b.Run(t, "SET k new")
		return a.session.readFrom(snap)
	})
	if err != nil {
		t.Fatal(err)
	}
	Check(t, "reply and invalidation", string(a.take(t)), "$3\r\nold\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n")
	// With nothing in between nothing is told.
	Check(t, "reply alone", a.Run(t, "GET k"), "$3\r\nnew\r\n")
	Check(t, "later", string(a.take(t)), "")
}

func TestExpiredKeysAreInvalidated(t *testing.T) {
	w, _ := newListened(t, "\"\"")
	a := newOurs(t, w.session.srv)
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	bcast := newOurs(t, w.session.srv)
	bcast.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST PREFIX swe")
	w.Run(t, "SET swept 1 PX 10", "SET over 1 PX 10")
	a.Run(t, "MGET swept over")
	bcast.take(t)
	w.advance(time.Second)
	w.Run(t, "SET over 2")
	Check(t, "overwritten", strings.Join(invalidated(t, a.take(t)), " "), "over")
	if err := w.session.srv.Sweeper().Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	Check(t, "swept", strings.Join(invalidated(t, a.take(t)), " "), "swept")
	Check(t, "swept, by prefix", strings.Join(invalidated(t, bcast.take(t)), " "), "swept")
}

func TestTheTableOfTrackedKeysIsBounded(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	b.Run(t, "CONFIG SET tracking-table-max-keys 10")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	told := 0
	for i := range 100 {
		a.Run(t, fmt.Sprintf("GET k%d", i))
		told += len(invalidated(t, a.take(t)))
	}
	if _, keys, items, _ := a.session.srv.tracking.Counts(); keys != 10 || items != 10 || told != 90 {
		t.Errorf("got %d keys, %d items and %d invalidations, want 10, 10 and 90", keys, items, told)
	}
	b.Run(t, "CONFIG SET tracking-table-max-keys 3")
	if n := len(invalidated(t, a.take(t))); n != 7 {
		t.Errorf("a lower limit: got %d invalidations, want 7", n)
	}
}

func TestReadersThatAreGoneDoNotPileUp(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
	for range 1000 {
		gone := newOurs(t, a.session.srv)
		gone.Run(t, "CLIENT TRACKING ON", "GET k")
		gone.session.Close()
	}
	if _, keys, items, _ := a.session.srv.tracking.Counts(); keys != 1 || items > 64 {
		t.Errorf("got %d keys and %d items, want 1 and few", keys, items)
	}
}

// cache is a client that keeps copies.
type cache struct {
	*ours
	copies map[string]string
}

// hear applies invalidations, and notes the reply to a GET of key, if any.
func (c *cache) apply(t testing.TB, b []byte, key string) {
	for _, frame := range frames(t, b) {
		v, _, _ := parseValue(frame)
		switch v.mark {
		case '$', '_':
			c.copies[key] = v.text
		}
		for _, gone := range invalidated(t, frame) {
			if delete(c.copies, gone); gone == "*" {
				clear(c.copies)
			}
		}
	}
}

// TestCopiesAreTheValues has clients read and keep what they read while others
// write. When all is quiet and all invalidations are read, what they
// have kept is what is there.
func TestCopiesAreTheValues(t *testing.T) {
	seed := seed.Fresh(t)
	for _, memory := range []int64{0, -1} {
		srv := New(openStore(t, firn.Options{Durability: firn.None, Memory: memory}), Options{})
		caches := make([]*cache, 6)
		var wg sync.WaitGroup
		var writing atomic.Int64
		writing.Store(2)
		for i := range caches {
			c := &cache{newOurs(t, srv), map[string]string{}}
			caches[i] = c
			c.Run(t, "HELLO 3", "CLIENT TRACKING ON")
			wg.Go(func() {
				rng := seed.Rand(uint64(i))
				writes := i < 2
				after := 20 // reads when nobody writes any more
				for n := 0; writes && n < 300 || !writes && after > 0; n++ {
					if writing.Load() == 0 {
						after--
					}
					key := fmt.Sprintf("k%d", rng.IntN(8))
					command := "GET " + key
					switch {
					case writes && rng.IntN(100) == 0:
						command = "FLUSHALL"
					case writes && rng.IntN(2) == 0:
						command = fmt.Sprintf("SET %s %d-%d", key, i, n)
					}
					c.apply(t, []byte(c.Run(t, command)), key)
				}
				if writes {
					writing.Add(-1)
				}
			})
		}
		wg.Wait()
		kept := 0
		reader := newOurs(t, srv)
		reader.Run(t, "HELLO 3")
		for i, c := range caches {
			c.apply(t, c.take(t), "")
			for key, got := range c.copies {
				v, _, _ := parseValue([]byte(reader.Run(t, "GET "+key)))
				if kept++; got != v.text {
					t.Errorf("memory=%d client %d: got %s = %q, want %q", memory, i, key, got, v.text)
				}
			}
		}
		if kept == 0 {
			t.Errorf("memory=%d: nothing was kept, which proves nothing", memory)
		}
	}
}
