package redis

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

var serverCommands = []command.Command{
	{
		Name: "INFO", Args: "[section [section ...]]", Max: -1, Flags: command.Local | command.OnWorker | command.Loading | command.Stale,
		Categories: command.CatDangerous,
		Group:      "server", Since: "1.0.0", Complexity: "O(1), and now and then the keys that expire",
		Tips:    []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
		Summary: "Returns information and statistics about the server.",
		Run:     serverInfo,
	},
	{
		Name: "TIME", Flags: command.Local | command.Fast | command.Random | command.Loading | command.Stale,
		Group: "server", Since: "2.6.0", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Returns the server time.",
		Run:     serverTime,
	},
	{
		Name: "SHUTDOWN", Args: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", Max: -1,
		Flags: command.Local | command.Admin | command.NoMulti | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Ends the server cleanly: batches in flight are finished first.",
		Differs: "There is nothing to save, so the options change nothing. ABORT is refused, since nothing is waited for.",
		Run:     serverShutdown,
	},
}

func serverTime(c *command.Call) error {
	now := sessionOf(c).srv.opts.Now().UnixMicro()
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatInt(now/1e6, 10))
	c.Reply.BulkString(strconv.FormatInt(now%1e6, 10))
	return nil
}

func serverShutdown(c *command.Call) error {
	srv := sessionOf(c).srv
	var save, noSave, abort bool
	for _, arg := range c.Args {
		switch {
		case command.Is(arg, "NOW"), command.Is(arg, "FORCE"):
		case command.Is(arg, "NOSAVE"):
			noSave = true
		case command.Is(arg, "SAVE"):
			save = true
		case command.Is(arg, "ABORT"):
			abort = true
		default:
			return command.ErrSyntax
		}
	}
	if save && noSave || abort && len(c.Args) > 1 {
		return command.ErrSyntax
	}
	if abort {
		return resp.Error("ERR No shutdown in progress.")
	}
	busy := srv.scripts.Busy()
	if busy != scripting.NotBusy && !noSave {
		return busy.Error()
	}
	if srv.opts.Shutdown == nil {
		return resp.Error("ERR Errors trying to SHUTDOWN. Check logs.")
	}
	if busy != scripting.NotBusy {
		srv.EndScripts()
	}
	sessionOf(c).closing = true
	srv.shutdown.Do(srv.opts.Shutdown)
	return nil
}

// section is a part of INFO.
type section struct {
	name    string
	usual   bool // shown when no section is asked for
	compile func(*infoText) error
}

var sections = []section{
	{"Server", true, infoServer},
	{"Clients", true, infoClients},
	{"Memory", true, infoMemory},
	{"Persistence", true, infoPersistence},
	{"Stats", true, infoStats},
	{"Replication", true, infoReplication},
	{"CPU", true, infoCPU},
	{"Modules", true, func(*infoText) error { return nil }},
	{"Commandstats", false, infoCommands},
	{"Errorstats", true, infoErrors},
	{"Latencystats", false, infoLatency},
	{"Cluster", true, func(t *infoText) error { t.add("cluster_enabled", 0); return nil }},
	{"Keyspace", true, infoKeyspace},
	{"Firn", true, infoFirn},
}

// infoText is INFO's answer in the making.
type infoText struct {
	bytes.Buffer
	srv  *Server
	call *command.Call
}

func (t *infoText) add(name string, value any) { fmt.Fprintf(t, "%s:%v\r\n", name, value) }

// addAll adds fields from pairs of a name and a value.
func (t *infoText) addAll(pairs ...any) {
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(t, "%s:%v\r\n", pairs[i], pairs[i+1])
	}
}

// zeros adds what Redis tells and what is always zero here.
func (t *infoText) zeros(names string) {
	for name := range strings.FieldsSeq(names) {
		t.add(name, 0)
	}
}

