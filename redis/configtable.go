package redis

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/resp"
)

// limitParameters are where encodings change.
func limitParameters() []parameter {
	limit := func(name, also string, least int64, field func(*keyspace.EncodingLimits) *atomic.Int64) parameter {
		p := counted(name, least, math.MaxInt64, func(srv *Server) *atomic.Int64 { return field(&srv.catalog.Encodings) }, nil)
		p.also = also
		return p
	}
	return []parameter{
		limit("hash-max-listpack-entries", "hash-max-ziplist-entries", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.HashEntries }),
		limit("hash-max-listpack-value", "hash-max-ziplist-value", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.HashValueBytes }),
		limit("list-max-listpack-size", "list-max-ziplist-size", math.MinInt32, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ListSize }),
		limit("set-max-intset-entries", "", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.IntsetEntries }),
		limit("zset-max-listpack-entries", "zset-max-ziplist-entries", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ZSetEntries }),
		limit("zset-max-listpack-value", "zset-max-ziplist-value", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.ZSetValueBytes }),
		limit("hll-sparse-max-bytes", "", 0, func(l *keyspace.EncodingLimits) *atomic.Int64 { return &l.SparseBytes }),
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

// within is parse, and refuses what is not between least and most.
func within(parse func(string) (int64, error), least, most int64) func(string) (int64, error) {
	return func(value string) (int64, error) {
		n, err := parse(value)
		if err == nil && (n < least || n > most) {
			err = resp.Error(fmt.Sprintf("argument must be between %d and %d inclusive", least, most))
		}
		return n, err
	}
}

func parseNumber(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return 0, resp.Error("argument couldn't be parsed into an integer")
	}
	return n, nil
}

func parseMemory(value string) (int64, error) {
	n, err := ParseBytes(value)
	if err != nil {
		return 0, resp.Error("argument must be a memory value")
	}
	return n, nil
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
		{name: "aclfile", get: func(srv *Server) string { return srv.opts.ACLFile }},
		{name: "dbfilename", get: func(srv *Server) string { return filepath.Base(srv.opts.Path) }},
		{name: "dir", get: directory},
		{name: "maxmemory", get: func(*Server) string { return "0" }, set: setMaxMemory},
		{name: "latency-tracking-info-percentiles", get: percentilesText, set: setPercentiles},
	}
}

// parseHz takes the nearest value that hz may have, as Redis does.
func parseHz(value string) (int64, error) {
	hz, err := within(parseNumber, 0, math.MaxInt32)(value)
	return min(max(hz, 1), maxHz), err
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
	if err == nil && n != 0 {
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

// maxKeptBytes bounds the text of one setting that is only kept.
const maxKeptBytes = 4096

// keptParameter makes a parameter out of a line of keptTable.
func keptParameter(line string) parameter {
	name, rest, _ := strings.Cut(line, " ")
	form, value, _ := strings.Cut(rest, " ")
	name, also, _ := strings.Cut(name, "=")
	p := parameter{name: name, also: also, get: func(srv *Server) string { return srv.config.kept(name, value) }}
	if form != "fixed" {
		p.set = func(srv *Server, text string) error {
			text, err := checkKept(form, text)
			if err == nil {
				srv.config.keep(name, text)
			}
			return err
		}
	}
	return p
}

// checkKept says whether a text has the form that a setting asks for, and
// returns it as it is shown.
func checkKept(form, text string) (string, error) {
	if len(text) > maxKeptBytes {
		return "", resp.Error("argument is too long")
	}
	switch form {
	case "yesno":
		if lower := strings.ToLower(text); lower == "yes" || lower == "no" {
			return lower, nil
		}
		return "", resp.Error("argument must be 'yes' or 'no'")
	case "bytes":
		n, err := parseMemory(text)
		return strconv.FormatInt(n, 10), err
	case "text":
		return text, nil
	case "save":
		return text, checkSavePoints(text)
	}
	if bounds, ok := strings.CutPrefix(form, "number:"); ok {
		least, most, _ := strings.Cut(bounds, ":")
		from, _ := strconv.ParseInt(least, 10, 64) // the table is right
		to, _ := strconv.ParseInt(most, 10, 64)
		_, err := within(parseNumber, from, to)(text)
		return text, err
	}
	words := strings.Split(form, "|")
	if lower := strings.ToLower(text); slices.Contains(words, lower) {
		return lower, nil
	}
	return "", resp.Error("argument(s) must be one of the following: " + strings.Join(words, ", "))
}

// checkSavePoints refuses what Redis's save does.
func checkSavePoints(text string) error {
	words := strings.Fields(text)
	if len(words)%2 != 0 {
		return resp.Error("Invalid save parameters")
	}
	for i, word := range words {
		if n, err := strconv.ParseInt(word, 10, 32); err != nil || n < int64(1-i%2) {
			return resp.Error("Invalid save parameters")
		}
	}
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
