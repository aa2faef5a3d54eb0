package history

import (
	"cmp"
	"errors"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/retention"
)

var historyCommands = []command.Command{
	{
		Name: "HISTORY", Flags: command.ReadOnly | command.OnWorker | command.OwnName,
		Group: "history", Since: "0.1.0", Complexity: "that of the subcommand",
		Summary: "A container for commands about what keys were.",
		Sub: slices.Concat([]command.Command{
			{
				Name: "GET", Args: "key [SINCE when] [UNTIL when] [LIMIT n] [REV] [VALUES] [FOLLOW]", Min: 1, Max: -1,
				Flags: command.ReadOnly | command.OnWorker | command.OwnName, Keys: command.FirstKey(command.Reads),
				Since: "0.1.0", Complexity: "O(n), n the versions that are returned; with VALUES the elements of each",
				Summary: "Returns what happened to a key, oldest first, its deletions included; with VALUES its state then, as HISTORY GETAT shows it. " +
					"FLUSHDB and SWAPDB are there where the key came or went by them. What RENAME, COPY, MOVE or RESTORE made says where it came from; " +
					"with FOLLOW that key's history comes before, and each event says whose it is.",
				Run: historyGet,
			},
			{
				Name: "GETAT", Args: "key when", Min: 2, Flags: command.ReadOnly | command.OnWorker | command.OwnName,
				Keys:  command.FirstKey(command.Reads),
				Since: "0.1.0", Complexity: "O(n), n the elements",
				Summary: "Returns the state of a key at a moment, in the shape of its type: that of GET, HGETALL, LRANGE, SMEMBERS, ZRANGE WITHSCORES or XRANGE. " +
					"The lifetimes of a hash's fields, and the groups of a stream, are for AT with HPEXPIRETIME and XINFO.",
				Run: historyGetAt,
			},
			historyDiffCommand,
			historyChangedCommand,
			historyRevertCommand,
			historyListCommand,
			historyStatsCommand,
			command.Help,
		}, policyCommands, forgettingCommands),
	},
	{
		Name: "KEYINFO", Args: "key", Min: 1, Flags: command.ReadOnly | command.OwnName, Keys: command.FirstKey(command.Reads),
		Group: "history", Since: "0.1.0", Complexity: "O(n), n the elements, whose bytes are counted; O(1) for a string",
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns what is known about a key: type, times, version, how many versions are kept, size and what wrote it last.",
		Run:     keyInfo,
	},
}

// errFollow is for those who may not read every key: sources are not named.
const errFollow = resp.Error("NOPERM FOLLOW reads the keys that a key came from, and needs the right to read all keys")

func parseHistoryQuery(c *command.Call) (q keyspace.HistoryQuery, err error) {
	q.Until = c.Client.AsOf()
	for rest := c.Args[1:]; len(rest) > 0; {
		switch {
		case command.Is(rest[0], "REV"):
			q.Newest = true
			rest = rest[1:]
			continue
		case command.Is(rest[0], "VALUES"):
			q.Values = true
			rest = rest[1:]
			continue
		case command.Is(rest[0], "FOLLOW"):
			if !c.Client.ReadsAnyKey(c) {
				return q, errFollow
			}
			q.Follow = true
			rest = rest[1:]
			continue
		case len(rest) == 1:
			return q, command.ErrSyntax
		case command.Is(rest[0], "SINCE"):
			q.Since, err = readableMoment(c, rest[1])
		case command.Is(rest[0], "UNTIL"):
			var until firn.Timestamp
			until, err = readableMoment(c, rest[1])
			if q.Until == 0 || until < q.Until {
				q.Until = until
			}
		case command.Is(rest[0], "LIMIT"):
			q.Limit, err = parseLimit(rest[1])
		default:
			return q, command.ErrSyntax
		}
		if err != nil {
			return q, err
		}
		rest = rest[2:]
	}
	return q, nil
}

// maxHistoryLimit is the most that LIMIT and COUNT may be.
const maxHistoryLimit = 1 << 31

// parseLimit reads how much is wanted at most; 0 is all.
func parseLimit(arg []byte) (int, error) {
	n, ok := resp.ParseInt(arg)
	if !ok || n < 0 || n > maxHistoryLimit {
		return 0, command.ErrNotInteger
	}
	return int(n), nil
}

// readableMoment reads a moment at which the database must be readable, and so
// must the call's first key, if it has one: what is forgotten is not left out
// silently.
func readableMoment(c *command.Call, when []byte) (firn.Timestamp, error) {
	ts, err := c.Client.Moment(when)
	if err != nil {
		return 0, err
	}
	return ts, c.Store.At(ts, func(snap *firn.Snapshot) error {
		past := c.At(snap)
		if len(c.Cmd.Keys) == 0 {
			_, err := past.Keyspace(c.DB)
			return err
		}
		_, err := past.FindDocument(c.Args[0])
		return err
	})
}

// told is an event as HISTORY GET shows it.
type told struct {
	keyspace.Event
	who  firn.Author
	name []byte // the database and the key, as in 0:name; nil without FOLLOW
}

func historyGet(c *command.Call) error {
	q, err := parseHistoryQuery(c)
	if err != nil {
		return err
	}
	var found []told
	err = c.Present(func(v *keyspace.View) error {
		h, err := keyspace.NewChronicle(v)
		if err != nil {
			return err
		}
		var failed error
		tell := func(e *keyspace.Event, name []byte) bool {
			one := told{Event: *e, name: name}
			if e.Doc != nil {
				one.who, failed = v.R.Author(e.Doc)
			}
			found = append(found, one)
			return failed == nil
		}
		if q.Follow {
			return errors.Join(follow(h, c.Args[0], q, tell), failed)
		}
		err = h.Each(c.Args[0], &q, func(e *keyspace.Event) bool { return tell(e, nil) })
		return errors.Join(err, failed)
	})
	if err != nil {
		return err
	}
	if q.Follow && !q.Newest {
		slices.Reverse(found)
		if q.Limit > 0 {
			found = found[:min(len(found), q.Limit)]
		}
	}
	c.Reply.Array(len(found))
	for i := range found {
		if err := replyEvent(c, &found[i], q.Values); err != nil {
			return err
		}
	}
	return nil
}

