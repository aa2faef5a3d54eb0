package redis

import (
	"slices"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
)

// A key's history is the version chain of its document, and more: FLUSHDB and
// SWAPDB touch no key, but let the database show another keyspace. So the
// history is read reign by reign: while a keyspace was shown, its chain is
// the history, and where two reigns meet the key may have come or gone.

// event is one thing that happened to a key.
type event struct {
	ts        firn.Timestamp
	operation string
	deleted   bool
	key       keyDoc
	author    firn.Author
}

// reign is the time in which a database showed one keyspace.
type reign struct {
	space     uid
	from, to  firn.Timestamp // both inclusive
	operation string         // what began it
	author    firn.Author
}

// reigns lists what a database showed, oldest first. At least one is there.
func (c *Call) reigns(db int) ([]reign, error) {
	var all []reign
	id := schema.AppendInt(nil, int64(db))
	for doc, err := range c.R.Versions(c.work.databases, id, firn.VersionRange{}) {
		if err != nil {
			return nil, err
		}
		space, operation, err := parseDatabase(doc)
		if err != nil {
			return nil, err
		}
		if len(all) == 0 && doc.Prev == 0 {
			all = append(all, reign{space: uid{N: int64(db)}})
		}
		if n := len(all); n > 0 {
			all[n-1].to = doc.TS - 1
		}
		author, err := c.R.Author(doc)
		if err != nil {
			return nil, err
		}
		all = append(all, reign{space: space, from: doc.TS, operation: operation, author: author})
	}
	if len(all) == 0 {
		all = append(all, reign{space: uid{N: int64(db)}})
	}
	all[len(all)-1].to = schema.MaxTimestamp
	return all, nil
}

// events lists what happened to a key, as far as q asks for it.
func (c *Call) events(key []byte, q *historyQuery) ([]event, error) {
	all, err := c.reigns(c.DB)
	if err != nil {
		return nil, err
	}
	if q.until == 0 {
		q.until = schema.MaxTimestamp
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	if q.newest {
		slices.Reverse(order)
	}
	var found []event
	for _, i := range order {
		if all[i].to < q.since || all[i].from > q.until {
			continue
		}
		found, err = c.reignEvents(found, key, all, i, q)
		if err != nil || q.full(found) {
			return found, err
		}
	}
	return found, nil
}

func (q *historyQuery) full(found []event) bool {
	return q.limit > 0 && len(found) >= q.limit
}

// reignEvents appends what happened to a key during the i-th reign: how it
// began, and the versions of the key in it.
func (c *Call) reignEvents(found []event, key []byte, all []reign, i int, q *historyQuery) ([]event, error) {
	g := &all[i]
	began, err := c.reignBegan(key, all, i)
	if err != nil {
		return nil, err
	}
	if began != nil && (began.ts < q.since || began.ts > q.until) {
		began = nil
	}
	if began != nil && !q.newest {
		found = append(found, *began)
	}
	id := appendKeyID(nil, g.space, key)
	r := firn.VersionRange{From: max(g.from, q.since), To: min(g.to, q.until), Newest: q.newest}
	for doc, err := range c.R.Versions(c.work.keys, id, r) {
		if err != nil {
			return nil, err
		}
		if q.full(found) {
			break
		}
		k, err := parseKeyDoc(doc)
		if err != nil {
			return nil, err
		}
		author, err := c.R.Author(doc)
		if err != nil {
			return nil, err
		}
		found = append(found, event{doc.TS, string(k.Operation), doc.Deleted, k, author})
	}
	if began != nil && q.newest && !q.full(found) {
		found = append(found, *began)
	}
	return found, nil
}

// reignBegan is what the beginning of the i-th reign did to a key: it came
// with the keyspace, or went with the one before; nil if neither.
func (c *Call) reignBegan(key []byte, all []reign, i int) (*event, error) {
	if i == 0 {
		return nil, nil
	}
	g := &all[i]
	now, there, err := c.keyBefore(g.space, key, g.from)
	if err != nil {
		return nil, err
	}
	if there {
		return &event{g.from, g.operation, false, now, g.author}, nil
	}
	before, was, err := c.keyBefore(all[i-1].space, key, g.from)
	if err != nil || !was {
		return nil, err
	}
	return &event{g.from, g.operation, true, keyDoc{Kind: before.Kind, Version: before.Version}, g.author}, nil
}

// keyBefore is the state of a key of a keyspace just before ts.
func (c *Call) keyBefore(space uid, key []byte, ts firn.Timestamp) (k keyDoc, live bool, err error) {
	r := firn.VersionRange{To: ts - 1, Newest: true, Limit: 1}
	for doc, err := range c.R.Versions(c.work.keys, appendKeyID(nil, space, key), r) {
		if err != nil {
			return keyDoc{}, false, err
		}
		k, err = parseKeyDoc(doc)
		return k, err == nil && !doc.Deleted && !k.ended(ts.Millis()), err
	}
	return keyDoc{}, false, nil
}
