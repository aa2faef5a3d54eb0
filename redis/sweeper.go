package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
)

const (
	sweepInterval = 100 * time.Millisecond // Redis looks ten times a second, too
	sweepBatch    = 500                    // keys and fields per transaction: others wait for one
)

// Sweeper ends keys, and fields of hashes, that have expired, so that history says when they went
// and nothing has to pass over them. Reads treat them as absent already
// before: what they see does not depend on it.
//
// Run is the only goroutine, started and owned by the caller and stopped by
// its context; the store must stay open until Run has returned. The clock is
// the store's.
type Sweeper struct {
	store  *firn.Store
	keys   *firn.Table
	expiry *firn.Index
	hashes *catalog // where fields are
}

// NewSweeper makes the sweeper of a store that was opened with Tables.
func NewSweeper(store *firn.Store) *Sweeper {
	keys := store.Table(keysTable)
	return &Sweeper{store: store, keys: keys, expiry: keys.Index(expiryIndex), hashes: newCatalog(store, 1)}
}

// Run sweeps until ctx ends or the store is closed, then returns nil. When the
// store cannot take writes for now, as when its disk is full, Run tries again
// later; other errors it returns.
func (s *Sweeper) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := s.sweep(ctx)
		switch {
		case ctx.Err() != nil, errors.Is(err, firn.ErrClosed):
			return nil
		case err != nil && !errors.Is(err, firn.ErrBusy) && !errors.Is(err, firn.ErrFull):
			return fmt.Errorf("sweep: %w", err)
		}
	}
}

// sweep ends all keys that are due.
func (s *Sweeper) sweep(ctx context.Context) error {
	for ctx.Err() == nil {
		due, err := s.due()
		if err != nil || !due {
			return err
		}
		if _, err := s.step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// due says whether a key has expired, by a look at the first entry of the
// index.
func (s *Sweeper) due() (due bool, err error) {
	err = s.store.View(func(snapshot *firn.Snapshot) error {
		for _, err := range snapshot.Scan(s.expiredAt(snapshot, 1)) {
			due = err == nil
			return err
		}
		return nil
	})
	return due, err
}

// expiredAt is the entries of keys that have expired, at most limit.
func (s *Sweeper) expiredAt(r firn.Reader, limit int) firn.Range {
	return firn.Range{Index: s.expiry, To: schema.AppendInt(nil, r.Moment().Millis()), Limit: limit}
}

// step ends up to sweepBatch keys that are due, in one transaction, and
// returns how many.
func (s *Sweeper) step(ctx context.Context) (n int, err error) {
	_, err = s.store.Update(ctx, func(tx *firn.Tx) error {
		var due []*firn.Document
		for item, err := range tx.Scan(s.expiredAt(tx, sweepBatch)) {
			if err != nil {
				return err
			}
			due = append(due, item.Doc)
		}
		n = len(due)
		return s.end(tx, due)
	})
	return n, err
}

// end writes the tombstones of keys that have expired, and removes the fields
// that have where the hash lives on, up to sweepBatch of them: what is left is
// still due afterwards.
func (s *Sweeper) end(tx *firn.Tx, due []*firn.Document) error {
	fields := sweepBatch
	for _, doc := range due {
		k, err := parseKeyDoc(doc)
		if err != nil {
			return err
		}
		if !k.ended(tx.Moment().Millis()) {
			n, err := s.hashes.sweepFields(tx, doc, &k, fields)
			if err != nil {
				return err
			}
			if fields -= n; fields == 0 {
				return nil
			}
			continue
		}
		note := newKeyDoc(operationExpired, &keyDoc{Kind: k.Kind, Version: k.Version + 1, Created: k.Created})
		if err := tx.Delete(s.keys, []byte(doc.ID), note); err != nil {
			return err
		}
	}
	return nil
}
