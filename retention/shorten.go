package retention

import (
	"context"
	"time"

	"github.com/firndb/firn/schema"
)

// When the file is larger than it may be, the horizons move over the oldest
// part of the log, whatever the policies say, until it is small enough or
// nothing but the present is left. A part is so many rows, or about so many
// bytes.
const (
	shortenRows  = 1 << 15
	shortenBytes = 16 << 20

	// shortenLog is how often the log tells of it at most: a store that is
	// written all the time is shortened all the time.
	shortenLog = time.Minute
)

// shorten makes the file as small as it must be, or as small as it can be.
func (c *Compactor) shorten(ctx context.Context, report *Report) error {
	used, err := c.opts.Used()
	if err != nil {
		return err
	}
	before, passed := used, schema.Timestamp(0)
	for used > c.opts.MaxBytes {
		to, err := c.oldestHistory(ctx)
		if err != nil {
			return err
		}
		if to == 0 {
			break
		}
		if err := c.pruneTo(ctx, to); err != nil {
			return err
		}
		more, err := c.pass(ctx)
		if report.add(more); err != nil {
			return err
		}
		c.stats.shortened.Add(1)
		passed = to
		if used, err = c.opts.Used(); err != nil {
			return err
		}
	}
	c.tellShortened(before, used, passed)
	return nil
}

// tellShortened logs what shorten has done, if it is news.
func (c *Compactor) tellShortened(before, used int64, passed schema.Timestamp) {
	log, most := c.opts.Logger, c.opts.MaxBytes
	if passed > 0 && time.Since(c.told) >= shortenLog {
		c.told = time.Now()
		log.Warn("history was shortened: the file was larger than it may be", "bytes", before, "now", used, "most", most, "horizon", passed)
	}
	switch full := used > most; {
	case c.stats.full.Swap(full) == full:
	case full:
		log.Warn("the file is larger than it may be, and no history is left that may be forgotten", "bytes", used, "most", most)
	default:
		log.Info("the file is no larger than it may be again", "bytes", used, "most", most)
	}
}

// oldestHistory is the moment to which the horizons must move to pass the
// oldest part of the log; 0 if nothing may be passed.
func (c *Compactor) oldestHistory(ctx context.Context) (to schema.Timestamp, err error) {
	if err := c.merge(ctx, schema.MaxTimestamp); err != nil {
		return 0, err
	}
	bound := min(c.opts.Bound(), c.opts.Held(c.opts.Now()))
	from := bound
	for _, p := range c.opts.State.usedPolicies() {
		progress := c.opts.State.Progress(p)
		from = min(from, *progress.cursor(p, false))
	}
	err = c.read(func(s schema.Session) error {
		size := 0
		_, _, err := s.Walk(behind(from), bound, shortenRows, func(v *schema.Visit) (bool, error) {
			if size >= shortenBytes {
				return false, nil
			}
			to = v.TS
			size += len(v.ID) + v.ValueBytes
			return true, ctx.Err()
		})
		return err
	})
	return to, err
}
