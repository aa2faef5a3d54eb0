package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
)

const (
	liveSubscriptions = 100_000
	liveTurns         = 100 // without and with subscriptions
	liveCommits       = 200 // of each turn: some milliseconds, so that both meet what else the machine does
	liveKeys          = 10_000
)

// measureLive is what those cost who follow something that does not change.
func measureLive(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Live",
		method: fmt.Sprintf("In Go: %d subscriptions, each to a document of its own and one that all read, and updates of other documents of the "+
			"same table by one goroutine, on a store without and one with them, %d times %d in turns. Memory is what the heap grows by. ",
			liveSubscriptions, liveTurns, liveCommits) + liveClientsMethod,
		header: []string{"", "", "bar"},
	}
	var times, bytes []float64
	for i := range l.cfg.rounds {
		ratio, each, err := liveRound(ctx, filepath.Join(l.dir, fmt.Sprintf("live-%d", i)))
		if err != nil {
			return s, err
		}
		times, bytes = append(times, ratio), append(bytes, each)
	}
	s.rows = [][]string{
		{"a commit that touches none of 100,000 subscriptions, against none", showRatio(median(times)), verdict("live/commit", median(times))},
		{"an idle subscription", fmt.Sprintf("%.0f B", median(bytes)), verdict("live/bytes", median(bytes))},
	}
	clients, err := liveClients(ctx, l)
	s.rows = append(s.rows, clients...)
	return s, err
}

// liveRound is how much longer commits take with subscriptions, and how many
// bytes each of those takes.
func liveRound(ctx context.Context, path string) (ratio, bytes float64, err error) {
	var stores [2]*firn.Store
	for i := range stores {
		stores[i], err = firn.Open(fmt.Sprintf("%s-%d.db", path, i), firn.Options{
			Tables: []firn.TableSpec{{Name: "documents"}}, Durability: firn.EverySecond,
		})
		if err != nil {
			return 0, 0, err
		}
		defer func() { err = errors.Join(err, stores[i].Close()) }()
	}
	before := heapBytes()
	var ran atomic.Int64
	subscribe(ctx, stores[1], &ran)
	for stores[1].Journal().Watching().Watches < liveSubscriptions {
		time.Sleep(time.Millisecond)
	}
	bytes = float64(heapBytes()-before) / liveSubscriptions
	var took [2][]float64
	for turn := range 2 * liveTurns {
		which := (turn + 1) / 2 % 2 // 0, 1, 1, 0: neither always comes second
		seconds, err := liveCommit(ctx, stores[which])
		if err != nil {
			return 0, 0, err
		}
		took[which] = append(took[which], seconds)
	}
	if n := ran.Load(); n != liveSubscriptions {
		err = fmt.Errorf("%d subscriptions ran %d times: the commits have touched some", liveSubscriptions, n)
	}
	return median(took[1]) / median(took[0]), bytes, err
}

// subscribe makes the subscriptions, which end with the store.
func subscribe(ctx context.Context, store *firn.Store, ran *atomic.Int64) {
	table := store.Table("documents")
	for i := range liveSubscriptions {
		id := fmt.Appendf(nil, "read:%020d", i)
		store.Subscribe(ctx, func(snap *firn.Snapshot) error {
			for _, id := range [][]byte{id, []byte("shared")} {
				if _, err := snap.Get(table, id); err != nil && !errors.Is(err, firn.ErrNotFound) {
					return err
				}
			}
			ran.Add(1)
			return nil
		})
	}
}

// liveCommit is how long the commits of a turn take.
func liveCommit(ctx context.Context, store *firn.Store) (seconds float64, err error) {
	table := store.Table("documents")
	value := make([]byte, 64)
	began := time.Now()
	for i := range liveCommits {
		id := fmt.Appendf(nil, "written:%020d", i%liveKeys)
		if _, err := store.Update(ctx, func(tx *firn.Tx) error { return tx.Put(table, id, value) }); err != nil {
			return 0, err
		}
	}
	return time.Since(began).Seconds(), nil
}

// heapBytes is what is on the heap now and in use.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // what finalizers have let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
