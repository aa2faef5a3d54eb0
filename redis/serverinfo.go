package redis

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

var serverCommands = []Command{
	{
		Name: "INFO", Args: "[section [section ...]]", Max: -1, Flags: ReadOnly | onWorker, Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns information and statistics about the server.",
		Run:     serverInfo,
	},
	{
		Name: "TIME", Flags: Local | Fast | Random, Group: "server", Since: "2.6.0", Complexity: "O(1)",
		Summary: "Returns the server time.",
		Run:     serverTime,
	},
	{
		Name: "LASTSAVE", Flags: Local | Fast | Random, Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns the Unix time of the newest commit.",
		Differs: "Every commit is saved when it is answered, so this is the newest commit's time.",
		Run: func(c *Call) error {
			c.Reply.Int(c.Session.srv.store.Bounds().Newest.Time().Unix())
			return nil
		},
	},
	{
		Name: "SHUTDOWN", Args: "[NOSAVE | SAVE] [NOW] [FORCE] [ABORT]", Max: -1, Flags: Local | Admin | NoMulti, Group: "server", Since: "1.0.0",
		Complexity: "O(1)",
		Summary:    "Ends the server cleanly: batches in flight are finished first.",
		Differs:    "There is nothing to save, so the options change nothing. ABORT is refused.",
		Run:        serverShutdown,
	},
	{
		Name: "CLUSTER", Args: "subcommand [arg ...]", Max: -1, Flags: Local, Group: "cluster", Since: "3.0.0", Complexity: "O(1)",
		Summary: "Refused, with Redis's words for a server that is no cluster.",
		Run:     func(*Call) error { return Error("ERR This instance has cluster support disabled") },
	},
	{
		Name: "DEBUG", Flags: ReadOnly | onWorker | Admin, Group: "server", Since: "1.0.0", Complexity: "Depends on subcommand.",
		Summary: "A container for debugging commands.",
		Sub: []Command{
			help,
			{
				Name: "SLEEP", Args: "seconds", Min: 1, Flags: ReadOnly | onWorker | Admin, Since: "1.0.0", Complexity: "O(1)",
				Summary: "Makes this connection wait.",
				Differs: "Other connections go on.",
				Run:     debugSleep,
			},
		},
	},
}

// maxSleep bounds what one client can occupy a worker for.
const maxSleep = time.Minute

func debugSleep(c *Call) error {
	seconds, err := strconv.ParseFloat(string(c.Args[0]), 64)
	if err != nil || seconds < 0 {
		return errNotFloat
	}
	time.Sleep(min(time.Duration(min(seconds, 3600)*float64(time.Second)), maxSleep))
	c.Reply.Simple("OK")
	return nil
}

func serverTime(c *Call) error {
	now := c.Session.srv.opts.Now().UnixMicro()
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatInt(now/1e6, 10))
	c.Reply.BulkString(strconv.FormatInt(now%1e6, 10))
	return nil
}

func serverShutdown(c *Call) error {
	srv := c.Session.srv
	for _, arg := range c.Args {
		switch {
		case is(arg, "NOSAVE"), is(arg, "SAVE"), is(arg, "NOW"), is(arg, "FORCE"):
		case is(arg, "ABORT"):
			return Error("ERR No shutdown in progress.")
		default:
			return errSyntax
		}
	}
	if srv.opts.Shutdown == nil {
		return Error("ERR Errors trying to SHUTDOWN. Check logs.")
	}
	c.Session.closing = true
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
	{"Latencystats", false, func(*infoText) error { return nil }},
	{"Cluster", true, func(t *infoText) error { t.add("cluster_enabled", 0); return nil }},
	{"Keyspace", true, infoKeyspace},
	{"Firn", true, infoFirn},
}

// infoText is INFO's answer in the making.
type infoText struct {
	bytes.Buffer
	srv  *Server
	call *Call
}

func (t *infoText) add(name string, value any) { fmt.Fprintf(t, "%s:%v\r\n", name, value) }

// serverInfo runs where it may wait, since it counts keys.
func serverInfo(c *Call) error {
	t := &infoText{srv: c.Session.srv, call: c}
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
		if is(arg, "ALL") || is(arg, "EVERYTHING") || is(arg, strings.ToUpper(s.name)) || is(arg, "DEFAULT") && s.usual {
			return true
		}
	}
	return len(args) == 0 && s.usual
}

