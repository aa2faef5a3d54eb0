package web

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/firndb/firn/redis"
)

// metrics answers with everything that is counted. Who may run INFO may read
// it, or everybody with Options.OpenMetrics.
func (s *Server) metrics(w http.ResponseWriter, r *http.Request) error {
	if err := s.mayWatch(r); err != nil {
		return err
	}
	f, err := s.redis.Figures()
	if err != nil {
		return err
	}
	size, free, err := s.redis.Store().Space()
	if err != nil {
		return err
	}
	x := &exposition{}
	writeBuild(x, &f)
	writeClients(x, &f)
	writeCommands(x, &f)
	writeKeys(x, &f)
	writeCommits(x, &f)
	writeMemory(x, &f)
	writeFile(x, &f, size, free)
	writeHistory(x, &f, time.Now())
	writeListeners(x, &f)
	writeJournal(x, &f)
	writeLive(x, &f.Live)
	s.writeOwn(x)
	writeProcess(x, f.Started)
	writeRuntime(x)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	return s.write(w, x.text)
}

// mayWatch is nil if whoever asks may read metrics.
func (s *Server) mayWatch(r *http.Request) error {
	if s.opts.OpenMetrics {
		return nil
	}
	c, err := s.enter(r)
	if err != nil {
		return err
	}
	defer c.close()
	return c.must(r.Context(), "INFO", "cluster") // the shortest section
}

func writeBuild(x *exposition, f *redis.Figures) {
	x.family("firn_build_info", kindGauge, "1, with the version that runs.")
	x.sample("firn_build_info", 1, "version", f.Version)
	x.gauge("firn_writable", "1 while the store takes writes, 0 once its writer has stopped.", truth(f.Store.Err == nil))
}

func writeClients(x *exposition, f *redis.Figures) {
	x.gauge("firn_connected_clients", "Clients that are connected, those of HTTP included.", float64(f.Clients))
	x.gauge("firn_max_clients", "How many clients may be connected.", float64(f.MaxClients))
	x.gauge("firn_blocked_clients", "Clients that wait for a key, or for the end of a pause.", float64(f.BlockedClients))
	x.counter("firn_connections_total", "Connections that were accepted.", f.Connections)
	x.counter("firn_refused_connections_total", "Connections that were turned away, by maxclients or protected mode.", f.RefusedConnections)
	x.counter("firn_slow_clients_total", "Clients that were ended because they did not read what they were sent.", f.SlowClients)
	x.counter("firn_input_bytes_total", "Bytes that clients have sent.", f.InputBytes)
	x.counter("firn_output_bytes_total", "Bytes that clients were sent.", f.OutputBytes)
	x.counter("firn_protocol_errors_total", "Connections that ended because what came was not RESP.", f.ProtocolErrors)
	x.family("firn_error_replies_total", kindCounter, "Errors that clients were answered with, by their first word.")
	for _, code := range slices.Sorted(maps.Keys(f.Errors)) {
		x.sample("firn_error_replies_total", float64(f.Errors[code]), "code", code)
	}
}

func writeCommands(x *exposition, f *redis.Figures) {
	each := func(name, help string, count func(*redis.CommandFigures) int64) {
		x.family(name, kindCounter, help)
		for i := range f.Commands {
			if n := count(&f.Commands[i]); n > 0 {
				x.sample(name, float64(n), "command", f.Commands[i].Name)
			}
		}
	}
	each("firn_commands_total", "Calls of each command.", func(c *redis.CommandFigures) int64 { return c.Calls })
	each("firn_failed_commands_total", "Calls that were answered with an error.", func(c *redis.CommandFigures) int64 { return c.Failed })
	each("firn_rejected_commands_total", "Calls that were refused before they ran.", func(c *redis.CommandFigures) int64 { return c.Rejected })
	x.gauge("firn_slowlog_entries", "Commands in the slow log.", float64(f.SlowCommands))
	x.family("firn_command_duration_seconds", kindHistogram,
		"How long commands ran, without the commit; of fast commands and writes, one in 16.")
	for i := range f.Commands {
		writeDurations(x, &f.Commands[i])
	}
}

// writeDurations adds the histogram of a command, of whose buckets every second
// is shown: 1 µs, 4 µs … 17 s.
func writeDurations(x *exposition, c *redis.CommandFigures) {
	const name, lastShown = "firn_command_duration_seconds", 24
	if len(c.UpTo) == 0 {
		return
	}
	all := c.UpTo[len(c.UpTo)-1]
	for i := 0; i <= lastShown && i < len(c.UpTo); i += 2 {
		x.sample(name+"_bucket", float64(c.UpTo[i]), "command", c.Name, "le", formatted(math.Ldexp(1024e-9, i)))
	}
	x.sample(name+"_bucket", float64(all), "command", c.Name, "le", "+Inf")
	x.sample(name+"_sum", c.Took.Seconds(), "command", c.Name)
	x.sample(name+"_count", float64(all), "command", c.Name)
}

func writeKeys(x *exposition, f *redis.Figures) {
	x.family("firn_keys", kindGauge, "Keys of each database, those included that have expired and are not swept.")
	for _, db := range slices.Sorted(maps.Keys(f.Databases)) {
		x.sample("firn_keys", float64(f.Databases[db]), "db", strconv.Itoa(db))
	}
	x.counter("firn_key_hits_total", "Keys that reads found.", f.KeyHits)
	x.counter("firn_key_misses_total", "Keys that reads did not find.", f.KeyMisses)
	x.counter("firn_expired_keys_total", "Keys that the sweeper has ended.", f.ExpiredKeys)
}

func writeListeners(x *exposition, f *redis.Figures) {
	x.gauge("firn_pubsub_channels", "Channels that somebody subscribes to.", float64(f.Channels))
	x.gauge("firn_pubsub_patterns", "Patterns of channels that somebody subscribes to.", float64(f.Patterns))
	x.gauge("firn_pubsub_shard_channels", "Shard channels that somebody subscribes to.", float64(f.ShardChannels))
	x.gauge("firn_tracking_clients", "Clients that want to know when keys change which they keep.", float64(f.TrackingClients))
	x.gauge("firn_tracked_keys", "Keys that such clients keep.", float64(f.TrackedKeys))
	x.gauge("firn_tracked_items", "Pairs of such a key and a client.", float64(f.TrackedItems))
	x.gauge("firn_tracked_prefixes", "Prefixes that clients track in broadcasting mode.", float64(f.TrackedPrefixes))
}
