package redis

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// limitParameters are where encodings change.
func limitParameters() []parameter {
	limit := func(name, also string, parse func(string) (int64, error), field func(*keyspace.EncodingLimits) *atomic.Int64) parameter {
		p := stored(name, parse, func(srv *Server) *atomic.Int64 { return field(&srv.catalog.Encodings) }, nil)
		p.also = also
		return p
	}
	number, bytes := within(parseNumber, 0, math.MaxInt64), within(parseMemory, 0, math.MaxInt64)
	return []parameter{
		limit("hash-max-listpack-entries", "hash-max-ziplist-entries", number, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.HashEntries }),
		limit("hash-max-listpack-value", "hash-max-ziplist-value", bytes, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.HashValueBytes }),
		limit("list-max-listpack-size", "list-max-ziplist-size", within(parseNumber, math.MinInt32, math.MaxInt32), func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ListSize }),
		limit("set-max-intset-entries", "", number, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.IntsetEntries }),
		limit("zset-max-listpack-entries", "zset-max-ziplist-entries", number, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ZSetEntries }),
		limit("zset-max-listpack-value", "zset-max-ziplist-value", bytes, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ZSetValueBytes }),
		limit("hll-sparse-max-bytes", "", bytes, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.SparseBytes }),
		limit("stream-node-max-entries", "", number, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.NodeEntries }),
		limit("stream-node-max-bytes", "", bytes, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.NodeBytes }),
	}
}

// liveParameters bound what clients can have live.
func liveParameters() []parameter {
	limits := func(srv *Server) *live.Limits { return &srv.live.Limits }
	return []parameter{
		counted("live-max-subscriptions", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &limits(srv).Subscriptions }, nil),
		counted("live-max-client-subscriptions", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &limits(srv).ClientSubscriptions }, nil),
		bytesOf("live-max-argument-bytes", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &limits(srv).ArgumentBytes }),
		bytesOf("live-max-reply-bytes", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &limits(srv).ReplyBytes }),
	}
}

// scriptParameters bound what scripts take.
func scriptParameters() []parameter {
	patience := counted("busy-reply-threshold", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.scripts.BusyMillis }, nil)
	patience.also = "lua-time-limit"
	return []parameter{
		patience,
		bytesOf("script-max-memory", scripting.LeastMemoryBytes, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.scripts.MemoryBytes }),
	}
}

// counted is a number; changed is called after it has changed.
func counted(name string, least, most int64, field func(*Server) *atomic.Int64, changed func(*Server)) parameter {
	return stored(name, within(parseNumber, least, most), field, changed)
}

// bytesOf is a number of bytes.
func bytesOf(name string, least, most int64, field func(*Server) *atomic.Int64) parameter {
	return stored(name, within(parseMemory, least, most), field, nil)
}

func stored(name string, parse func(string) (int64, error), field func(*Server) *atomic.Int64, changed func(*Server)) parameter {
	return parameter{
		name: name,
		get:  func(srv *Server) string { return strconv.FormatInt(field(srv).Load(), 10) },
		set: func(srv *Server, value string) error {
			n, err := parse(value)
			if err != nil {
				return err
			}
			field(srv).Store(n)
			if changed != nil {
				changed(srv)
			}
			return nil
		},
	}
}

// serverParameters change what the server does, or tell what it is.
func serverParameters() []parameter {
	refresh := func(srv *Server) { srv.slow.Refresh() }
	return []parameter{
		counted("slowlog-log-slower-than", -1, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.slow.MicrosAtLeast }, refresh),
		counted("slowlog-max-len", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.slow.Limit }, nil),
		counted("latency-monitor-threshold", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.slow.MillisWatched }, refresh),
		counted("acllog-max-len", 0, math.MaxInt64, func(srv *Server) *atomic.Int64 { return &srv.denials.Limit }, nil),
		counted("active-expire-effort", 1, 10, func(srv *Server) *atomic.Int64 { return &srv.config.effort }, nil),
		stored("hz", parseHz, func(srv *Server) *atomic.Int64 { return &srv.config.hz }, nil),
		{name: "acl-pubsub-default", get: channelDefault, set: setChannelDefault},
		{name: "protected-mode", get: protectedText, set: setProtected},
		{name: "aclfile", get: func(srv *Server) string { return srv.opts.ACLFile }, never: errFixed},
		{name: "dbfilename", get: func(srv *Server) string { return filepath.Base(srv.opts.Path) }, never: errProtected},
		{name: "dir", get: directory, never: errProtected},
		{name: "activedefrag", get: func(*Server) string { return "no" }, set: setActiveDefrag},
		{name: "maxmemory", get: func(*Server) string { return "0" }, set: setMaxMemory},
		{name: "latency-tracking-info-percentiles", get: percentilesText, set: setPercentiles},
	}
}

// parseHz takes the nearest value that hz may have, as Redis does.
func parseHz(value string) (int64, error) {
	hz, err := within(parseNumber, 0, math.MaxInt32)(value)
	return min(max(hz, 1), maxHz), err
}

// errProtected refuses to change where the store is.
const errProtected = resp.Error("can't set protected config")

// setActiveDefrag refuses what Redis refuses without its own allocator: Go's
// memory is not moved.
func setActiveDefrag(_ *Server, value string) error {
	value, err := checkKept("yesno", value)
	if err == nil && value == "yes" {
		err = resp.Error("Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc " +
			"like the one shipped by default with the Redis source distribution")
	}
	return err
}

func channelDefault(srv *Server) string {
	if srv.users.OpenChannels.Load() {
		return "allchannels"
	}
	return "resetchannels"
}

func setChannelDefault(srv *Server, value string) error {
	i := slices.Index([]string{"allchannels", "resetchannels"}, strings.ToLower(value))
	if i < 0 {
		return resp.Error("argument(s) must be one of the following: allchannels, resetchannels")
	}
	srv.users.OpenChannels.Store(i == 0)
	return nil
}

func directory(srv *Server) string {
	dir, err := filepath.Abs(filepath.Dir(srv.opts.Path))
	if err != nil {
		return filepath.Dir(srv.opts.Path)
	}
	return dir
}

// setMaxMemory accepts no limit, and no other: nothing is ever evicted.
func setMaxMemory(_ *Server, value string) error {
	n, err := parseMemory(value)
	if n != 0 {
		err = resp.Error("argument must be 0: nothing is evicted; firn-memory is what documents may take in memory")
	}
	return err
}

// maxPercentiles bounds how many percentiles INFO shows.
const maxPercentiles = 32

func percentilesText(srv *Server) string {
	var words []string
	for _, p := range srv.config.percentiles() {
		words = append(words, strconv.FormatFloat(p, 'f', -1, 64))
	}
	return strings.Join(words, " ")
}

func setPercentiles(srv *Server, value string) error {
	chosen := []float64{}
	for word := range strings.FieldsSeq(value) {
		p, err := strconv.ParseFloat(word, 64)
		if err != nil || len(chosen) == maxPercentiles {
			return resp.Error("Invalid latency-tracking-info-percentiles parameters")
		}
		if !(p >= 0 && p <= 100) {
			return resp.Error("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
		}
		chosen = append(chosen, p)
	}
	srv.config.shown.Store(&chosen)
	return nil
}

// protectedText is whether protected mode is on, as CONFIG GET shows it.
func protectedText(srv *Server) string { return yesNo(srv.config.protected.Load()) }

func setProtected(srv *Server, value string) error {
	value, err := checkKept("yesno", value)
	if err == nil {
		srv.config.protected.Store(value == "yes")
	}
	return err
}
