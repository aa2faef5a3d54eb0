package retention

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// CompactorStats are figures about a compactor since it was made.
type CompactorStats struct {
	Passes, Failed int64  // passes that have ended, and those that failed
	Rows           int64  // versions deleted
	Shortened      int64  // times that history was shortened to make room
	Full           bool   // the present alone is larger than the file may be
	Last           Report // of the last pass
	Err            error  // of the last pass; nil: it went well

	// Behind is how far the work is behind the horizons: the greatest distance
	// between a policy's cursor and its horizon.
	Behind time.Duration
}

type compactorStats struct {
	rows, shortened atomic.Int64
	full            atomic.Bool

	mu             sync.Mutex
	passes, failed int64
	last           Report
	err            error
}

func (s *compactorStats) ended(r Report, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passes++
	s.last, s.err = r, err
	if err != nil {
		s.failed++
	}
}

// Stats are the figures now.
func (c *Compactor) Stats() CompactorStats {
	s := &c.stats
	s.mu.Lock()
	defer s.mu.Unlock()
	return CompactorStats{
		Passes: s.passes, Failed: s.failed, Rows: s.rows.Load(), Shortened: s.shortened.Load(), Full: s.full.Load(),
		Last: s.last, Err: s.err, Behind: c.opts.State.behind(),
	}
}

// behind is the greatest distance between a policy's cursor and its horizon.
func (s *State) behind() time.Duration {
	var most schema.Timestamp
	for _, p := range s.usedPolicies() {
		if progress := s.Progress(p); p.Versions == 0 && progress.Cursor > 0 {
			most = max(most, progress.Horizon-progress.Cursor)
		}
	}
	return time.Duration(most) * time.Microsecond
}

// Report is what a pass of the compactor has done.
type Report struct {
	Rows    int64         // versions deleted
	Walked  int64         // rows of the log that were looked at
	Elapsed time.Duration // in all
}

func (r *Report) add(other Report) {
	r.Rows += other.Rows
	r.Walked += other.Walked
	r.Elapsed += other.Elapsed
}
