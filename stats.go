package firn

import (
	"time"

	"github.com/firndb/firn/internal/spread"
	"github.com/firndb/firn/journal"
)

// Stats are figures about a store since it was opened.
type Stats struct {
	Path       string
	Durability Durability

	Groups, FailedGroups int64 // commits of the file, and those that failed
	Commits, Rows        int64 // transactions that wrote, and their rows
	Waiting              int   // transactions in the queue

	GroupSizes      spread.Counts // transactions that wrote, of each group
	GroupTimes      spread.Counts // ns, from a group's first transaction to its answers
	SyncTimes       spread.Counts // ns, of each fsync of the log; with Always, of the commit that it is a part of
	CheckpointTimes spread.Counts // ns, of each run of one

	HeadDocuments, HeadRanges int   // what is in memory
	HeadBytes, HeadBudget     int64 // its size and the most it may be
	HeadOffHeapBytes          int64 // taken for it where the Go runtime does not look
	TailEntries               int   // index entries not merged yet
	TailBytes                 int64
	Merged                    Timestamp // everything up to here is merged
	Merges, MergedEntries     int64     // merges that have ended, and entries that were written by any

	WALBytes        int64 // the write-ahead log's file now
	WALWrittenBytes int64 // written to it in all
	WALMaxBytes     int64 // its bound
	WALOverruns     int64 // times that it has grown past it
	WALLostCommits  int64 // found behind damage in it when the store was opened
	LockWaits       int64 // times that writes have waited for another process's lock
	Checkpoints     int64
	VacuumedBytes   int64 // returned to the file system

	Compactions, FailedCompactions int64         // passes of the compactor, see Compact
	CompactionError                string        // of the last pass; empty if it went well
	CompactionTime                 time.Duration // that the last pass took
	CompactionLag                  time.Duration // how far it is behind the horizons
	Compacted                      int64         // versions deleted
	HistoryMaxBytes                int64         // 0: no bound
	HistoryShortened               int64         // times that history was shortened to make room
	HistoryFull                    bool          // the present alone is larger than HistoryMaxBytes

	Followers     int           // see Store.Changes
	FollowerLag   time.Duration // how far the last of them is behind the newest commit
	FollowedBytes int64         // of the newest commits in memory, for them

	Watching journal.WatchStats // who waits for what was read to change, see Store.Watch

	Policies   int       // that are set
	Holds      int       // that have not expired
	OldestHold Timestamp // the oldest moment that is held; 0: none

	Err error // why nothing can be written any more; nil: it can
}

// walPageBytes is what a page of 4,096 bytes takes in the write-ahead log.
const walPageBytes = 4096 + 24

// Stats are the figures now.
func (s *Store) Stats() Stats {
	w, head := s.writer.Stats(), s.head.Size()
	_, tail := s.tail.Size()
	stats := Stats{
		Path:          s.engine.Path(),
		Durability:    s.opts.Durability,
		Groups:        w.Groups,
		FailedGroups:  w.FailedGroups,
		Commits:       w.Commits,
		Rows:          w.Rows,
		Waiting:       w.Waiting,
		Merges:        w.Merges,
		MergedEntries: w.Merged,
		Err:           w.Err,
		HeadDocuments: head.Documents,
		HeadRanges:    head.Ranges,
		HeadBytes:     head.Bytes,
		HeadBudget:    s.opts.Memory,

		HeadOffHeapBytes: head.OffHeap,
		TailEntries:      tail.Entries,
		TailBytes:        tail.Bytes,
		Merged:           s.tail.Watermark(),
		WALBytes:         s.engine.WALBytes(),
		WALWrittenBytes:  w.WALPages * walPageBytes,
		WALMaxBytes:      s.opts.WALMaxBytes,
		WALOverruns:      w.WALOverruns,
		WALLostCommits:   s.engine.Damage().Commits,
		LockWaits:        w.LockWaits,
		Checkpoints:      w.Checkpoints,
		VacuumedBytes:    w.Vacuumed * pageBytes,
		HistoryMaxBytes:  s.opts.HistoryMaxBytes,
	}
	followers := s.journal.Stats()
	stats.Followers, stats.FollowerLag, stats.FollowedBytes = followers.Followers, followers.Lag, followers.RingBytes
	stats.Watching = s.journal.Watching()
	spreads := s.writer.Spreads()
	stats.GroupSizes, stats.GroupTimes = spreads.GroupSizes, spreads.GroupTimes
	stats.SyncTimes, stats.CheckpointTimes = spreads.SyncTimes, spreads.CheckpointTimes
	if s.closed.Load() {
		stats.Err = ErrClosed
	}
	addCompaction(s, &stats)
	return stats
}

// addCompaction adds what is forgotten, and what is kept.
func addCompaction(s *Store, stats *Stats) {
	c := s.compactor.Stats()
	stats.Compactions, stats.FailedCompactions, stats.Compacted = c.Passes, c.Failed, c.Rows
	stats.CompactionTime, stats.CompactionLag = c.Last.Elapsed, c.Behind
	stats.HistoryShortened, stats.HistoryFull = c.Shortened, c.Full
	if c.Err != nil {
		stats.CompactionError = c.Err.Error()
	}
	stats.Policies = s.state.Policies()
	for _, h := range s.Holds() {
		if stats.Holds++; stats.Holds == 1 || h.At < stats.OldestHold {
			stats.OldestHold = h.At
		}
	}
}

// Space is how large the file is, and how much of it is free for what is
// written next.
func (s *Store) Space() (fileBytes, freeBytes int64, err error) {
	if s.closed.Load() {
		return 0, 0, ErrClosed
	}
	return spaceOf(s)
}

func spaceOf(s *Store) (fileBytes, freeBytes int64, err error) {
	session, err := s.engine.Session()
	if err != nil {
		return 0, 0, err
	}
	defer session.Close()
	space, err := session.Space()
	return space.Pages * space.PageBytes, space.FreePages * space.PageBytes, err
}
