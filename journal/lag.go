package journal

import (
	"time"

	"github.com/firndb/firn/schema"
)

// Stats are figures about those who follow.
type Stats struct {
	Followers int              // that are open
	Furthest  schema.Timestamp // where the one stands that is furthest behind; 0: there is none
	Lag       time.Duration    // from there to the newest commit
	RingRows  int              // of the newest commits in memory
	RingBytes int64            // what they take
}

// Stats are the figures now.
func (j *Journal) Stats() Stats {
	size := j.ring.Size()
	stats := Stats{RingRows: size.Rows, RingBytes: size.Bytes}
	j.followers.mu.Lock()
	defer j.followers.mu.Unlock()
	for f := range j.followers.all {
		if stats.Followers++; stats.Followers == 1 || f.At() < stats.Furthest {
			stats.Furthest = f.At()
		}
	}
	if stats.Followers > 0 {
		stats.Lag = ago(stats.Furthest, j.opts.Newest())
	}
	return stats
}

// A follower is warned of when less than a quarter of what is kept lies between
// it and the horizon, and again only after it was half way from there: a quarter
// of a day's history leaves six hours to do something about it.
const (
	warnShare  = 4
	quietShare = 2
)

// Passes says that the compactor is about to move the horizon: those who are
// idle hand out bookmarks, and the log is told of those whom the horizon is near.
func (j *Journal) Passes() {
	j.followers.passes.Add(1)
	j.ring.notifyAll()
	now, oldest := j.opts.Newest(), j.opts.Oldest()
	j.followers.mu.Lock()
	defer j.followers.mu.Unlock()
	for f := range j.followers.all {
		left, kept := ago(oldest, f.At()), ago(oldest, now)
		switch {
		case f.At() >= now || left >= kept/quietShare:
			f.warned = false
		case left < kept/warnShare && !f.warned:
			f.warned = true
			j.opts.Logger.Warn("a follower is about to fall behind the horizon", "at", f.At(), "horizon", oldest, "behind", ago(f.At(), now))
		}
	}
}
