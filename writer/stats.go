package writer

import (
	"sync/atomic"

	"github.com/firndb/firn/internal/spread"
)

// stats counts what the writer has done since it was made.
type stats struct {
	groups, failedGroups, commits, rows, checkpoints, walPages, walOverruns, vacuumed, lockWaits, merges, merged atomic.Int64

	groupSizes, groupTimes, syncTimes, checkpointTimes spread.Spread
}

func (s *stats) count(commits, rows int) {
	s.groups.Add(1)
	s.commits.Add(int64(commits))
	s.rows.Add(int64(rows))
}

// Stats is what the writer has done since it was made.
type Stats struct {
	Groups       int64 // commits of the file
	FailedGroups int64
	Commits      int64 // transactions that wrote
	Rows         int64
	Checkpoints  int64
	WALPages     int64 // pages written to the write-ahead log, to within the last few groups
	WALOverruns  int64 // times that the log has grown past its bound
	Vacuumed     int64 // pages returned to the file system
	LockWaits    int64 // times that jobs waited for another process's lock
	Waiting      int   // transactions in the queue
	Merges       int64 // of the tail into the file, that have come to their end
	Merged       int64 // index entries that were written so

	Err error // why the writer has stopped; nil: it has not
}

// Spreads is how what the writer has done since it was made is distributed.
type Spreads struct {
	GroupSizes      spread.Counts // transactions that wrote, of each group
	GroupTimes      spread.Counts // ns, from a group's first transaction to its answers
	SyncTimes       spread.Counts // ns, of each fsync of the log; with Always, of the commit that it is a part of
	CheckpointTimes spread.Counts // ns, of each run of one, those that leave pages over included
}

// Stats may be called at any time.
func (w *Writer) Stats() Stats {
	return Stats{
		Groups:       w.stats.groups.Load(),
		FailedGroups: w.stats.failedGroups.Load(),
		Commits:      w.stats.commits.Load(),
		Rows:         w.stats.rows.Load(),
		Checkpoints:  w.stats.checkpoints.Load(),
		WALPages:     w.stats.walPages.Load(),
		WALOverruns:  w.stats.walOverruns.Load(),
		Vacuumed:     w.stats.vacuumed.Load(),
		LockWaits:    w.stats.lockWaits.Load(),
		Waiting:      w.queue.waiting(),
		Merges:       w.stats.merges.Load(),
		Merged:       w.stats.merged.Load(),

		Err: w.failure(),
	}
}

// Spreads may be called at any time.
func (w *Writer) Spreads() Spreads {
	return Spreads{
		GroupSizes:      w.stats.groupSizes.Counts(),
		GroupTimes:      w.stats.groupTimes.Counts(),
		SyncTimes:       w.stats.syncTimes.Counts(),
		CheckpointTimes: w.stats.checkpointTimes.Counts(),
	}
}
