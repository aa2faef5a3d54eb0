package history

import (
	"maps"
	"slices"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

var historyListCommand = command.Command{
	Name: "LIST", Args: "[PATTERN pattern]", Max: 2, Flags: command.ReadOnly | command.OnWorker | command.OwnName,
	Since: "0.1.0", Complexity: "O(n), n the keys in the store, those that are gone included",
	Summary: "Returns the keys that the database has or had, in order, each with the number of its events, when the oldest and the newest were, and whether it is there now.",
	Run:     historyList,
}

var historyStatsCommand = command.Command{
	Name: "STATS", Args: "[key]", Max: 1, Flags: command.ReadOnly | command.OnWorker | command.OwnName, Keys: command.FirstKey(command.Reads),
	Since: "0.1.0", Complexity: "O(n), n the times that FLUSHDB and SWAPDB changed the database; O(1) without a key",
	Summary: "Returns how much history a key has: its events, when the oldest and the newest were, and the bytes of its versions without those of a collection's elements, " +
		"which of more than 32 versions is an estimate; nil if it has none. Without a key, how much the store has.",
	Run: historyStats,
}

func historyList(c *command.Call) error {
	var keys command.ScanOptions
	switch {
	case len(c.Args) == 0:
	case len(c.Args) == 2 && command.Is(c.Args[0], "PATTERN"):
		keys.SetPattern(c.Args[1])
	default:
		return command.ErrSyntax
	}
	return atEnd(c, func(h *keyspace.Chronicle) error {
		found, err := keysOf(h, &keys)
		if err != nil {
			return err
		}
		out, n := resp.Writer{Proto: c.Reply.Proto}, 0
		for _, key := range slices.Sorted(maps.Keys(found)) {
			t, err := h.Tally([]byte(key))
			if err != nil {
				return err
			}
			if t.Events == 0 {
				continue
			}
			n++
			out.Map(5)
			command.ReplyField(&out, "key", key)
			replyTally(&out, &t)
			out.BulkString("live")
			out.Bool(t.Live)
		}
		c.Reply.Array(n)
		c.Reply.Raw(string(out.Buf))
		return nil
	})
}

// atEnd calls fn with all that has happened in the database until now, or
// until the moment that the connection reads.
func atEnd(c *command.Call, fn func(h *keyspace.Chronicle) error) error {
	end := c.Client.AsOf()
	if end == 0 {
		var err error
		if end, err = c.Client.Moment([]byte("now")); err != nil {
			return err
		}
	}
	return c.Store.At(end, func(snap *firn.Snapshot) error {
		v := c.At(snap)
		h, err := keyspace.NewChronicle(v)
		if err != nil {
			return err
		}
		return fn(h)
	})
}

// keysOf are the keys of which anything is left in the keyspaces that the
// database has shown.
func keysOf(h *keyspace.Chronicle, want *command.ScanOptions) (map[string]struct{}, error) {
	found, shown := map[string]struct{}{}, map[keyspace.UID]bool{}
	for i := range h.All {
		shown[h.All[i].Space] = true
	}
	err := h.V.Store.IDs(h.V.Keys, nil, func(id string) error {
		space, key, err := keyspace.ParseKeyID(id)
		if err == nil && shown[space] && want.Matches(key) {
			found[string(key)] = struct{}{}
		}
		return err
	})
	return found, err
}

// replyTally appends three fields of a map.
func replyTally(w *resp.Writer, t *keyspace.Tally) {
	command.ReplyNumber(w, "versions", t.Events)
	command.ReplyNumber(w, "oldest", int(t.Oldest))
	command.ReplyNumber(w, "newest", int(t.Newest))
}

func historyStats(c *command.Call) error {
	if len(c.Args) == 0 {
		historyStoreStats(c)
		return nil
	}
	return atEnd(c, func(h *keyspace.Chronicle) error {
		t, err := h.Tally(c.Args[0])
		if err != nil {
			return err
		}
		if t.Events == 0 {
			c.Reply.Null()
			return nil
		}
		c.Reply.Map(4)
		replyTally(&c.Reply, &t)
		command.ReplyNumber(&c.Reply, "bytes", t.Bytes)
		return nil
	})
}

// historyStoreStats replies how much history the store has, and what the
// compactor does about it, under the names that INFO has for it.
func historyStoreStats(c *command.Call) {
	store := c.Store
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
