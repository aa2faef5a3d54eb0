package redis

import (
	"errors"
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

var historyCommands = []Command{
	{
		Name: "HISTORY", Flags: ReadOnly | onWorker | OwnName, Group: "history", Since: "0.1.0", Complexity: "Depends on subcommand.",
		Summary: "A container for commands about what keys were.",
		Sub: slices.Concat([]Command{
			{
				Name: "GET", Args: "key [SINCE when] [UNTIL when] [LIMIT n] [REV] [VALUES]", Min: 1, Max: -1,
				Flags: ReadOnly | onWorker | OwnName, Keys: Keys{1, 1, 1}, Since: "0.1.0",
				Complexity: "O(N) where N is the number of versions that are returned; with VALUES the elements of each",
				Summary: "Returns what happened to a key, oldest first, its deletions included; with VALUES its state then, as HISTORY GETAT shows it. " +
					"FLUSHDB and SWAPDB are there where the key came or went by them.",
				Run: historyGet,
			},
			{
				Name: "GETAT", Args: "key when", Min: 2, Flags: ReadOnly | onWorker | OwnName, Keys: Keys{1, 1, 1}, Since: "0.1.0",
				Complexity: "O(N) where N is the number of elements",
				Summary: "Returns the state of a key at a moment, in the shape of its type: that of GET, HGETALL, LRANGE, SMEMBERS, ZRANGE WITHSCORES or XRANGE. " +
					"The lifetimes of a hash's fields, and the groups of a stream, are for AT with HPEXPIRETIME and XINFO.",
				Run: historyGetAt,
			},
			historyDiffCommand,
			historyChangedCommand,
			historyRevertCommand,
			historyListCommand,
			historyStatsCommand,
			help,
		}, policyCommands, forgettingCommands),
	},
	{
		Name: "KEYINFO", Args: "key", Min: 1, Flags: ReadOnly | OwnName, Keys: Keys{1, 1, 1}, Group: "history", Since: "0.1.0",
		Complexity: "O(N+M) where N is the number of versions and M that of elements",
		Summary:    "Returns what is known about a key: type, times, version, size and what wrote it last.",
		Run:        keyInfo,
	},
}

// historyQuery is what HISTORY GET asks for.
type historyQuery struct {
	since, until firn.Timestamp // both inclusive
	limit        int            // 0: all
	newest       bool           // newest first
	values       bool
}

func parseHistoryQuery(c *Call) (q historyQuery, err error) {
	q.until = c.Client.AsOf()
	for rest := c.Args[1:]; len(rest) > 0; {
		switch {
		case is(rest[0], "REV"):
			q.newest = true
			rest = rest[1:]
			continue
		case is(rest[0], "VALUES"):
			q.values = true
			rest = rest[1:]
			continue
		case len(rest) == 1:
			return q, errSyntax
		case is(rest[0], "SINCE"):
			q.since, err = readableMoment(c, rest[1])
		case is(rest[0], "UNTIL"):
			var until firn.Timestamp
			until, err = readableMoment(c, rest[1])
			if q.until == 0 || until < q.until {
				q.until = until
			}
		case is(rest[0], "LIMIT"):
			q.limit, err = parseLimit(rest[1])
		default:
			return q, errSyntax
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
		return 0, errNotInteger
	}
	return int(n), nil
}

// readableMoment reads a moment at which the database must be readable, and so
// must the call's first key, if it has one: what is forgotten is not left out
// silently.
func readableMoment(c *Call, when []byte) (firn.Timestamp, error) {
	ts, err := c.Client.Moment(when)
	if err != nil {
		return 0, err
	}
	return ts, c.store.At(ts, func(snap *firn.Snapshot) error {
		past := c.at(snap)
		if c.Cmd.Keys.First == 0 {
			_, err := past.keyspace(c.DB)
			return err
		}
		_, err := past.findDocument(c.Args[0])
		return err
	})
}

func historyGet(c *Call) error {
	q, err := parseHistoryQuery(c)
	if err != nil {
		return err
	}
	var found []event
	var authors []firn.Author // of each
	err = c.present(func(v *View) error {
		h, err := newChronicle(v)
		if err != nil {
			return err
		}
		var failed error
		err = h.each(c.Args[0], &q, func(e *event) bool {
			var who firn.Author
			if e.doc != nil {
				who, failed = v.R.Author(e.doc)
			}
			found, authors = append(found, *e), append(authors, who)
			return failed == nil
		})
		return errors.Join(err, failed)
	})
	if err != nil {
		return err
	}
	c.Reply.Array(len(found))
	for i := range found {
		if err := replyEvent(c, &found[i], &authors[i], q.values); err != nil {
			return err
		}
	}
	return nil
}

// replyEvent appends the map of one event.
func replyEvent(c *Call, e *event, who *firn.Author, values bool) error {
	r := &c.Reply
	fields := 7 + authorFields
	if values {
		fields++
	}
	r.Map(fields)
	r.BulkString("ts")
	r.Int(int64(e.ts))
	r.BulkString("version")
	r.Int(e.key.Version)
	r.BulkString("operation")
	r.BulkString(e.operation)
	r.BulkString("type")
	r.BulkString(e.key.Kind.String())
	r.BulkString("length")
	r.Int(e.key.Length)
	r.BulkString("expires_at")
	r.Int(orMinusOne(e.key.Expires))
	r.BulkString("deleted")
	r.Bool(e.deleted)
	replyAuthor(c, *who)
	if !values {
		return nil
	}
	r.BulkString("value")
	if e.deleted {
		r.Null()
		return nil
	}
	if e.key.Kind == kindString {
		r.Bulk(e.key.Value)
		return nil
	}
	return replyThen(c, e)
}

// replyThen appends the state that a key had by an event. A version that its
// horizon has passed is still the state at the horizon, unless something newer
// is by now.
func replyThen(c *Call, e *event) error {
	start, ts := len(c.Reply.Buf), e.ts
	for {
		err := c.store.At(ts, func(snap *firn.Snapshot) error {
			v := c.at(snap)
			c.Reply.Buf = c.Reply.Buf[:start]
			doc, err := snap.Last(c.keys, e.id)
			switch {
			case err != nil && err != firn.ErrNotFound:
				return err
			case err != nil || doc.TS != e.written:
				return &firn.CompactedError{Asked: e.ts, Oldest: ts}
			}
			return replyState(v, &c.Reply, &e.key)
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
func replyHashState(v *View, w *resp.Writer, k *keyDoc) error {
	n, err := hashLength(v, k)
	if err != nil {
		return err
	}
	w.Map(int(n))
	return eachField(v, k, func(field, value []byte) error {
		w.Bulk(field)
		w.Bulk(value)
		return nil
	})
}

func historyGetAt(c *Call) error {
	ts, err := c.Client.Moment(c.Args[1])
	if err != nil {
		return err
	}
	start := len(c.Reply.Buf)
	return c.store.At(ts, func(snap *firn.Snapshot) error {
		v := c.at(snap)
		c.Reply.Buf = c.Reply.Buf[:start]
		k, ok, err := v.find(c.Args[0])
		if err != nil {
			return err
		}
		if !ok {
			c.Reply.Null()
			return nil
		}
		return replyState(v, &c.Reply, &k)
	})
}

func keyInfo(c *Call) error {
	doc, k, ok, err := c.findLive(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	versions := 0
	for _, err := range c.R.Versions(c.keys, []byte(doc.ID), firn.VersionRange{}) {
		if err != nil {
			return err
		}
		versions++
	}
	length, err := hashLength(c.View, &k)
	if err != nil {
		return err
	}
	size, err := keyBytes(c.View, doc, &k)
	if err != nil {
		return err
	}
	ttl := int64(-1)
	if k.Expires != 0 {
		ttl = k.Expires - c.now()
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

// keyBytes is how many bytes of ids and values a live key's present state has.
func keyBytes(v *View, doc *firn.Document, k *keyDoc) (int, error) {
	n := len(doc.ID) + len(doc.Value)
	if k.Kind == kindString {
		return n, nil
	}
	for _, table := range v.elementTables(k.Kind) {
		for item, err := range v.R.Scan(firn.Range{Index: table.ByID(), Prefix: v.prefixOf(k.UID)}) {
			if err != nil {
				return 0, err
			}
			n += len(item.Key) + len(item.Doc.Value)
		}
	}
	return n, nil
}

func orMinusOne(n int64) int64 {
	if n == 0 {
		return -1
	}
	return n
}
