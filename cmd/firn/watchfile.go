package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
)

const (
	// lookInterval is how often a file is looked at: whether anything was written
	// to it or to its write-ahead log.
	lookInterval = 100 * time.Millisecond

	// clockTick is longer than the time of a file takes to move on.
	clockTick = 50 * time.Millisecond

	// openShare is how many times as long as opening the store took nothing is
	// opened again: beside a busy server it is a small part of the time.
	openShare = 4
)

// file watches the store in a file until ctx ends. A store that is open for
// reading is a picture of the file, so it is opened again for each look.
func (w *watch) file(ctx context.Context, path string) error {
	if !journal.IsToken(w.token) && w.token != "$" {
		if err := w.resolve(path); err != nil {
			return err
		}
	}
	var seen written
	for looked := false; ; looked = true {
		now := writtenTo(path)
		if now == seen && looked {
			if err := pause(ctx, lookInterval); err != nil {
				return err
			}
			continue
		}
		seen = now
		began := time.Now()
		if began.Sub(now.newest()) < clockTick {
			seen = written{} // what comes next may have the same time
		}
		err := w.look(ctx, path)
		if looked && errors.Is(err, fs.ErrNotExist) {
			err = nil // its server is about to replace it
		}
		if err != nil || w.query.justOnce {
			return err
		}
		if err := pause(ctx, max(lookInterval, openShare*time.Since(began))); err != nil {
			return err
		}
	}
}

// resolve makes a token of the moment to begin with, which would be another one
// later.
func (w *watch) resolve(path string) error {
	return reading(path, "cannot watch", func(store *firn.Store) error {
		ts, err := store.Journal().From(w.token)
		if err == nil {
			w.token = store.Token(ts)
		}
		return err
	})
}

// written is when a store's file and its write-ahead log were written last, and
// how large they are.
type written struct{ file, log stamp }

type stamp struct {
	at   time.Time
	size int64
}

func (w written) newest() time.Time {
	if w.log.at.After(w.file.at) {
		return w.log.at
	}
	return w.file.at
}

func writtenTo(path string) written { return written{stampOf(path), stampOf(path + "-wal")} }

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size()}
}

// look prints all that was committed since.
func (w *watch) look(ctx context.Context, path string) error {
	highest := max(usualDatabases-1, slices.Max(append([]int{0}, w.query.databases...)))
	words := append([]string{"COUNT", pageCommits}, w.query.words()...)
	return reading(path, "cannot watch", func(store *firn.Store) error {
		for ctx.Err() == nil {
			page, err := ask(store, highest, append([]string{"CHANGES", w.token}, words...)...)
			if err != nil {
				return err
			}
			before := w.token
			if err := w.page(&page); err != nil || w.token == before {
				return err
			}
		}
		return ctx.Err()
	})
}

// usualDatabases is how many databases a server has if it is not told.
const usualDatabases = 16
