package history

import (
	"errors"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

var historyChangedCommand = command.Command{
	Name: "CHANGED", Args: "when [when] [MATCH pattern] [COUNT count]", Min: 1, Max: -1, Flags: command.ReadOnly | command.OnWorker | command.OwnName,
	Since: "0.1.0", Complexity: "O(n), n the writes to the store in the interval",
	Summary: "Returns which keys of the database changed after the first moment and up to the second, or now: each once, with its newest change, in order of time. " +
		"Before them comes the moment to go on from with the same second moment if COUNT did not let all through, or 0. " +
		"A transaction is never cut, so there may be more than COUNT. A key that came or went because FLUSHDB or SWAPDB let the database show another keyspace has changed by that. " +
		"A key that expired changes when it is swept.",
	Run: historyChanged,
}

// changedQuery is what HISTORY CHANGED asks for.
type changedQuery struct {
	from, to firn.Timestamp // from is exclusive
	count    int            // 0: all
	keys     command.ScanOptions
}

func parseChangedQuery(c *command.Call) (q changedQuery, err error) {
	if q.from, err = readableMoment(c, c.Args[0]); err != nil {
		return q, err
	}
	rest := c.Args[1:]
	end := []byte("now")
	if len(rest) > 0 && !command.Is(rest[0], "MATCH") && !command.Is(rest[0], "COUNT") {
		end, rest = rest[0], rest[1:]
	}
	if q.to, err = c.Client.Moment(end); err != nil {
		return q, err
	}
	if asof := c.Client.AsOf(); asof != 0 {
		q.to = min(q.to, asof)
	}
	for ; len(rest) > 0; rest = rest[2:] {
		switch {
		case len(rest) == 1:
			return q, command.ErrSyntax
		case command.Is(rest[0], "MATCH"):
			q.keys.SetPattern(rest[1])
		case command.Is(rest[0], "COUNT"):
			if q.count, err = parseLimit(rest[1]); err != nil {
				return q, err
			}
		default:
			return q, command.ErrSyntax
		}
	}
	if q.from > q.to {
		return q, errMoments
	}
	return q, nil
}

func historyChanged(c *command.Call) error {
	q, err := parseChangedQuery(c)
	if err != nil {
		return err
	}
	w := changedWalk{c: c, q: q}
	w.out.Proto = c.Reply.Proto
	err = c.Store.At(q.to, func(snap *firn.Snapshot) error {
		v := c.At(snap)
		if w.past, err = keyspace.NewChronicle(v); err != nil {
			return err
		}
		return w.run()
	})
	if err != nil && err != errPageFull {
		return err
	}
	c.Reply.Array(2)
	c.Reply.Int(int64(w.next))
	c.Reply.Array(w.n)
	c.Reply.Raw(string(w.out.Buf))
	return nil
}

// errPageFull ends a walk that has what was asked for.
var errPageFull = errors.New("redis: the page is full")

// changedWalk finds the keys that changed, reign by reign: those that came or
// went as it began, and those that were written in it. Of these it takes only
// a key's newest event.
type changedWalk struct {
	c    *command.Call
	q    changedQuery
	past *keyspace.Chronicle
	out  resp.Writer
	n    int            // keys in out
	last firn.Timestamp // of the newest of them
	next firn.Timestamp // where to go on; 0: there is no more
}

func (w *changedWalk) run() error {
	store, all := w.c.Store, w.past.All
	for i := range all {
		g := &all[i]
		from, to := max(g.From-1, w.q.from), min(g.To, w.q.to)
		if from >= to {
			continue
		}
		if i > 0 && g.From > w.q.from {
			if err := w.began(i); err != nil {
				return err
			}
		}
		prefix := keyspace.AppendUID(nil, g.Space)
		err := store.Changed(w.c.Keys, prefix, from, to, func(doc *firn.Document) error {
			return w.written(doc, doc.ID[len(prefix):], i == len(all)-1)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// written takes the newest version of a key in a reign, if it is the newest of
// all: in the last reign it is.
func (w *changedWalk) written(doc *firn.Document, sub string, last bool) error {
	key, err := keyspace.MemberOf(sub, 0)
	if err != nil || !w.q.keys.Matches([]byte(key)) {
		return err
	}
	if !last {
		newest, err := w.past.Newest([]byte(key), w.q.to)
		if err != nil || newest == nil || newest.Written != doc.TS || newest.Began {
			return err
		}
	}
	k, err := keyspace.ParseKeyDoc(doc)
	if err != nil {
		return err
	}
	return w.take(key, &keyspace.Event{TS: doc.TS, Operation: string(k.Operation), Deleted: doc.Deleted, Key: k})
}

// began takes the keys that came or went with the i-th reign and to which
// nothing has happened since.
func (w *changedWalk) began(i int) error {
	all := w.past.All
	return w.c.Store.At(all[i].From-1, func(snap *firn.Snapshot) error {
		for sub, err := range w.c.InEither(snap, all[i-1].Space, all[i].Space) {
			if err != nil {
				return err
			}
			key, err := keyspace.MemberOf(sub, 0)
			if err != nil {
				return err
			}
			if !w.q.keys.Matches([]byte(key)) {
				continue
			}
			newest, err := w.past.Newest([]byte(key), w.q.to)
			if err != nil {
				return err
			}
			if newest == nil || newest.TS != all[i].From || !newest.Began {
				continue
			}
			if err := w.take(key, newest); err != nil {
				return err
			}
		}
		return nil
	})
}

// take replies a key that changed, unless the page is full: pages end between
// transactions.
func (w *changedWalk) take(key string, e *keyspace.Event) error {
	if w.q.count > 0 && w.n >= w.q.count && e.TS > w.last {
		w.next = w.last
		return errPageFull
	}
	w.n++
	w.last = e.TS
	r := &w.out
	r.Map(5)
	command.ReplyField(r, "key", key)
	r.BulkString("ts")
	r.Int(int64(e.TS))
	command.ReplyField(r, "operation", e.Operation)
	command.ReplyField(r, "type", e.Key.Kind.String())
	r.BulkString("deleted")
	r.Bool(e.Deleted)
	return nil
}
