// Package retention decides what is still remembered.
//
// The [Horizon] is the oldest timestamp that can be read, and readable
// itself. It only moves forward: to the file first, then in memory, so that
// no reader is ever given an answer about a moment that a crash could take
// away.
package retention

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// HorizonGlobal is the horizon in the file, as a decimal number.
const HorizonGlobal = "horizon"

// ErrCompacted means that a moment is before the horizon: what was then is
// forgotten, which is not the same as "not found".
var ErrCompacted = errors.New("firn: compacted")

// CompactedError says how far back history reaches. It matches ErrCompacted.
type CompactedError struct {
	Asked  schema.Timestamp // the moment that was asked for
	Oldest schema.Timestamp // the oldest that can be read
}

func (e *CompactedError) Error() string {
	return fmt.Sprintf("firn: compacted: asked for %d, oldest readable timestamp is %d", e.Asked, e.Oldest)
}

// Is makes the error match ErrCompacted.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

// Executor runs fn in a transaction of its own on the write session.
type Executor interface {
	Exec(ctx context.Context, fn func(schema.Appender) error) error
}

// Horizon is a store's horizon. Any number of goroutines may read it; one
// advances it.
type Horizon struct{ oldest atomic.Int64 }

// Load reads the horizon from the file. A store that has none yet begins at
// created.
func (h *Horizon) Load(s schema.Session, created schema.Timestamp) error {
	text, ok, err := s.Global(HorizonGlobal)
	if err != nil {
		return err
	}
	oldest := created
	if ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%w: global %s is %q", schema.ErrCorrupt, HorizonGlobal, text)
		}
		oldest = schema.Timestamp(n)
	}
	h.oldest.Store(int64(oldest))
	return nil
}

// Oldest is the oldest timestamp that can be read.
func (h *Horizon) Oldest() schema.Timestamp { return schema.Timestamp(h.oldest.Load()) }

// Check refuses moments before the horizon with a *CompactedError.
func (h *Horizon) Check(ts schema.Timestamp) error {
	if oldest := h.Oldest(); ts < oldest {
		return &CompactedError{Asked: ts, Oldest: oldest}
	}
	return nil
}

// Advance moves the horizon forward to ts; back is a no-op.
func (h *Horizon) Advance(ctx context.Context, w Executor, ts schema.Timestamp) error {
	if ts <= h.Oldest() {
		return nil
	}
	err := w.Exec(ctx, func(a schema.Appender) error {
		return a.SetGlobal(HorizonGlobal, strconv.FormatInt(int64(ts), 10))
	})
	if err != nil {
		return fmt.Errorf("advance horizon to %d: %w", ts, err)
	}
	h.oldest.Store(int64(ts))
	return nil
}
