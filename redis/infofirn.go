package redis

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"syscall"
	"time"

	"github.com/firndb/firn"
)

// infoFirn is what Redis does not have.
func infoFirn(t *infoText) error {
	b := t.srv.store.Bounds()
	t.add("firn_version", t.srv.opts.Version)
	t.add("incarnation", b.Incarnation)
	t.add("ts", int64(b.Newest))
	t.add("horizon", int64(b.Oldest))
	st := t.srv.store.Stats()
	t.add("fsync", t.srv.opts.Durability)
	t.add("commits", st.Commits)
	t.add("commit_groups", st.Groups)
	t.add("failed_groups", st.FailedGroups)
	t.add("rows", st.Rows)
	t.add("waiting_transactions", st.Waiting)
	t.add("head_documents", st.HeadDocuments)
	t.add("head_ranges", st.HeadRanges)
	t.add("head_bytes", st.HeadBytes)
	t.add("head_budget", st.HeadBudget)
	t.add("tail_entries", st.TailEntries)
	t.add("tail_bytes", st.TailBytes)
	t.add("merged_ts", int64(st.Merged))
	t.add("wal_bytes", st.WALBytes)
	t.add("wal_max_bytes", st.WALMaxBytes)
	t.add("wal_lost_commits", st.WALLostCommits)
	t.add("lock_waits", st.LockWaits)
	t.add("wal_overruns", st.WALOverruns)
	t.add("wal_written_bytes", st.WALWrittenBytes)
	t.add("checkpoints", st.Checkpoints)
	t.add("vacuumed_bytes", st.VacuumedBytes)
	infoFollowers(t, &st)
	infoLive(t)
	t.add("gc_cpu_seconds", fmt.Sprintf("%.6f", collectorSeconds()))
	return infoHistory(t, &st)
}

// infoFollowers is who follows the log, and how far the last is behind.
func infoFollowers(t *infoText, st *firn.Stats) {
	t.add("followers", st.Followers)
	t.add("follower_lag_ms", st.FollowerLag.Milliseconds())
	t.add("followed_bytes", st.FollowedBytes)
}

// infoLive is what is live, and what came of it.
func infoLive(t *infoText) {
	st := t.srv.live.Stats()
	t.add("live_subscriptions", st.Subscriptions)
	t.add("live_queries", st.Queries)
	t.add("live_evaluations", st.Evaluations)
	t.add("live_pushes", st.Pushes)
	t.add("live_false_wakes", st.FalseWakes)
}

// infoHistory is how much of the past is kept, and what forgetting takes.
func infoHistory(t *infoText, st *firn.Stats) error {
	size, free, err := t.srv.store.Space()
	if err != nil {
		return err
	}
	full := 0
	if st.HistoryFull {
		full = 1
	}
	t.add("file_bytes", size)
	t.add("free_bytes", free)
	t.add("history_max_bytes", st.HistoryMaxBytes)
	t.add("history_shortened", st.HistoryShortened)
	t.add("history_full", full)
	t.add("compactions", st.Compactions)
	t.add("failed_compactions", st.FailedCompactions)
	t.add("compaction_last_error", strings.Join(strings.Fields(st.CompactionError), " ")) // on one line
	t.add("compaction_last_ms", st.CompactionTime.Milliseconds())
	t.add("compaction_lag_seconds", int64(st.CompactionLag/time.Second))
	t.add("compacted_versions", st.Compacted)
	t.add("policies", st.Policies)
	t.add("holds", st.Holds)
	t.add("oldest_hold", int64(st.OldestHold))
	return nil
}

// collectorSeconds is the processor time that collecting garbage has taken,
// as the runtime estimates it at the end of each cycle.
func collectorSeconds() float64 {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return sample[0].Value.Float64()
}

// infoCPU is the time that the process has spent on processors.
func infoCPU(t *infoText) error {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return err
	}
	seconds := func(tv syscall.Timeval) string {
		return fmt.Sprintf("%d.%06d", int64(tv.Sec), int64(tv.Usec))
	}
	t.add("used_cpu_sys", seconds(used.Stime))
	t.add("used_cpu_user", seconds(used.Utime))
	t.add("used_cpu_sys_children", "0.000000")
	t.add("used_cpu_user_children", "0.000000")
	t.add("used_cpu_sys_main_thread", seconds(used.Stime))
	t.add("used_cpu_user_main_thread", seconds(used.Utime))
	return nil
}
