package redis

import (
	"math/rand/v2"
	"time"

	"github.com/firndb/firn"
)

// Pops from a large collection are cheap while its elements are in memory in
// order, and dear while they are not; but a transaction may not read a large
// collection, because all other writes would wait for it. So now and then one
// asks for it, and the goroutine of the sweeper reads it, beside the writes.

// maxWarmShare is the part of the sweeper's time, one in so many, that goes
// into reading collections: one that does not stay is not read all the time.
const maxWarmShare = 4

// coldRange is the elements of a collection that are wanted in memory.
type coldRange struct {
	index  *firn.Index
	prefix []byte
	n      int
}

// warming is what transactions ask for. It is safe for concurrent
// use, but for next, which is the sweeper's.
type warming struct {
	wanted chan coldRange // capacity 1: what does not fit will be asked for again
	next   time.Time      // not to be read before
}

// wantOdds is loadOdds for what is read beside the transactions: nobody waits
// for it, so it may come sooner.
const wantOdds = 64 * loadOdds

// want asks for a large collection of n elements in about wantOdds of n cases,
// so that it is worth its while.
func (v *View) want(index *firn.Index, prefix []byte, n int64) {
	if rand.Int64N(n) >= wantOdds {
		return
	}
	select {
	case v.warming.wanted <- coldRange{index, append([]byte(nil), prefix...), int(n)}:
	default:
	}
}

// warmWanted reads what is wanted into memory, if anything is.
func (t *catalog) warmWanted() error {
	w, now := &t.warming, time.Now()
	if now.Before(w.next) {
		return nil
	}
	select {
	case r := <-w.wanted:
		err := t.store.View(func(s *firn.Snapshot) error {
			_, err := s.Warm(r.index, r.prefix, r.n)
			return err
		})
		took := time.Since(now)
		w.next = now.Add(maxWarmShare * took)
		return err
	default:
		return nil
	}
}