// serverInfo runs where it may wait, since it counts keys.
func serverInfo(c *command.Call) error {
	t := &infoText{srv: sessionOf(c).srv, call: c}
	t.srv.stats.countKeys(c.Work)
	for _, s := range sections {
		if !s.asked(c.Args) {
			continue
		}
		if t.Len() > 0 {
			t.WriteString("\r\n")
		}
		fmt.Fprintf(t, "# %s\r\n", s.name)
		if err := s.compile(t); err != nil {
			return fmt.Errorf("info %s: %w", strings.ToLower(s.name), err)
		}
	}
	c.Reply.Verbatim("txt", t.String())
	return nil
}

func (s *section) asked(args [][]byte) bool {
	for _, arg := range args {
		if command.Is(arg, "ALL") || command.Is(arg, "EVERYTHING") || command.Is(arg, strings.ToUpper(s.name)) || command.Is(arg, "DEFAULT") && s.usual {
			return true
		}
	}
	return len(args) == 0 && s.usual
}

func infoServer(t *infoText) error {
	srv := t.srv
	now := srv.opts.Now()
	up := now.Sub(srv.started)
	program, err := os.Executable()
	if err != nil {
		program = ""
	}
	t.addAll(
		"redis_version", redisVersion,
		"redis_git_sha1", "00000000",
		"redis_git_dirty", 0,
		"redis_build_id", 0,
		"redis_mode", "standalone",
		"os", osName(),
		"arch_bits", strconv.IntSize,
		"monotonic_clock", "POSIX clock_gettime",
		"multiplexing_api", "epoll",
		"atomicvar_api", "go",
		"gcc_version", "0.0.0",
		"process_id", os.Getpid(),
		"process_supervised", "no",
		"run_id", srv.runID,
		"tcp_port", cmp.Or(srv.opts.Port, srv.opts.TLSPort),
		"server_time_usec", now.UnixMicro(),
		"uptime_in_seconds", int64(up.Seconds()),
		"uptime_in_days", int64(up.Hours()/24),
		"hz", srv.config.hz.Load(),
		"configured_hz", srv.config.hz.Load(),
		"lru_clock", now.Unix()&(1<<24-1),
		"executable", program,
		"config_file", "",
		"io_threads_active", 0,
	)
	return nil
}

func infoClients(t *infoText) error {
	tracking, _, _, _ := t.srv.tracking.Counts()
	t.add("connected_clients", t.srv.clients.count())
	t.add("cluster_connections", 0)
	t.add("maxclients", t.srv.config.maxClients.Load())
	t.add("blocked_clients", t.srv.blockedClients())
	t.add("tracking_clients", tracking)
	t.zeros("client_recent_max_input_buffer client_recent_max_output_buffer clients_in_timeout_table")
	return nil
}

func infoMemory(t *infoText) error {
	m := t.srv.memory()
	system := systemMemory()
	sizes := func(name string, n uint64) { t.addAll(name, n, name+"_human", human(n)) }
	sizes("used_memory", m.used)
	sizes("used_memory_rss", m.resident)
	sizes("used_memory_peak", m.peak)
	t.addAll(
		"used_memory_peak_perc", fmt.Sprintf("%.2f%%", percent(m.used, m.peak)),
		"used_memory_overhead", m.used-m.data,
		"used_memory_startup", 0,
		"used_memory_dataset", m.data,
		"used_memory_dataset_perc", fmt.Sprintf("%.2f%%", percent(m.data, m.used)),
		"allocator_allocated", m.used,
		"allocator_active", m.heap,
		"allocator_resident", m.total,
	)
	sizes("total_system_memory", system)
	if err := infoScripts(t, sizes); err != nil {
		return err
	}
	sizes("maxmemory", 0)
	t.addAll(
		"maxmemory_policy", t.srv.config.kept("maxmemory-policy", "noeviction"),
		"allocator_frag_ratio", ratio(m.heap, m.used),
		"allocator_frag_bytes", int64(m.heap)-int64(m.used),
		"allocator_rss_ratio", ratio(m.total, m.heap),
		"allocator_rss_bytes", int64(m.total)-int64(m.heap),
		"rss_overhead_ratio", ratio(m.resident, m.total),
		"rss_overhead_bytes", int64(m.resident)-int64(m.total),
		"mem_fragmentation_ratio", ratio(m.resident, m.used),
		"mem_fragmentation_bytes", int64(m.resident)-int64(m.used),
	)
	t.zeros("mem_not_counted_for_evict mem_replication_backlog mem_total_replication_buffers mem_clients_slaves " +
		"mem_clients_normal mem_cluster_links mem_aof_buffer")
	t.add("mem_allocator", runtime.Version())
	t.zeros("active_defrag_running lazyfree_pending_objects lazyfreed_objects")
	return nil
}

