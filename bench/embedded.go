package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
)

const (
	embeddedCallers = 64
	embeddedTime    = 3 * time.Second // of each round, about as long as the bare loop's
	embeddedKeys    = 100_000
)

// measureEmbedded holds the library against the least that SQLite can be
// asked to do with the same rows.
func measureEmbedded(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Embedded",
		method: fmt.Sprintf("Updates of one 64-byte document each by %d goroutines, 100,000 documents, an fsync each second, "+
			"against the bare loop: one prepared INSERT per row into the same table, 50 rows a transaction "+
			"(`go test -bench 'BareInsert/rows=50$' ./schema`), in turns.", embeddedCallers),
		header: []string{"bare loop", "Firn", "ratio", "bar"},
	}
	var bare, updates []float64
	for range l.cfg.rounds {
		n, err := bareLoop(ctx)
		if err != nil {
			return s, err
		}
		bare = append(bare, n)
		if n, err = updateRate(ctx, filepath.Join(l.dir, fmt.Sprintf("embedded-%d.db", len(bare)))); err != nil {
			return s, err
		}
		updates = append(updates, n)
	}
	times := ratio(median(updates), median(bare))
	s.rows = [][]string{{
		showRate(median(bare)) + " rows/s", showRate(median(updates)) + " rows/s", showRatio(times), verdict("embedded", times),
	}}
	return s, nil
}

var rowsPerSecond = regexp.MustCompile(`([0-9.e+]+) rows/s`)

func bareLoop(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", "BareInsert/rows=50$", "-benchtime", "3s", "./schema").CombinedOutput()
	found := rowsPerSecond.FindSubmatch(out)
	if err != nil || found == nil {
		return 0, fmt.Errorf("the bare loop: %w\n%s", err, out)
	}
	return strconv.ParseFloat(string(found[1]), 64)
}

// updateRate is updates per second, on a store of its own.
func updateRate(ctx context.Context, path string) (rate float64, err error) {
	store, err := firn.Open(path, firn.Options{
		Tables: []firn.TableSpec{{Name: "documents"}}, Durability: firn.EverySecond,
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	table := store.Table("documents")
	start := time.Now()
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	for range embeddedCallers {
		callers.Go(func() {
			for time.Since(start) < embeddedTime {
				id := fmt.Appendf(nil, "key:%020d", rand.IntN(embeddedKeys))
				value := make([]byte, 64)
				if _, err := store.Update(ctx, func(tx *firn.Tx) error { return tx.Put(table, id, value) }); err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	callers.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}
