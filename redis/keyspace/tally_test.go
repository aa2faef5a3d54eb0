package keyspace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// How much history a key has is known without walking it.

// chronicler writes one key of a store whose clock it moves.
type chronicler struct {
	t     *testing.T
	store *firn.Store
	view  *View
	now   time.Time
}

func newChronicler(t *testing.T) *chronicler {
	t.Helper()
	c := &chronicler{t: t, now: time.UnixMilli(1_800_000_000_000)}
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{
		Tables: Tables(), Durability: firn.None, Now: func() time.Time { return c.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	c.store, c.view = store, NewView(NewCatalog(store, 2), nil)
	c.view.Operation = "SET"
	return c
}

// write runs fn in a transaction, a second later.
func (c *chronicler) write(fn func(v *View) error) {
	c.t.Helper()
	c.now = c.now.Add(time.Second)
	c.view.Begin()
	_, err := c.store.Update(context.Background(), func(tx *firn.Tx) error { return fn(c.view.through(tx)) })
	if err != nil {
		c.t.Fatal(err)
	}
}

// set writes the key with a value of n bytes.
func set(v *View, n int, expires int64) error {
	s, err := v.Open([]byte("k"))
	if err != nil {
		return err
	}
	return v.WriteString(&s, []byte(strings.Repeat("x", n)), Compact, expires)
}

// read calls fn with the key's history as it is now, and with how many
// versions it looks at.
func (c *chronicler) read(fn func(h *Chronicle, looked *int) error) {
	c.t.Helper()
	err := c.store.View(func(snap *firn.Snapshot) error {
		counted := &countingReader{Reader: snap}
		h, err := NewChronicle(c.view.At(counted))
		if err != nil {
			return err
		}
		return fn(h, &counted.versions)
	})
	if err != nil {
		c.t.Fatal(err)
	}
}

// countingReader counts the versions that a Reader is made to yield.
type countingReader struct {
	firn.Reader
	versions int
}

func (r *countingReader) Versions(t *firn.Table, id []byte, in firn.VersionRange) iter.Seq2[*firn.Document, error] {
	return func(yield func(*firn.Document, error) bool) {
		for doc, err := range r.Reader.Versions(t, id, in) {
			r.versions++
			if !yield(doc, err) {
				return
			}
		}
	}
}

func TestLongHistoriesAreNotWalkedToBeCounted(t *testing.T) {
	c := newChronicler(t)
	const versions, most = 5000, 48
	bytes := 0
	for i := range versions {
		n := 100 + i/50
		c.write(func(v *View) error { return set(v, n, 0) })
	}
	c.read(func(h *Chronicle, looked *int) error {
		err := h.Each([]byte("k"), &HistoryQuery{}, func(e *Event) bool {
			bytes += e.Bytes
			return true
		})
		if err != nil {
			return err
		}
		*looked = 0
		began := time.Now()
		tally, err := h.Tally([]byte("k"))
		t.Logf("HISTORY STATS took %v, looked at %d versions", time.Since(began), *looked)
		if err != nil || tally.Events != versions || !tally.Live || *looked > most {
			t.Errorf("got %+v, %v after %d versions, want %d after at most %d", tally, err, *looked, versions, most)
		}
		if off := tally.Bytes - bytes; max(off, -off) > bytes/100 {
			t.Errorf("bytes: got %d, want about %d", tally.Bytes, bytes)
		}
		*looked = 0
		doc, k, _, err := h.V.FindLive([]byte("k"))
		if err != nil {
			return err
		}
		n, err := h.V.VersionsOf([]byte(doc.ID), &k)
		if err != nil || n != versions || *looked > 1 {
			t.Errorf("KEYINFO: got %d versions, %v, after %d; want %d after 1", n, err, *looked, versions)
		}
		return nil
	})
}

// TestTalliesAreWhatHistoryShows compares both on histories of everything that
// makes an event: also their numbers, of which no two events of a keyspace have
// the same.
func TestTalliesAreWhatHistoryShows(t *testing.T) {
	r := seed.Fresh(t).Rand(0)
	for round := range seed.Steps(t, 24) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			c := newChronicler(t)
			for range 40 + r.IntN(160) {
				c.write(func(v *View) error { return c.happen(v, r) })
				if r.IntN(12) == 0 {
					if err := NewSweeper(c.store).Sweep(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			c.read(func(h *Chronicle, _ *int) error { return compareTally(t, h) })
		})
	}
}

// happen does something to the key.
func (c *chronicler) happen(v *View, r *rand.Rand) error {
	switch r.IntN(60) / 3 {
	case 0:
		return errors.Join(set(v, 1, 0), set(v, 2, 0))
	case 1:
		if r.IntN(4) > 0 { // so that some reigns are long
			return nil
		}
		return v.Flush(0)
	case 2:
		s, err := v.Open([]byte("k"))
		if err != nil || !s.Live {
			return err
		}
		return v.Remove(&s)
	case 3, 4, 5:
		return set(v, 3, c.now.UnixMilli()+500+int64(r.IntN(2000)))
	}
	return set(v, 4, 0)
}

// compareTally holds a tally against the walk, and the walk against the one in
// the other direction.
func compareTally(t *testing.T, h *Chronicle) error {
	var all []Event
	numbers := map[int64]bool{}
	err := h.Each([]byte("k"), &HistoryQuery{}, func(e *Event) bool {
		if n := len(all); n > 0 && all[n-1].TS > e.TS {
			t.Errorf("%s at %d comes after %d", e.Operation, e.TS, all[n-1].TS)
		}
		if numbers[e.Key.Version] {
			t.Errorf("version %d is there twice", e.Key.Version)
		}
		numbers[e.Key.Version] = true
		all = append(all, *e)
		return true
	})
	if err != nil {
		return err
	}
	tally, err := h.Tally([]byte("k"))
	if err != nil || tally.Events != len(all) {
		t.Errorf("got %+v, %v, want %d events", tally, err, len(all))
	}
	i := len(all)
	err = errors.Join(err, h.Each([]byte("k"), &HistoryQuery{Newest: true}, func(e *Event) bool {
		if i--; i < 0 || all[i].TS != e.TS || all[i].Key.Version != e.Key.Version {
			t.Errorf("newest first: got version %d at %d", e.Key.Version, e.TS)
		}
		return true
	}))
	if i != 0 {
		t.Errorf("newest first: %d events are not there", i)
	}
	return err
}