func percent(part, whole uint64) float64 { return 100 * float64(part) / float64(max(whole, 1)) }

func over(a, b uint64) float64 { return float64(a) / float64(max(b, 1)) }

func ratio(a, b uint64) string { return fmt.Sprintf("%.2f", over(a, b)) }

func infoPersistence(t *infoText) error {
	t.zeros("loading async_loading current_cow_peak current_cow_size current_cow_size_age")
	t.add("current_fork_perc", "0.00")
	t.zeros("current_save_keys_processed current_save_keys_total")
	t.addAll(
		"rdb_changes_since_last_save", t.srv.stats.unsaved(),
		"rdb_bgsave_in_progress", 0,
		"rdb_last_save_time", t.srv.lastSave(),
		"rdb_last_bgsave_status", "ok",
		"rdb_last_bgsave_time_sec", -1,
		"rdb_current_bgsave_time_sec", -1,
		"rdb_saves", t.srv.stats.saves.Load(),
	)
	t.zeros("rdb_last_cow_size rdb_last_load_keys_expired rdb_last_load_keys_loaded")
	t.add("aof_enabled", 1)
	t.zeros("aof_rewrite_in_progress aof_rewrite_scheduled")
	t.addAll(
		"aof_last_rewrite_time_sec", -1,
		"aof_current_rewrite_time_sec", -1,
		"aof_last_bgrewrite_status", "ok",
	)
	t.zeros("aof_rewrites aof_rewrites_consecutive_failures")
	t.add("aof_last_write_status", "ok")
	t.add("aof_last_cow_size", 0)
	t.zeros("module_fork_in_progress module_fork_last_cow_size")
	st := t.srv.store.Stats()
	t.add("aof_current_size", st.WALBytes)
	t.add("aof_base_size", 0)
	t.zeros("aof_pending_rewrite aof_buffer_length aof_pending_bio_fsync aof_delayed_fsync")
	return nil
}

