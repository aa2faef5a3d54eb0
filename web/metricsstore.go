package web

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/live"
)

func writeCommits(x *exposition, f *redis.Figures) {
	st := &f.Store
	x.counter("firn_transactions_total", "Transactions that wrote.", st.Commits)
	x.counter("firn_rows_total", "Rows of the log that they wrote: versions of documents.", st.Rows)
	x.counter("firn_groups_total", "Commits of the file, each of a group of transactions.", st.Groups)
	x.counter("firn_failed_groups_total", "Groups that could not be committed.", st.FailedGroups)
	x.histogram("firn_group_transactions", "Transactions that wrote, of each group.", sizes, &st.GroupSizes)
	x.histogram("firn_group_duration_seconds", "From a group's first transaction to its answers.", durations, &st.GroupTimes)
	x.histogram("firn_fsync_duration_seconds", "Fsyncs of the log; with --fsync always, commits, which an fsync is a part of.", durations, &st.SyncTimes)
	x.gauge("firn_waiting_transactions", "Transactions that wait for the writer.", float64(st.Waiting))
	x.counter("firn_lock_waits_total", "Times that writes have waited for another process's lock on the file.", st.LockWaits)
	x.gauge("firn_newest_timestamp_seconds", "When the newest commit was, in Unix time.", seconds(f.Bounds.Newest))
}

func writeMemory(x *exposition, f *redis.Figures) {
	st := &f.Store
	x.family("firn_memory_bytes", kindGauge, "What takes memory, by part: documents, index entries not merged, commits for followers, what was read, live queries with replies on their way, keys that clients track.")
	x.sample("firn_memory_bytes", float64(st.HeadBytes), "part", "head")
	x.sample("firn_memory_bytes", float64(st.TailBytes), "part", "tail")
	x.sample("firn_memory_bytes", float64(st.FollowedBytes), "part", "ring")
	x.sample("firn_memory_bytes", float64(st.Watching.Bytes), "part", "watches")
	x.sample("firn_memory_bytes", float64(f.Live.Bytes), "part", "live")
	x.sample("firn_memory_bytes", float64(f.TrackingBytes), "part", "tracking")
	x.gauge("firn_head_documents", "Documents in memory.", float64(st.HeadDocuments))
	x.gauge("firn_head_ranges", "Ranges that are in memory as a whole.", float64(st.HeadRanges))
	x.gauge("firn_head_budget_bytes", "What documents in memory may take.", float64(st.HeadBudget))
	x.gauge("firn_head_offheap_bytes", "What was taken for them where the Go runtime does not look.", float64(st.HeadOffHeapBytes))
	x.gauge("firn_tail_entries", "Index entries that are not merged into the file.", float64(st.TailEntries))
	x.counter("firn_merges_total", "Merges of index entries into the file that have ended.", st.Merges)
	x.counter("firn_merged_entries_total", "Index entries that merges have written.", st.MergedEntries)
}

func writeFile(x *exposition, f *redis.Figures, size, free int64) {
	st := &f.Store
	x.gauge("firn_file_bytes", "Size of the file.", float64(size))
	x.gauge("firn_file_free_bytes", "Pages of it that are free for what is written next.", float64(free))
	x.counter("firn_vacuumed_bytes_total", "Bytes returned to the file system.", st.VacuumedBytes)
	x.gauge("firn_wal_bytes", "Size of the write-ahead log's file.", float64(st.WALBytes))
	x.gauge("firn_wal_max_bytes", "Its bound.", float64(st.WALMaxBytes))
	x.counter("firn_wal_written_bytes_total", "Bytes written to the write-ahead log.", st.WALWrittenBytes)
	x.counter("firn_wal_overruns_total", "Times that it has grown past its bound.", st.WALOverruns)
	x.gauge("firn_wal_lost_commits", "Commits behind damage in it that were found when the store was opened.", float64(st.WALLostCommits))
	x.counter("firn_checkpoints_total", "Checkpoints: pages of the write-ahead log moved into the file.", st.Checkpoints)
	x.histogram("firn_checkpoint_duration_seconds", "Runs of checkpoints, those that leave pages over included.", durations, &st.CheckpointTimes)
}

func writeHistory(x *exposition, f *redis.Figures, now time.Time) {
	st := &f.Store
	x.gauge("firn_horizon_age_seconds", "How far back history can be read everywhere.", age(f.Bounds.Oldest, now))
	x.gauge("firn_compaction_lag_seconds", "How far the compactor is behind the horizons.", st.CompactionLag.Seconds())
	x.gauge("firn_compaction_last_duration_seconds", "What its last pass took.", st.CompactionTime.Seconds())
	x.counter("firn_compactions_total", "Passes of the compactor.", st.Compactions)
	x.counter("firn_failed_compactions_total", "Passes that failed.", st.FailedCompactions)
	x.counter("firn_compacted_versions_total", "Versions that were deleted.", st.Compacted)
	x.gauge("firn_history_max_bytes", "Size of the file from which the oldest history makes room; 0: none.", float64(st.HistoryMaxBytes))
	x.counter("firn_history_shortened_total", "Times that history was shortened to make room.", st.HistoryShortened)
	x.gauge("firn_history_full", "1 if the present alone takes more than firn_history_max_bytes.", truth(st.HistoryFull))
	x.gauge("firn_policies", "Policies that are set.", float64(st.Policies))
	x.gauge("firn_holds", "Holds that have not expired.", float64(st.Holds))
	x.gauge("firn_oldest_hold_age_seconds", "How old the oldest moment is that is held; 0: none is.", age(st.OldestHold, now))
}

func writeJournal(x *exposition, f *redis.Figures) {
	st := &f.Store
	x.gauge("firn_followers", "Followers of the feed.", float64(st.Followers))
	x.gauge("firn_follower_lag_seconds", "How far the last of them is behind the newest commit.", st.FollowerLag.Seconds())
	x.gauge("firn_watches", "Queries that wait for what they read to change.", float64(st.Watching.Watches))
	x.counter("firn_wakes_total", "Times that what one of them read has changed, or may have.", st.Watching.Wakes)
	x.counter("firn_false_wakes_total", "Wakes after which the answer was found to be the same.", st.Watching.FalseWakes)
	x.counter("firn_recorded_queries_total", "Queries that were run with a record of what they read.", st.Watching.Evaluations)
	x.counter("firn_matcher_overruns_total", "Times that everything was woken, because matching fell behind the commits in memory.", st.Watching.FallenBehind)
}

func writeLive(x *exposition, l *live.Stats) {
	x.gauge("firn_live_subscriptions", "Subscriptions of LIVE, of all clients.", float64(l.Subscriptions))
	x.gauge("firn_live_queries", "Queries that they share.", float64(l.Queries))
	x.counter("firn_live_evaluations_total", "Evaluations of these queries.", l.Evaluations)
	x.counter("firn_live_pushes_total", "Replies that were pushed to clients.", l.Pushes)
	x.counter("firn_live_false_wakes_total", "Evaluations that gave the same reply as before.", l.FalseWakes)
}

// seconds is a timestamp in Unix time.
func seconds(ts firn.Timestamp) float64 { return float64(ts) / 1e6 }

// age is how long ago a timestamp is; 0 for none.
func age(ts firn.Timestamp, now time.Time) float64 {
	if ts == 0 {
		return 0
	}
	return max(0, float64(now.UnixMicro()-int64(ts))/1e6)
}
