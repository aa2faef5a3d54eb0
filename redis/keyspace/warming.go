package keyspace

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
	Index  *firn.Index
	Prefix []byte
	n      int
}

// warming is what transactions ask for. It is safe for concurrent
// use, but for next, which is the sweeper's.
type warming struct {
	Wanted chan coldRange // capacity 1: what does not fit will be asked for again
	next   time.Time      // not to be read before
}

// wantOdds is LoadOdds for what is read beside the transactions: nobody waits
// for it, so it may come sooner.
const wantOdds = 64 * LoadOdds

// Want asks for a large collection of n elements in about wantOdds of n cases,
// so that it is worth its while.
func (t *Catalog) Want(index *firn.Index, prefix []byte, n int64) {
	if rand.Int64N(n) >= wantOdds {
		return
	}
	select {
	case t.Warming.Wanted <- coldRange{index, append([]byte(nil), prefix...), int(n)}:
	default:
	}
}

// WarmWanted reads what is wanted into memory, if anything is.
func (t *Catalog) WarmWanted() error {
	w, now := &t.Warming, time.Now()
	if now.Before(w.next) {
		return nil
	}
	select {
	case r := <-w.Wanted:
		err := t.Store.View(func(s *firn.Snapshot) error {
			_, err := s.Warm(r.Index, r.Prefix, r.n)
			return err
		})
		took := time.Since(now)
		w.next = now.Add(maxWarmShare * took)
		return err
	default:
		return nil
	}
}

// A sorted set whose entries are in memory answers questions of rank in
// logarithmic time. Whether to bring it there is decided here: a set is
// loaded whole when that costs little, or little more than the question does.
// A question that loads nothing reads the entries that it is about.

const (
	// SmallZSet members are loaded in about a millisecond.
	SmallZSet = 1024
	// A question that reads a sixteenth of a set, or more, may as well load it.
	loadShare = 16
	// A question about few members loads a large set of n in LoadOdds of n
	// cases, which doubles what such questions cost until the set is there.
	LoadOdds = 64
)
