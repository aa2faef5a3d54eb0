package redis

import (
	"errors"
	"iter"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

var historyChangedCommand = Command{
	Name: "CHANGED", Args: "when [when] [MATCH pattern] [COUNT count]", Min: 1, Max: -1, Flags: ReadOnly | onWorker | OwnName, Since: "0.1.0",
	Complexity: "O(N) where N is the number of writes to the store in the interval",
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
	keys     scanOptions
}

func parseChangedQuery(c *Call) (q changedQuery, err error) {
	if q.from, err = readableMoment(c, c.Args[0]); err != nil {
		return q, err
	}
	rest := c.Args[1:]
	end := []byte("now")
	if len(rest) > 0 && !is(rest[0], "MATCH") && !is(rest[0], "COUNT") {
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
			return q, errSyntax
		case is(rest[0], "MATCH"):
			q.keys.setPattern(rest[1])
		case is(rest[0], "COUNT"):
			if q.count, err = parseLimit(rest[1]); err != nil {
				return q, err
			}
		default:
			return q, errSyntax
		}
	}
	if q.from > q.to {
		return q, errMoments
	}
	return q, nil
}

func historyChanged(c *Call) error {
	q, err := parseChangedQuery(c)
	if err != nil {
		return err
	}
	w := changedWalk{c: c, q: q}
	w.out.Proto = c.Reply.Proto
	err = c.store.At(q.to, func(snap *firn.Snapshot) error {
		v := c.at(snap)
		if w.past, err = newChronicle(v); err != nil {
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
	c    *Call
	q    changedQuery
	past *chronicle
	out  resp.Writer
	n    int            // keys in out
	last firn.Timestamp // of the newest of them
	next firn.Timestamp // where to go on; 0: there is no more
}

func (w *changedWalk) run() error {
	store, all := w.c.store, w.past.all
	for i := range all {
		g := &all[i]
		from, to := max(g.from-1, w.q.from), min(g.to, w.q.to)
		if from >= to {
			continue
		}
		if i > 0 && g.from > w.q.from {
			if err := w.began(i); err != nil {
				return err
			}
		}
		prefix := appendUID(nil, g.space)
		err := store.Changed(w.c.keys, prefix, from, to, func(doc *firn.Document) error {
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
	key, err := memberOf(sub, 0)
	if err != nil || !w.q.keys.matches([]byte(key)) {
		return err
	}
	if !last {
		newest, err := w.past.newest([]byte(key), w.q.to)
		if err != nil || newest == nil || newest.ts != doc.TS || newest.began {
			return err
		}
	}
	k, err := parseKeyDoc(doc)
	if err != nil {
		return err
	}
	return w.take(key, &event{ts: doc.TS, operation: string(k.Operation), deleted: doc.Deleted, key: k})
}

// began takes the keys that came or went with the i-th reign and to which
// nothing has happened since.
func (w *changedWalk) began(i int) error {
	all := w.past.all
	return w.c.store.At(all[i].from-1, func(snap *firn.Snapshot) error {
		for sub, err := range w.c.inEither(snap, all[i-1].space, all[i].space) {
			if err != nil {
				return err
			}
			key, err := memberOf(sub, 0)
			if err != nil {
				return err
			}
			if !w.q.keys.matches([]byte(key)) {
				continue
			}
			newest, err := w.past.newest([]byte(key), w.q.to)
			if err != nil {
				return err
			}
			if newest == nil || newest.ts != all[i].from || !newest.began {
				continue
			}
			if err := w.take(key, newest); err != nil {
				return err
			}
		}
		return nil
	})
}

// inEither walks the names of the keys that are in one of two keyspaces or in
// both, each once, as they stand in ids.
func (t *catalog) inEither(r firn.Reader, first, second uid) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		a, b := t.names(r, first), t.names(r, second)
		defer a.stop()
		defer b.stop()
		a.next()
		b.next()
		for a.err == nil && b.err == nil && (a.more || b.more) {
			sub := a.sub
			if !a.more || b.more && b.sub < a.sub {
				sub = b.sub
			}
			if !yield(sub, nil) {
				return
			}
			for _, n := range []*nameWalk{a, b} {
				if n.more && n.sub == sub {
					n.next()
				}
			}
		}
		if err := errors.Join(a.err, b.err); err != nil {
			yield("", err)
		}
	}
}

// nameWalk is a walk over the keys of a keyspace.
type nameWalk struct {
	pull func() (string, error, bool)
	stop func()
	skip int // bytes of the keyspace's uid
	sub  string
	more bool // sub is one
	err  error
}

func (t *catalog) names(r firn.Reader, space uid) *nameWalk {
	prefix := appendUID(nil, space)
	n := &nameWalk{skip: len(prefix)}
	n.pull, n.stop = iter.Pull2(r.Keys(firn.Range{Index: t.keys.ByID(), Prefix: prefix}, 0))
	return n
}

func (n *nameWalk) next() {
	var id string
	if id, n.err, n.more = n.pull(); n.err != nil {
		n.more = false
	}
	if n.more {
		n.sub = id[n.skip:]
	}
}

// take replies a key that changed, unless the page is full: pages end between
// transactions.
func (w *changedWalk) take(key string, e *event) error {
	if w.q.count > 0 && w.n >= w.q.count && e.ts > w.last {
		w.next = w.last
		return errPageFull
	}
	w.n++
	w.last = e.ts
	r := &w.out
	r.Map(5)
	replyField(r, "key", key)
	r.BulkString("ts")
	r.Int(int64(e.ts))
	replyField(r, "operation", e.operation)
	replyField(r, "type", e.key.Kind.String())
	r.BulkString("deleted")
	r.Bool(e.deleted)
	return nil
}
