package redis

import (
	"maps"
	"slices"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

var historyListCommand = Command{
	Name: "LIST", Args: "[PATTERN pattern]", Max: 2, Flags: ReadOnly | onWorker | OwnName, Since: "0.1.0",
	Complexity: "O(N) where N is the number of versions in the store",
	Summary:    "Returns the keys that the database has or had, in order, each with the number of its events, when the oldest and the newest were, and whether it is there now.",
	Run:        historyList,
}

var historyStatsCommand = Command{
	Name: "STATS", Args: "[key]", Max: 1, Flags: ReadOnly | onWorker | OwnName, Keys: Keys{1, 1, 1}, Since: "0.1.0",
	Complexity: "O(N) where N is the number of versions of the key; O(1) without one",
	Summary: "Returns how much history a key has: its events, when the oldest and the newest were, and the bytes of its versions without those of a collection's elements; " +
		"nil if it has none. Without a key, how much the store has.",
	Run: historyStats,
}

func historyList(c *Call) error {
	var keys scanOptions
	switch {
	case len(c.Args) == 0:
	case len(c.Args) == 2 && is(c.Args[0], "PATTERN"):
		keys.setPattern(c.Args[1])
	default:
		return errSyntax
	}
	return atEnd(c, func(h *chronicle) error {
		found, err := h.keys(&keys)
		if err != nil {
			return err
		}
		out, n := resp.Writer{Proto: c.Reply.Proto}, 0
		for _, key := range slices.Sorted(maps.Keys(found)) {
			s, err := h.summary([]byte(key))
			if err != nil {
				return err
			}
			if s.events == 0 {
				continue
			}
			n++
			out.Map(5)
			replyField(&out, "key", key)
			s.reply(&out)
			out.BulkString("live")
			out.Bool(s.live)
		}
		c.Reply.Array(n)
		c.Reply.Raw(string(out.Buf))
		return nil
	})
}

// atEnd calls fn with all that has happened in the database until now, or
// until the moment that the connection reads.
func atEnd(c *Call, fn func(h *chronicle) error) error {
	end := c.Client.AsOf()
	if end == 0 {
		var err error
		if end, err = c.Client.Moment([]byte("now")); err != nil {
			return err
		}
	}
	return c.store.At(end, func(snap *firn.Snapshot) error {
		v := c.at(snap)
		h, err := newChronicle(v)
		if err != nil {
			return err
		}
		return fn(h)
	})
}

// keys are the keys of which anything is left in the keyspaces that the
// database has shown.
func (h *chronicle) keys(want *scanOptions) (map[string]struct{}, error) {
	found, shown := map[string]struct{}{}, map[uid]bool{}
	for i := range h.all {
		shown[h.all[i].space] = true
	}
	err := h.v.store.IDs(h.v.keys, nil, func(id string) error {
		space, key, err := parseKeyID(id)
		if err == nil && shown[space] && want.matches(key) {
			found[string(key)] = struct{}{}
		}
		return err
	})
	return found, err
}

// keySummary is how much history a key has.
type keySummary struct {
	events         int
	oldest, newest firn.Timestamp
	bytes          int
	live           bool
}

func (h *chronicle) summary(key []byte) (s keySummary, err error) {
	now := h.v.now()
	err = h.each(key, &historyQuery{}, func(e *event) bool {
		if s.events == 0 {
			s.oldest = e.ts
		}
		s.events++
		s.newest = e.ts
		s.bytes += e.bytes
		s.live = !e.deleted && !e.key.ended(now)
		return true
	})
	return s, err
}

// reply appends three fields of a map.
func (s *keySummary) reply(w *resp.Writer) {
	replyNumber(w, "versions", s.events)
	replyNumber(w, "oldest", int(s.oldest))
	replyNumber(w, "newest", int(s.newest))
}

func historyStats(c *Call) error {
	if len(c.Args) == 0 {
		historyStoreStats(c)
		return nil
	}
	return atEnd(c, func(h *chronicle) error {
		s, err := h.summary(c.Args[0])
		if err != nil {
			return err
		}
		if s.events == 0 {
			c.Reply.Null()
			return nil
		}
		c.Reply.Map(4)
		s.reply(&c.Reply)
		replyNumber(&c.Reply, "bytes", s.bytes)
		return nil
	})
}

// historyStoreStats replies how much history the store has, and what the
// compactor does about it, under the names that INFO has for it.
func historyStoreStats(c *Call) {
	store := c.store
	bounds, stats := store.Bounds(), store.Stats()
	fields := []struct {
		name string
		n    int64
	}{
		{"oldest", int64(bounds.Oldest)},
		{"newest", int64(bounds.Newest)},
		{"commits", stats.Commits}, // since the store was opened, as are the rows
		{"rows", stats.Rows},
		{"merged_ts", int64(stats.Merged)},
		{"tail_entries", int64(stats.TailEntries)},
		{"tail_bytes", stats.TailBytes},
		{"wal_bytes", stats.WALBytes},
		{"compacted_versions", stats.Compacted},
		{"compaction_lag_seconds", int64(stats.CompactionLag / time.Second)},
		{"policies", int64(stats.Policies)},
		{"holds", int64(stats.Holds)},
	}
	c.Reply.Map(len(fields))
	for _, f := range fields {
		c.Reply.BulkString(f.name)
		c.Reply.Int(f.n)
	}
}
