package retention

import (
	"context"
	"errors"
	"time"

	"github.com/firndb/firn/schema"
)

// pass is one walk along the log for one policy. It keeps the policy's cursor,
// chunk by chunk: a chunk is judged, then what it condemned is deleted, and the
// cursor moves in the transaction that deletes the last of it.
type pass struct {
	c        *Compactor
	ctx      context.Context
	policy   Policy
	counting bool // it counts versions; else it follows the horizon
	report   Report
	barren   *barren
}

func (c *Compactor) newPass(ctx context.Context, p Policy) *pass {
	return &pass{c: c, ctx: ctx, policy: p, barren: newBarren()}
}

// apply brings the policy's cursor to its horizon. A policy that counts
// versions has both: a horizon, if history was pruned on purpose, and a count.
func (c *Compactor) apply(ctx context.Context, p Policy) (Report, error) {
	w := c.newPass(ctx, p)
	err := w.walk()
	if err == nil && p.Versions > 0 {
		w.counting = true
		err = w.walk()
	}
	return w.report, err
}

// walk goes along the log as far as it may.
func (w *pass) walk() error {
	for {
		progress := w.c.opts.State.Progress(w.policy)
		used := w.c.opts.State.usedPolicies() // the pass's policy may not be in use any more
		alone := len(used) == 1 && used[0] == w.policy
		before := w.report
		cursor := progress.cursor(w.policy, w.counting)
		to := w.mayForget()
		if !w.counting {
			to = min(to, progress.Horizon)
		}
		if to <= *cursor || w.ctx.Err() != nil {
			return w.ctx.Err()
		}
		ch := w.newChunk(*cursor, to, alone)
		end, err := ch.walk()
		if err != nil {
			return err
		}
		*cursor = end
		err = w.forget(ch, &progress)
		if err == errStale {
			w.report = before
		} else if err != nil {
			return err
		}
	}
}

// cursor is where a walk is. A policy that counts versions has two: one follows
// its horizon, the other its count.
func (p *Progress) cursor(policy Policy, counting bool) *schema.Timestamp {
	if policy.Versions > 0 && !counting {
		return &p.Pruned
	}
	return &p.Cursor
}

// mayForget is the newest moment up to which the pass may delete what its
// policy does not keep.
func (w *pass) mayForget() schema.Timestamp {
	return min(w.c.opts.Bound(), w.c.opts.Held(w.c.opts.Now()))
}

// passedByAll is the moment up to which nothing can be read, and every other
// policy has forgotten what it does not keep. Policies that count versions are
// left out: they follow documents, and leave shared ones alone.
func (w *pass) passedByAll() schema.Timestamp {
	to := w.c.opts.State.Floor()
	for _, p := range w.c.opts.State.usedPolicies() {
		if p != w.policy && p.Versions == 0 {
			to = min(to, w.c.opts.State.Progress(p).Cursor)
		}
	}
	return to
}

// forget deletes what the chunk has condemned, and saves the progress.
//
// It is errStale if policies have changed since the chunk was begun. Some of it
// was judged by the old ones then, and some by the new.
func (w *pass) forget(ch *chunk, next *Progress) error {
	if w.c.opts.State.stale(*next) {
		return errStale
	}
	if w.counting && len(ch.batch.rows)+len(ch.lost) > 0 {
		if err := w.announce(ch, *next); err != nil {
			return err
		}
	}
	if err := w.forgetOrphans(&ch.judge); err != nil {
		return err
	}
	// A walk along the log finds the rows that a crash has left without their
	// entries. One along the versions of documents does not.
	if err := w.forgetAll(ch.batch, w.counting, next); err != nil {
		return err
	}
	w.c.opts.State.advanced(w.policy, *next)
	return nil
}

// errStale throws a chunk away: what it has condemned may have to stay.
var errStale = errors.New("retention: chunk is stale")

// announce moves Applied, so that who reads later is told what will be
// forgotten. A horizon does that for other policies; here the documents have
// horizons of their own, and nobody may take what is forgotten for what never
// was.
//
// It is errStale if policies have changed since the chunk was judged, or
// somebody has come who reads or holds what is condemned.
func (w *pass) announce(ch *chunk, next Progress) error {
	return w.c.opts.State.Change(func() error {
		if w.c.opts.State.stale(next) {
			return errStale
		}
		now := w.c.opts.State.Progress(w.policy)
		now.Applied = max(now.Applied, ch.applied)
		if err := w.c.opts.State.advance(w.ctx, w.c.opts.Writer, w.policy, now); err != nil {
			return err
		}
		if w.mayForget() < ch.to {
			return errStale
		}
		return nil
	})
}

// forgetAll deletes a batch slice by slice, and writes the progress, if there
// is any, with the last. whole deletes each version together with its entry;
// else all entries go before the first row.
func (w *pass) forgetAll(b condemned, whole bool, next *Progress) error {
	if err := w.sortEntries(&b); err != nil {
		return err
	}
	for done := b.empty() && next == nil; !done; {
		left := b
		err := w.slice(func(a schema.Appender, over func() bool) error {
			left = b
			if err := left.delete(a, w.c.sizes.stepItems, over, whole); err != nil {
				return err
			}
			if done = left.empty(); done && next != nil {
				return w.c.opts.State.write(a, w.policy, *next)
			}
			return nil
		})
		if err != nil {
			return err
		}
		deleted := int64(len(b.rows) - len(left.rows))
		w.report.Rows += deleted
		w.c.stats.rows.Add(deleted)
		if !whole && len(b.entries) > 0 && len(left.entries) == 0 {
			if err := w.sortRows(&left); err != nil {
				return err
			}
		}
		b = left
	}
	return nil
}

// sizes are the limits above. Tests have smaller ones.
type sizes struct {
	chunkRows             int
	chunkWalk             int64
	stepItems             int
	busySlice, quietSlice time.Duration
	orphanPage            int
	pageRows, busyRows    int
	sortPiece             int
}

var defaultSizes = sizes{chunkRows, chunkWalk, stepItems, busySlice, quietSlice, orphanPage, pageRows, busyRows, sortPiece}
