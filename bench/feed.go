package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
)

const (
	// followedValue is how long the documents are that are followed.
	followedValue = 64

	// followedInRing is which part of -keys commits is kept in memory and
	// followed from there: a tenth, some 30 MB of a million.
	followedInRing = 10

	// followedKeys are the documents that a filter matches, each written
	// followedEach times among the -keys commits that were missed.
	followedKeys = 10
	followedEach = 10

	feedGroup = 1000 // commits that are written together
)

// measureFeed asks how fast a follower reads what it has missed.
func measureFeed(ctx context.Context, l *lab) (s section, err error) {
	s = section{
		title: "Feed",
		method: fmt.Sprintf("One follower in Go (`Store.Changes`) and commits of one document with %d bytes of value each. "+
			"*log*: %d of them, by a store that was closed and opened again. *ring*: the newest %d, which are in memory. "+
			"*resume*: the same %d commits missed, with a filter on %d ids that were written %d times each, until the follower has the newest token.",
			followedValue, l.cfg.keys, l.cfg.keys/followedInRing, l.cfg.keys, followedKeys, followedEach),
		header: []string{"what", "figure", "bar"},
	}
	path := filepath.Join(l.dir, "feed.db")
	began, err := makeFeed(ctx, path, l.cfg.keys)
	if err != nil {
		return s, err
	}
	var log, ring, resume []float64
	for range l.cfg.rounds {
		rate, took, err := followFile(ctx, path, began, l.cfg.keys)
		if err != nil {
			return s, err
		}
		log, resume = append(log, rate), append(resume, took.Seconds())
		if rate, err = followMemory(ctx, filepath.Join(l.dir, fmt.Sprintf("ring-%d.db", len(ring))), l.cfg.keys/followedInRing); err != nil {
			return s, err
		}
		ring = append(ring, rate)
	}
	s.rows = [][]string{
		{"log", showRate(median(log)) + " rows/s", verdict("feed/log", median(log))},
		{"ring", showRate(median(ring)) + " rows/s", verdict("feed/ring", median(ring))},
		{"resume", showMillis(seconds(median(resume))), verdict("feed/resume", median(resume))},
	}
	return s, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// feed is a batch of commits of one document each.
type feed struct {
	table *firn.Table
	first int
	ids   func(i int) []byte
	done  chan error // capacity 1: Done must not block
}

func (f *feed) Len() int { return feedGroup }

func (f *feed) Transact(i int, tx *firn.Tx) error {
	return tx.Put(f.table, f.ids(f.first+i), make([]byte, followedValue))
}

func (f *feed) Done(_ firn.Timestamp, err error) { f.done <- err }

// fill writes so many commits.
func fill(ctx context.Context, store *firn.Store, commits int, ids func(i int) []byte) error {
	f := &feed{table: store.Table("documents"), ids: ids, done: make(chan error, 1)}
	for ; f.first < commits && ctx.Err() == nil; f.first += feedGroup {
		if err := store.Submit(f); err != nil {
			return err
		}
		if err := <-f.done; err != nil {
			return err
		}
	}
	return ctx.Err()
}

func anyDocument(i int) []byte { return fmt.Appendf(nil, "user:%d", i) }

// fewAmongMany are ids of which some come again.
func fewAmongMany(commits int) func(i int) []byte {
	every := max(commits/(followedKeys*followedEach), 1)
	return func(i int) []byte {
		if i%every == every/2 {
			return fmt.Appendf(nil, "mine:%d", i/every%followedKeys)
		}
		return anyDocument(i)
	}
}

// makeFeed writes what is followed from the file, and says from where on.
func makeFeed(ctx context.Context, path string, commits int) (began firn.Timestamp, err error) {
	store, err := firn.Open(path, feedOptions(0))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return store.Bounds().Newest, fill(ctx, store, commits, fewAmongMany(commits))
}

func feedOptions(ringBytes int64) firn.Options {
	return firn.Options{Tables: []firn.TableSpec{{Name: "documents"}}, Durability: firn.EverySecond, FollowBytes: ringBytes}
}

// followFile is how many rows are followed in a second, all of them, and how
// long it takes to follow few.
func followFile(ctx context.Context, path string, began firn.Timestamp, commits int) (rate float64, few time.Duration, err error) {
	store, err := firn.Open(path, feedOptions(-1))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	rows, took, err := followAll(ctx, store, began, journal.Filter{})
	if err != nil || rows != commits {
		return 0, 0, fmt.Errorf("followed %d rows of %d: %w", rows, commits, err)
	}
	rate = float64(rows) / took.Seconds()
	filter := journal.Filter{Tables: []string{"documents"}}
	for i := range followedKeys {
		filter.Prefixes = append(filter.Prefixes, fmt.Appendf(nil, "mine:%d", i))
	}
	if rows, few, err = followAll(ctx, store, began, filter); err != nil || rows != followedKeys*followedEach {
		return 0, 0, fmt.Errorf("followed %d rows of %d: %w", rows, followedKeys*followedEach, err)
	}
	return rate, few, nil
}

// followMemory is how many rows are followed in a second that are in memory.
func followMemory(ctx context.Context, path string, commits int) (rate float64, err error) {
	store, err := firn.Open(path, feedOptions(1<<30))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	began := store.Bounds().Newest
	filled := store.Journal().Follow(began)
	defer filled.Close()
	if err := fill(ctx, store, commits, anyDocument); err != nil {
		return 0, err
	}
	rows, took := 0, time.Duration(0)
	for range followedInRing { // as many rows as from the file
		n, once, err := followAll(ctx, store, began, journal.Filter{})
		if err != nil || n != commits {
			return 0, fmt.Errorf("followed %d rows of %d: %w", n, commits, err)
		}
		rows, took = rows+n, took+once
	}
	return float64(rows) / took.Seconds(), nil
}

// followAll follows from a moment to the newest commit.
func followAll(ctx context.Context, store *firn.Store, from firn.Timestamp, f journal.Filter) (rows int, took time.Duration, err error) {
	newest := store.Bounds().Newest
	f.Bookmark = time.Millisecond // the newest commit may be none that is admitted
	start := time.Now()
	for c, err := range store.Changes(ctx, store.Token(from), f) {
		if err != nil {
			return 0, 0, err
		}
		if rows += len(c.Changes); c.TS >= newest {
			break
		}
	}
	return rows, time.Since(start), nil
}
