package retention

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// ErrUnfinished means that maintenance was ended when some of it was done.
var ErrUnfinished = errors.New("firn: the work is not finished")

// Forget deletes the versions of a document that were replaced at or before a
// moment, and what they owned, whatever its policy. The caller has made sure
// that nobody reads at a moment before, or will: pins are not looked at. While
// the compactor is suspended it waits.
func (c *Compactor) Forget(ctx context.Context, id schema.TableID, document string, before schema.Timestamp) (Report, error) {
	began := time.Now()
	var all Report
	for {
		report, err := c.forgetUnlessSuspended(ctx, id, document, before)
		all.add(report)
		if err == errSuspended {
			err = WaitUntil(ctx, func() bool { return c.suspended.Load() == 0 })
			if err == nil {
				continue
			}
		}
		all.Elapsed = time.Since(began)
		if err == nil {
			c.stats.ended(all, nil)
		}
		return all, err
	}
}

func (c *Compactor) forgetUnlessSuspended(ctx context.Context, id schema.TableID, document string, before schema.Timestamp) (Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.opts.Table(id)
	p, _ := c.opts.State.Effective(t.scope(document))
	w := c.newPass(ctx, p)
	before = min(before, c.opts.Held(c.opts.Now()))
	for more := true; more; {
		ch := w.newChunk(0, before, false)
		err := c.read(func(s schema.Session) error {
			ch.session = s
			newest, err := s.Versions(nil, schema.ByID(id), document, 0, before, true, 1)
			if err != nil || len(newest) == 0 {
				return err
			}
			if err := ch.trim(t, document, newest[0].TS, true); err != nil {
				return err
			}
			return ch.judgeTrims()
		})
		if more = err == errFull; err != nil && !more {
			return w.report, err
		}
		if err := w.forgetOrphans(&ch.judge); err != nil {
			return w.report, err
		}
		if err := w.forgetAll(ch.batch, true, nil); err != nil {
			return w.report, err
		}
	}
	return w.report, nil
}

// waitStep is how often is looked at what is waited for.
const waitStep = 2 * time.Millisecond

// WaitUntil waits until something is so, or ctx ends.
func WaitUntil(ctx context.Context, so func() bool) error {
	if so() {
		return nil
	}
	ticker := time.NewTicker(waitStep)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if so() {
				return nil
			}
		}
	}
}
