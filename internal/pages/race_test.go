package pages

// The rule: a snapshot does not change, whatever the writer does beside its
// readers.

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/internal/seed"
)

// TestSnapshotsAreWhole lets readers walk snapshots while the writer changes
// all values, and splits and joins leaves. Every value of a
// snapshot is that of its round, in both of its parts.
func TestSnapshotsAreWhole(t *testing.T) {
	const keys, rounds = 300, 150
	seed := seed.Fresh(t)
	value := func(round uint64) Value {
		b := binary.BigEndian.AppendUint64(nil, round)
		return Value{Bytes: append(b, b[:round%8]...), Blob: b}
	}
	var shown atomic.Pointer[Tree]
	done := make(chan struct{})
	tree := New(128)
	tree.Snapshot()
	var run errgroup.Group
	for i := range 2 {
		run.Go(func() error {
			rng := seed.Rand(uint64(i))
			for {
				select {
				case <-done:
					return nil
				default:
				}
				if s := shown.Load(); s != nil {
					if err := sameRound(s, fmt.Sprintf("%04d", rng.IntN(keys))); err != nil {
						return err
					}
				}
			}
		})
	}
	rng := seed.Rand(2)
	for round := range uint64(rounds) {
		n := 0
		for i := range keys {
			key := fmt.Sprintf("%04d", i)
			if rng.IntN(4) == 0 {
				tree.Delete(key)
				continue
			}
			tree.Set(key, value(round))
			n++
		}
		shown.Store(tree.Snapshot())
		if tree.Len() != n {
			t.Fatalf("round %d: got %d entries, want %d", round, tree.Len(), n)
		}
	}
	close(done)
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
}

// sameRound walks a snapshot from a key on.
func sameRound(s *Tree, from string) error {
	first := []byte(nil)
	var failed error
	s.Ascend(from, func(key []byte, v Value) bool {
		if first == nil {
			first = append(first, v.Bytes...)
		}
		if string(v.Bytes) != string(first) || string(v.Blob) != string(first[:8]) {
			failed = fmt.Errorf("at %s: got %x and %x in a snapshot of %x", key, v.Bytes, v.Blob, first)
		}
		return failed == nil
	})
	return failed
}