func infoStats(t *infoText) error {
	st := &t.srv.stats
	now := t.srv.sample()
	calls, read, wrote := st.rates.perSecond(now)
	_, failed := st.errorCounts()
	t.addAll(
		"total_connections_received", st.connections.Load(),
		"total_commands_processed", now.calls,
		"instantaneous_ops_per_sec", int64(calls+0.5),
		"total_net_input_bytes", st.bytesIn.Load(),
		"total_net_output_bytes", st.bytesOut.Load(),
	)
	t.zeros("total_net_repl_input_bytes total_net_repl_output_bytes")
	t.addAll(
		"instantaneous_input_kbps", fmt.Sprintf("%.2f", read/1024),
		"instantaneous_output_kbps", fmt.Sprintf("%.2f", wrote/1024),
		"instantaneous_input_repl_kbps", "0.00",
		"instantaneous_output_repl_kbps", "0.00",
		"rejected_connections", st.rejected.Load(),
	)
	t.zeros("sync_full sync_partial_ok sync_partial_err")
	t.add("expired_keys", st.expired.Load())
	t.add("expired_stale_perc", "0.00")
	t.zeros("expired_time_cap_reached_count expire_cycle_cpu_milliseconds")
	t.add("evicted_keys", 0)
	_, _, evicted := t.srv.scripts.Cached()
	t.add("evicted_scripts", evicted)
	t.zeros("evicted_clients total_eviction_exceeded_time current_eviction_exceeded_time")
	t.addAll("keyspace_hits", st.hits.Load(), "keyspace_misses", st.misses.Load())
	channels, patterns, shards := t.srv.pubsub.Counts()
	t.addAll("pubsub_channels", channels, "pubsub_patterns", patterns, "latest_fork_usec", 0, "pubsubshard_channels", shards)
	t.zeros("total_forks migrate_cached_sockets slave_expires_tracked_keys active_defrag_hits active_defrag_misses " +
		"active_defrag_key_hits active_defrag_key_misses total_active_defrag_time current_active_defrag_time")
	_, keys, items, prefixes := t.srv.tracking.Counts()
	t.addAll("tracking_total_keys", keys, "tracking_total_items", items, "tracking_total_prefixes", prefixes)
	t.add("unexpected_error_replies", 0)
	t.add("total_error_replies", failed)
	t.zeros("dump_payload_sanitizations total_reads_processed total_writes_processed io_threaded_reads_processed " +
		"io_threaded_writes_processed reply_buffer_shrinks reply_buffer_expands")
	return nil
}

func infoReplication(t *infoText) error {
	t.add("role", "master")
	t.add("connected_slaves", 0)
	t.add("master_failover_state", "no-failover")
	t.add("master_replid", *t.srv.replID.Load())
	t.add("master_replid2", strings.Repeat("0", len(t.srv.runID)))
	t.add("master_repl_offset", 0)
	t.add("second_repl_offset", -1)
	t.add("repl_backlog_active", 0)
	t.add("repl_backlog_size", t.srv.config.kept("repl-backlog-size", "1048576"))
	t.zeros("repl_backlog_first_byte_offset repl_backlog_histlen")
	return nil
}

func infoCommands(t *infoText) error {
	t.srv.commands.Each(func(e *command.Entry) {
		calls, rejected := e.Calls.Load(), e.Rejected.Load()
		if calls == 0 && rejected == 0 {
			return
		}
		usec := e.Micros()
		t.add("cmdstat_"+e.Full, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, usec, float64(usec)/float64(max(calls, 1)), rejected, e.Failed.Load()))
	})
	return nil
}

func infoErrors(t *infoText) error {
	counts, _ := t.srv.stats.errorCounts()
	for _, code := range slices.Sorted(maps.Keys(counts)) {
		t.add("errorstat_"+code, fmt.Sprintf("count=%d", counts[code]))
	}
	return nil
}

func infoLatency(t *infoText) error {
	if t.srv.config.kept("latency-tracking", "yes") == "no" {
		return nil
	}
	percentiles := t.srv.config.percentiles()
	if len(percentiles) == 0 {
		return nil
	}
	t.srv.commands.Each(func(e *command.Entry) {
		h := e.Spread.Load()
		if h == nil {
			return
		}
		words := make([]string, len(percentiles))
		for i, p := range percentiles {
			words[i] = fmt.Sprintf("p%s=%.3f", strconv.FormatFloat(p, 'f', -1, 64), h.Percentile(p))
		}
		t.add("latency_percentiles_usec_"+e.Full, strings.Join(words, ","))
	})
	return nil
}

// human shows bytes as Redis does.
func human(n uint64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%dB", n)
	case n < 1<<20:
		return fmt.Sprintf("%.2fK", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.2fM", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.2fG", float64(n)/(1<<30))
}

// osName is the system and its release, as uname tells them.
func osName() string {
	release := readSmall("/proc/sys/kernel/osrelease")
	if release == "" {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(release) + " " + runtime.GOARCH
}