// follow tells what happened to a key and to those that it came from, the
// newest first. The oldest are found last, so those are all wanted.
func follow(h *keyspace.Chronicle, key []byte, q keyspace.HistoryQuery, tell func(*keyspace.Event, []byte) bool) error {
	if !q.Newest {
		q.Newest, q.Limit = true, 0
	}
	return h.Follow(key, q, func(db int, key []byte, e *keyspace.Event) bool {
		return tell(e, keyspace.OriginKey(db, key))
	})
}

// replyEvent appends the map of one event.
func replyEvent(c *command.Call, e *told, values bool) error {
	r, from := &c.Reply, e.From()
	fields := 7 + authorFields
	for _, there := range [...]bool{values, from != nil, e.name != nil} {
		if there {
			fields++
		}
	}
	r.Map(fields)
	if e.name != nil {
		r.BulkString("key")
		r.Bulk(e.name)
	}
	r.BulkString("ts")
	r.Int(int64(e.TS))
	r.BulkString("version")
	r.Int(e.Key.Version)
	r.BulkString("operation")
	r.BulkString(e.Operation)
	r.BulkString("type")
	r.BulkString(e.Key.Kind.String())
	r.BulkString("length")
	r.Int(e.Key.Length)
	r.BulkString("expires_at")
	r.Int(orMinusOne(e.Key.Expires))
	r.BulkString("deleted")
	r.Bool(e.Deleted)
	if from != nil {
		r.BulkString("from")
		r.Bulk(from)
	}
	replyAuthor(c, e.who)
	if !values {
		return nil
	}
	r.BulkString("value")
	if e.Deleted {
		r.Null()
		return nil
	}
	if e.Key.Kind == keyspace.KindString {
		r.Bulk(e.Key.Value)
		return nil
	}
	return replyThen(c, &e.Event)
}

// replyThen appends the state that a key had by an event. A version that its
// horizon has passed is still the state at the horizon, unless something newer
// is by now.
func replyThen(c *command.Call, e *keyspace.Event) error {
	start, ts := len(c.Reply.Buf), e.TS
	for {
		err := c.Store.At(ts, func(snap *firn.Snapshot) error {
			v := c.At(snap)
			c.Reply.Buf = c.Reply.Buf[:start]
			doc, err := snap.Last(c.Keys, e.ID)
			switch {
			case err != nil && err != firn.ErrNotFound:
				return err
			case err != nil || doc.TS != e.Written:
				return cmp.Or(retention.Bound{Oldest: ts}.Admit(e.TS), firn.ErrCompacted)
			}
			return ReplyState(v, &c.Reply, &e.Key)
		})
		if err == nil {
			return nil
		}
		if err := later(err, &ts); err != nil {
			return err
		}
	}
}

// later moves ts to the moment from which on there is an answer, if err tells a
// later one, and returns the error otherwise.
func later(err error, ts *firn.Timestamp) error {
	e, ok := errors.AsType[*firn.CompactedError](err)
	if !ok || e.Oldest <= *ts {
		return err
	}
	*ts = e.Oldest
	return nil
}

// replyHashState appends a hash as a map.
func replyHashState(v *keyspace.View, w *resp.Writer, k *keyspace.KeyDoc) error {
	n, err := keyspace.HashLength(v, k)
	if err != nil {
		return err
	}
	w.Map(int(n))
	return keyspace.EachField(v, k, func(field, value []byte) error {
		w.Bulk(field)
		w.Bulk(value)
		return nil
	})
}

func historyGetAt(c *command.Call) error {
	ts, err := c.Client.Moment(c.Args[1])
	if err != nil {
		return err
	}
	start := len(c.Reply.Buf)
	return c.Store.At(ts, func(snap *firn.Snapshot) error {
		v := c.At(snap)
		c.Reply.Buf = c.Reply.Buf[:start]
		k, ok, err := v.Find(c.Args[0])
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Null()
			return nil
		}
		return ReplyState(v, &c.Reply, &k)
	})
}

func keyInfo(c *command.Call) error {
	doc, k, ok, err := c.FindLive(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	versions, err := c.VersionsOf([]byte(doc.ID), &k)
	if err != nil {
		return err
	}
	length, err := keyspace.HashLength(c.View, &k)
	if err != nil {
		return err
	}
	size, err := keyspace.KeyBytes(c.View, doc, &k)
	if err != nil {
		return err
	}
	ttl := int64(-1)
	if k.Expires != 0 {
		ttl = k.Expires - c.Now()
	}
	author, err := c.R.Author(doc)
	if err != nil {
		return err
	}
	r := &c.Reply
	r.Map(10 + authorFields)
	r.BulkString("type")
	r.BulkString(k.Kind.String())
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"ttl", ttl}, {"created_at", k.Created}, {"updated_at", doc.TS.Millis()}, {"version", k.Version}, {"ts", int64(doc.TS)},
		{"length", length}, {"bytes", int64(size)}, {"versions", int64(versions)},
	} {
		r.BulkString(field.name)
		r.Int(field.value)
	}
	r.BulkString("operation")
	r.Bulk(k.Operation)
	replyAuthor(c, author)
	return nil
}

func orMinusOne(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}
