package retention

// The rule: nothing that a pinned snapshot sees is deleted, and a snapshot that

import (
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/schema"
)

func TestOldestOfThePinsHoldsEverythingBack(t *testing.T) {
	var p Pins
	if got := p.Oldest(); got != schema.MaxTimestamp {
		t.Errorf("oldest of none: got %d, want none", got)
	}
	young, old := p.Pin(7), p.Pin(7)
	young.Set(70)
	if got := p.Oldest(); got != 0 {
		t.Errorf("oldest while one is not chosen: got %d, want 0", got)
	}
	for _, step := range []struct {
		do   func()
		want schema.Timestamp
	}{
		{func() { old.Set(50) }, 50},
		{func() { old.Set(60) }, 60},
		{func() { young.Block() }, 0},
		{func() { young.Set(schema.MaxTimestamp) }, 60},
		{func() { young.Set(-1) }, 0},
		{young.Release, 60},
		{old.Release, schema.MaxTimestamp},
		{func() { Pin{}.Block(); Pin{}.Set(1); Pin{}.Release() }, schema.MaxTimestamp},
	} {
		if step.do(); p.Oldest() != step.want {
			t.Errorf("oldest: got %d, want %d", p.Oldest(), step.want)
		}
	}
}

func TestMorePinsThanSlots(t *testing.T) {
	var p Pins
	var pins []Pin
	for i := range 3 * pinPlaces {
		pin := p.Pin(uint32(i))
		pin.Set(schema.Timestamp(1000 - i))
		pins = append(pins, pin)
	}
	for i := len(pins) - 1; i >= 0; i-- {
		if got, want := p.Oldest(), schema.Timestamp(1000-i); got != want {
			t.Fatalf("oldest of %d pins: got %d, want %d", i+1, got, want)
		}
		pins[i].Release()
	}
	if got := p.Oldest(); got != schema.MaxTimestamp || len(p.more) != 0 {
		t.Errorf("after releasing all: got %d and %d in the map, want none", got, len(p.more))
	}
}

// TestNothingPinnedIsDeleted has readers follow a horizon that a deleter moves:
// whatever moment a reader was let in for is not deleted while it is there.
func TestNothingPinnedIsDeleted(t *testing.T) {
	const reads = 50_000
	var p Pins
	var horizon, deleted, read atomic.Int64
	var done atomic.Bool
	var g errgroup.Group
	for reader := range uint32(4) {
		g.Go(func() error {
			for !done.Load() {
				ts := horizon.Load()     // the oldest moment: the next one to be forgotten
				pin := p.Pin(reader / 2) // two share a seat
				if ts < horizon.Load() {
					pin.Release()
					continue
				}
				pin.Set(schema.Timestamp(ts))
				read.Add(1)
				for range 10 {
					if got := deleted.Load(); got > ts {
						t.Errorf("deleted up to %d while %d was read", got, ts)
						done.Store(true)
					}
				}
				pin.Release()
			}
			return nil
		})
	}
	for i := int64(1); read.Load() < reads && !done.Load(); i++ {
		horizon.Store(i)
		if to := min(i, int64(p.Oldest())); to > deleted.Load() {
			deleted.Store(to)
		}
	}
	done.Store(true)
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

func BenchmarkPin(b *testing.B) {
	var p Pins
	var seats atomic.Uint32
	b.RunParallel(func(pb *testing.PB) {
		seat := seats.Add(1)
		for pb.Next() {
			pin := p.Pin(seat)
			pin.Set(1)
			pin.Release()
		}
	})
}
