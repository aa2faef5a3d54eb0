package firn

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// upkeep is the long work on the whole file that callers wait for: Prune,
// Compact, Forget, Vacuum. The zero upkeep is ready.
type upkeep struct {
	mu      sync.Mutex
	ended   bool // no more may begin
	next    int
	cancels map[int]context.CancelCauseFunc // of what is under way
	running sync.WaitGroup
}

// begin gives a piece of work its context, which stop ends with ErrClosed. The
// caller calls end when the work is over.
func (u *upkeep) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.ended {
		return nil, nil, ErrClosed
	}
	if u.cancels == nil {
		u.cancels = map[int]context.CancelCauseFunc{}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	number := u.next
	u.next++
	u.cancels[number] = cancel
	u.running.Add(1)
	return ctx, func() {
		u.mu.Lock()
		delete(u.cancels, number)
		u.mu.Unlock()
		cancel(nil)
		u.running.Done()
	}, nil
}

// stop ends what is under way, waits for it, and refuses more.
func (u *upkeep) stop() {
	u.mu.Lock()
	u.ended = true
	for _, cancel := range u.cancels {
		cancel(ErrClosed)
	}
	u.mu.Unlock()
	u.running.Wait()
}

// errUnfinished is ErrClosed of work that had begun.
var errUnfinished = fmt.Errorf("%w: %w", ErrClosed, retention.ErrUnfinished)

// upkeepError is the error of work that has ended with err: errUnfinished if
// that was why, however what it was doing has put it.
func upkeepError(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), ErrClosed) {
		return errUnfinished
	}
	return writeError(err)
}

// EndMaintenance ends what takes long, and waits until it has: a Prune,
// Compact, Forget, Vacuum or Backup that is under way stops after its slice,
// in a few ms, and is ErrClosed, as is what is asked for later. What is not a
// backup is retention.ErrUnfinished too: some of it is done. Reads and writes
// go on. What a Prune has left is forgotten after the next Open.
//
// Close does the same. A server calls EndMaintenance when it begins to shut
// down, and waits for its clients then.
func (s *Store) EndMaintenance() {
	s.upkeep.stop()
	s.copying.stop()
}

// copying is the backup that is under way.
type copying struct {
	target schema.Options // of the copies; zero but in tests

	mu     sync.Mutex
	ended  bool // the store closes
	cancel context.CancelCauseFunc
	done   chan struct{} // closed at the end of the backup; nil: there is none
}

var errCopying = errors.New("another backup is under way")

func (c *copying) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return nil, nil, ErrClosed
	case c.done != nil:
		return nil, nil, errCopying
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	c.done = make(chan struct{})
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel(nil)
		close(c.done)
		c.done = nil
	}, nil
}

// stopped says that the store closes.
func (c *copying) stopped() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// stop ends the backup that is under way, waits for it, and refuses others.
func (c *copying) stop() {
	c.mu.Lock()
	c.ended = true
	done := c.done
	if done != nil {
		c.cancel(ErrClosed)
	}
	c.mu.Unlock()
	if done != nil {
		<-done
	}
}
