package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
)

const (
	// compactedKeys are the documents of which -keys versions are written and
	// forgotten.
	compactedKeys = 1000

	// compactedAfter is how far back history is kept, and the clock is put
	// forward by twice as much.
	compactedAfter = 24 * time.Hour
)

// measureCompaction asks how fast history is forgotten, what that costs those
// who write meanwhile, and how large the file is afterwards.
func measureCompaction(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Compaction",
		method: fmt.Sprintf("*rows/s* and *shrink*: %d versions of %d documents, the horizon behind all of them, nothing else to do; "+
			"then VACUUM, and the file against that of a store with the same documents written once. "+
			"*bytes*: the file for each of %d keys that were SET ten times, after COMPACT and VACUUM. "+
			"*SET*: redis-benchmark with 50 connections while COMPACT forgets %d versions, against the same without.",
			l.cfg.keys, compactedKeys, l.cfg.keys/versionedKeys, l.cfg.keys/versionedKeys*(versionedKeys-1)),
		header: []string{"what", "figure", "bar"},
	}
	rate, shrunk, err := compactIdle(ctx, l)
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows,
		[]string{"rows/s", showRate(rate), verdict("compaction/rate", rate)},
		[]string{"shrink", showRatio(shrunk), verdict("compaction/shrink", shrunk)})
	each, err := bytesPerLiveKey(ctx, l)
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows, []string{"bytes", fmt.Sprintf("%.0f B", each), verdict("compaction/bytes", each)})
	rps, p99, err := compactUnderLoad(ctx, l)
	if err != nil {
		return s, err
	}
	s.rows = append(s.rows,
		[]string{"SET/s", showRatio(rps), verdict("compaction/throughput", rps)},
		[]string{"SET p99", showRatio(p99), verdict("compaction/p99", p99)})
	return s, nil
}

// compactIdle is how many rows are forgotten in a second, and how large the
// file is then, in sizes of one that was written afresh.
func compactIdle(ctx context.Context, l *lab) (rate, shrunk float64, err error) {
	var ahead atomic.Int64
	options := firn.Options{
		Tables: pastTables, Durability: firn.None, Retention: compactedAfter,
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	}
	path := filepath.Join(l.dir, "compacted.db")
	store, err := firn.Open(path, options)
	if err != nil {
		return 0, 0, err
	}
	versions := l.cfg.keys / compactedKeys
	for range versions {
		if err = writeDocuments(ctx, store); err != nil {
			return 0, 0, errors.Join(err, store.Close())
		}
	}
	ahead.Store(int64(2 * compactedAfter))
	began := time.Now()
	_, err = store.Compact(ctx)
	took := time.Since(began)
	if err == nil {
		_, err = store.Vacuum(ctx)
	}
	if err := errors.Join(err, store.Close()); err != nil {
		return 0, 0, err
	}
	fresh := filepath.Join(l.dir, "fresh.db")
	if store, err = firn.Open(fresh, options); err != nil {
		return 0, 0, err
	}
	if err := errors.Join(writeDocuments(ctx, store), store.Close()); err != nil {
		return 0, 0, err
	}
	return float64(versions*compactedKeys) / took.Seconds(), ratio(float64(sizeBytes(path)), float64(sizeBytes(fresh))), nil
}

// writeDocuments writes each document once.
func writeDocuments(ctx context.Context, store *firn.Store) error {
	_, err := store.Update(ctx, func(tx *firn.Tx) error {
		for i := range compactedKeys {
			if err := tx.Put(store.Table("documents"), pastID(i), []byte(value64)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// bytesPerLiveKey is the size of a server's file for each key once the history
// of all has passed the horizon.
func bytesPerLiveKey(ctx context.Context, l *lab) (each float64, err error) {
	server, err := l.subject("everysec", "--retention", "1s")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.start(ctx); err != nil {
		return 0, err
	}
	keys := l.cfg.keys / versionedKeys
	for range versionedKeys {
		if err := loadKeys(server, keys); err != nil {
			return 0, err
		}
	}
	settle(ctx, server.pid())
	c, err := dial(server.addr())
	if err != nil {
		return 0, err
	}
	defer c.close()
	for _, command := range []string{"COMPACT", "VACUUM", "CHECKPOINT"} {
		if _, err := c.do(command); err != nil {
			return 0, fmt.Errorf("%s: %w", command, err)
		}
	}
	if err := countKeys(server, int64(keys)); err != nil {
		return 0, err
	}
	c.close()
	if err := server.stop(); err != nil {
		return 0, err
	}
	return float64(sizeBytes(server.path())) / float64(keys), nil
}

// compactUnderLoad is how SET does while history is forgotten, against the same
// with nothing to forget, in turns.
func compactUnderLoad(ctx context.Context, l *lab) (rps, p99 float64, err error) {
	var figures [2]struct{ rps, p99 []float64 }
	for range l.cfg.rounds {
		for i, compacting := range []bool{false, true} {
			got, err := setBeside(ctx, l, compacting)
			if err != nil {
				return 0, 0, err
			}
			figures[i].rps = append(figures[i].rps, got.rps)
			figures[i].p99 = append(figures[i].p99, float64(got.p99))
		}
	}
	quiet, busy := figures[0], figures[1]
	return ratio(median(busy.rps), median(quiet.rps)), ratio(median(busy.p99), median(quiet.p99)), nil
}

// setBeside runs redis-benchmark against a server that has the history of
// versionedKeys SETs of each key, and forgets it meanwhile if compacting.
func setBeside(ctx context.Context, l *lab, compacting bool) (got load, err error) {
	server, err := l.subject("everysec", "--retention", "unlimited")
	if err != nil {
		return got, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	if err := server.start(ctx); err != nil {
		return got, err
	}
	keys := l.cfg.keys / versionedKeys
	for range versionedKeys {
		if err := loadKeys(server, keys); err != nil {
			return got, err
		}
	}
	settle(ctx, server.pid())
	ended := make(chan error, 1)
	if compacting {
		go func() { ended <- compactServer(server, int64(keys)*(versionedKeys-1)) }()
	} else {
		ended <- nil
	}
	got, err = redisBenchmark(ctx, server, row{fsync: "everysec", pipeline: 1}, 4*l.cfg.requests) // test 0 is SET
	return got, errors.Join(err, <-ended)
}

// compactServer makes a server forget at least so many versions.
func compactServer(s *server, versions int64) error {
	c, err := dial(s.addr())
	if err != nil {
		return err
	}
	defer c.close()
	began := time.Now()
	reply, err := c.do("COMPACT", "BEFORE", "now")
	if err != nil {
		return fmt.Errorf("COMPACT: %w", err)
	}
	fields, ok := reply.([]any)
	if !ok || len(fields) < 2 {
		return fmt.Errorf("COMPACT: got %v", reply)
	}
	if n, _ := fields[1].(int64); n < versions {
		return fmt.Errorf("COMPACT: got %d versions, want %d", n, versions)
	}
	fmt.Fprintf(os.Stderr, "compacted beside SET: %v in %s\n", fields[1], time.Since(began).Round(time.Millisecond))
	return nil
}