func infoServer(t *infoText) error {
	srv := t.srv
	up := srv.opts.Now().Sub(srv.started)
	t.add("redis_version", redisVersion)
	t.add("redis_git_sha1", "00000000")
	t.add("redis_git_dirty", 0)
	t.add("redis_build_id", 0)
	t.add("redis_mode", "standalone")
	t.add("os", osName())
	t.add("arch_bits", strconv.IntSize)
	t.add("multiplexing_api", "epoll")
	t.add("process_id", os.Getpid())
	t.add("run_id", srv.runID)
	t.add("tcp_port", srv.opts.Port)
	t.add("server_time_usec", srv.opts.Now().UnixMicro())
	t.add("uptime_in_seconds", int64(up.Seconds()))
	t.add("uptime_in_days", int64(up.Hours()/24))
	t.add("config_file", "")
	return nil
}

func infoClients(t *infoText) error {
	t.add("connected_clients", t.srv.clients.count())
	t.add("cluster_connections", 0)
	t.add("maxclients", t.srv.config.maxClients.Load())
	t.add("blocked_clients", t.srv.blocked.count())
	t.add("tracking_clients", 0)
	return nil
}

func infoMemory(t *infoText) error {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	rss := residentBytes()
	t.add("used_memory", m.HeapAlloc)
	t.add("used_memory_human", human(m.HeapAlloc))
	t.add("used_memory_rss", rss)
	t.add("used_memory_rss_human", human(rss))
	t.add("maxmemory", 0)
	t.add("maxmemory_human", "0B")
	t.add("maxmemory_policy", "noeviction")
	t.add("mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(rss)/float64(max(m.HeapAlloc, 1))))
	t.add("mem_allocator", runtime.Version())
	return nil
}

func infoPersistence(t *infoText) error {
	b := t.srv.store.Bounds()
	t.add("loading", 0)
	t.add("async_loading", 0)
	t.add("rdb_changes_since_last_save", 0)
	t.add("rdb_bgsave_in_progress", 0)
	t.add("rdb_last_save_time", b.Newest.Time().Unix())
	t.add("rdb_last_bgsave_status", "ok")
	t.add("rdb_last_bgsave_time_sec", -1)
	t.add("rdb_current_bgsave_time_sec", -1)
	t.add("aof_enabled", 1)
	t.add("aof_rewrite_in_progress", 0)
	t.add("aof_rewrite_scheduled", 0)
	t.add("aof_last_rewrite_time_sec", -1)
	t.add("aof_current_rewrite_time_sec", -1)
	t.add("aof_last_bgrewrite_status", "ok")
	t.add("aof_last_write_status", "ok")
	return nil
}

func infoStats(t *infoText) error {
	st := &t.srv.stats
	var calls int64
	t.srv.table.each(func(e *entry) { calls += e.calls.Load() })
	_, failed := st.errorCounts()
	t.add("total_connections_received", st.connections.Load())
	t.add("total_commands_processed", calls)
	t.add("instantaneous_ops_per_sec", 0)
	t.add("total_net_input_bytes", st.bytesIn.Load())
	t.add("total_net_output_bytes", st.bytesOut.Load())
	t.add("rejected_connections", st.rejected.Load())
	t.add("evicted_keys", 0)
	t.add("pubsub_channels", 0)
	t.add("pubsub_patterns", 0)
	t.add("latest_fork_usec", 0)
	t.add("total_error_replies", failed)
	return nil
}

func infoReplication(t *infoText) error {
	t.add("role", "master")
	t.add("connected_slaves", 0)
	t.add("master_failover_state", "no-failover")
	t.add("master_replid", t.srv.runID)
	t.add("master_repl_offset", 0)
	t.add("repl_backlog_active", 0)
	return nil
}

func infoCommands(t *infoText) error {
	t.srv.table.each(func(e *entry) {
		calls, rejected := e.calls.Load(), e.rejected.Load()
		if calls == 0 && rejected == 0 {
			return
		}
		usec := e.micros()
		t.add("cmdstat_"+e.full, fmt.Sprintf("calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d",
			calls, usec, float64(usec)/float64(max(calls, 1)), rejected, e.failed.Load()))
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

// infoKeyspace counts the keys of every database on one snapshot.
func infoKeyspace(t *infoText) error {
	return t.srv.store.View(func(snap *firn.Snapshot) error {
		c := *t.call
		c.R = snap
		for c.DB = range t.srv.opts.Databases {
			prefix, err := c.keyPrefix()
			if err != nil {
				return err
			}
			keys, err := snap.Count(c.work.keys, prefix)
			if err != nil {
				return err
			}
			if keys > 0 {
				t.add(fmt.Sprintf("db%d", c.DB), fmt.Sprintf("keys=%d,expires=0,avg_ttl=0", keys))
			}
		}
		return nil
	})
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
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	return "Linux " + strings.TrimSpace(string(release)) + " " + runtime.GOARCH
}

// residentBytes is how much memory the process occupies, 0 if unknown.
func residentBytes() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, ok := resp.ParseInt(fields[1])
	if !ok || pages < 0 {
		return 0
	}
	return uint64(pages) * uint64(os.Getpagesize())
}
