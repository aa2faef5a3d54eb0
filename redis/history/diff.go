package history

import (
	"bytes"
	"iter"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/resp"
)

var historyDiffCommand = command.Command{
	Name: "DIFF", Args: "key when when", Min: 3, Flags: command.ReadOnly | command.OnWorker | command.OwnName, Keys: command.FirstKey(command.Reads),
	Since: "0.1.0", Complexity: "O(n), n the elements at both moments; O(1) if the key was not written in between",
	Summary: "Returns what changed in a key between two moments, the earlier one first: its type and expiry before and after, and for a collection the elements that were " +
		"added, removed and changed. Absent is the type none. Strings, and a key whose type changed, are shown whole, before and after. " +
		"The lifetimes of a hash's fields, and the groups of a stream, are not compared.",
	Run: historyDiff,
}

// errMoments is the answer to an interval that ends before it begins. Taking it
// the other way round would show as added what was removed.
const errMoments = resp.Error("ERR the first moment must not be after the second")

func historyDiff(c *command.Call) error {
	from, err := c.Client.Moment(c.Args[1])
	if err != nil {
		return err
	}
	to, err := c.Client.Moment(c.Args[2])
	switch {
	case err != nil:
		return err
	case from > to:
		return errMoments
	}
	store := c.Store
	return store.At(from, func(old *firn.Snapshot) error {
		return store.At(to, func(new *firn.Snapshot) error {
			d := keyDiff{c: c}
			if err := d.before.read(c.At(old), c.Args[0]); err != nil {
				return err
			}
			if err := d.after.read(c.At(new), c.Args[0]); err != nil {
				return err
			}
			return d.reply()
		})
	})
}

// keyThen is a key at a moment, and its database then.
type keyThen struct {
	*keyspace.View
	doc  *firn.Document
	key  keyspace.KeyDoc
	live bool
}

func (s *keyThen) read(v *keyspace.View, key []byte) (err error) {
	s.View = v
	s.doc, s.key, s.live, err = s.FindLive(key)
	return err
}

// keyDiff is what changed in a key between two moments.
type keyDiff struct {
	c             *command.Call
	before, after keyThen
}

func (d *keyDiff) reply() error {
	r := &d.c.Reply
	elements := d.elements()
	if elements == nil {
		r.Map(6)
	} else {
		r.Map(7)
	}
	command.ReplyField(r, "type_before", d.before.key.Kind.String())
	command.ReplyField(r, "type_after", d.after.key.Kind.String())
	r.BulkString("expires_before")
	r.Int(orMinusOne(d.before.key.Expires))
	r.BulkString("expires_after")
	r.Int(orMinusOne(d.after.key.Expires))
	if elements != nil {
		return d.replyElements(elements)
	}
	r.BulkString("before")
	if err := d.replyWhole(&d.before); err != nil {
		return err
	}
	r.BulkString("after")
	return d.replyWhole(&d.after)
}

// replyWhole appends one of the two states as it was.
func (d *keyDiff) replyWhole(s *keyThen) error {
	if !s.live {
		d.c.Reply.Null()
		return nil
	}
	return ReplyState(s.View, &d.c.Reply, &s.key)
}

// elements compares the elements of two collections of one kind, of which one
// may be absent; it is nil if there is nothing of the sort to compare.
func (d *keyDiff) elements() func(*elementChanges) error {
	kind := d.before.key.Kind
	if !d.before.live {
		kind = d.after.key.Kind
	} else if d.after.live && d.after.key.Kind != kind {
		return nil
	}
	switch kind {
	case keyspace.KindHash:
		return d.hashes
	case keyspace.KindList:
		return d.lists
	case keyspace.KindSet:
		return d.sets
	case keyspace.KindZSet:
		return d.zsets
	case keyspace.KindStream:
		return d.streams
	}
	return nil
}

// elementChanges are the replies about elements, and how many are in each.
type elementChanges struct {
	added, removed, changed resp.Writer
	nAdded, nRemoved        int
	nChanged                int
	keyed                   bool // what was added and removed are maps
	plain                   bool // they are sets
}

func (d *keyDiff) replyElements(compare func(*elementChanges) error) error {
	var e elementChanges
	for _, part := range []*resp.Writer{&e.added, &e.removed, &e.changed} {
		part.Proto = d.c.Reply.Proto
	}
	if !d.untouched() {
		if err := compare(&e); err != nil {
			return err
		}
	}
	r := &d.c.Reply
	for _, part := range []struct {
		name string
		n    int
		w    *resp.Writer
	}{{"added", e.nAdded, &e.added}, {"removed", e.nRemoved, &e.removed}, {"changed", e.nChanged, &e.changed}} {
		r.BulkString(part.name)
		switch {
		case part.w == &e.changed:
			r.Array(part.n)
		case e.keyed:
			r.Map(part.n)
		case e.plain:
			r.Set(part.n)
		default:
			r.Array(part.n)
		}
		r.Raw(string(part.w.Buf))
	}
	return nil
}

// untouched says that it is the same version of the key, and that nothing of
// it has ended by itself.
func (d *keyDiff) untouched() bool {
	before, after := d.before.doc, d.after.doc
	return d.before.live && d.after.live && before.TS == after.TS && before.ID == after.ID && !d.before.key.MayEnd()
}

// compare calls visit with the documents of each element that is not the same
// at both moments, in the order of their sub-keys; nil is absent.
func (d *keyDiff) compare(table *firn.Table, visit func(sub string, before, after *firn.Document) error) error {
	before, stop := d.before.subKeys(table)
	defer stop()
	after, stop := d.after.subKeys(table)
	defer stop()
	a, err := before()
	if err != nil {
		return err
	}
	b, err := after()
	for err == nil && (a.doc != nil || b.doc != nil) {
		left, right := a, b
		switch {
		case a.doc == nil || b.doc != nil && b.sub < a.sub:
			left = subKeyed{sub: b.sub}
		case b.doc == nil || a.sub < b.sub:
			right = subKeyed{sub: a.sub}
		}
		if err := visit(left.sub, left.doc, right.doc); err != nil {
			return err
		}
		if left.doc != nil {
			if a, err = before(); err != nil {
				return err
			}
		}
		if right.doc != nil {
			b, err = after()
		}
	}
	return err
}

// subKeyed is the document of an element and what its id has behind the uid.
type subKeyed struct {
	sub string
	doc *firn.Document // nil: there are no more
}

// subKeys walks the elements of a state.
func (s *keyThen) subKeys(table *firn.Table) (next func() (subKeyed, error), stop func()) {
	if !s.live {
		return func() (subKeyed, error) { return subKeyed{}, nil }, func() {}
	}
	prefix := keyspace.AppendUID(nil, s.key.UID)
	pull, stop := iter.Pull2(s.R.Scan(firn.Range{Index: table.ByID(), Prefix: prefix}))
	return func() (subKeyed, error) {
		item, err, ok := pull()
		if err != nil || !ok {
			return subKeyed{}, err
		}
		return subKeyed{item.Key[len(prefix):], item.Doc}, nil
	}, stop
}

// sameDoc says that two documents, if both are there, hold the same.
func sameDoc(a, b *firn.Document) bool {
	return a != nil && b != nil && bytes.Equal(a.Value, b.Value)
}

func (d *keyDiff) hashes(e *elementChanges) error {
	e.keyed = true
	var gone [2]map[string]bool
	for i, s := range []*keyThen{&d.before, &d.after} {
		var err error
		if gone[i], err = keyspace.EndedFields(s.View, &s.key); err != nil {
			return err
		}
	}
	return d.compare(d.c.Elements, func(sub string, before, after *firn.Document) error {
		if gone[0][sub] {
			before = nil
		}
		if gone[1][sub] {
			after = nil
		}
		if sameDoc(before, after) || before == nil && after == nil {
			return nil
		}
		field, err := keyspace.MemberOf(sub, 0)
		if err != nil {
			return err
		}
		reply := e.put(before, after)
		reply.BulkString(field)
		for _, doc := range []*firn.Document{before, after} {
			if doc != nil {
				reply.Bulk(doc.Value)
			}
		}
		return nil
	})
}

// put counts a change, and returns what to reply about it into: for one that
// was changed an array of three has begun.
func (e *elementChanges) put(before, after *firn.Document) *resp.Writer {
	switch {
	case before == nil:
		e.nAdded++
		return &e.added
	case after == nil:
		e.nRemoved++
		return &e.removed
	}
	e.nChanged++
	e.changed.Array(3)
	return &e.changed
}

func (d *keyDiff) sets(e *elementChanges) error {
	e.plain = true
	return d.compare(d.c.Elements, func(sub string, before, after *firn.Document) error {
		if before != nil && after != nil {
			return nil
		}
		member, err := keyspace.MemberOf(sub, 0)
		if err != nil {
			return err
		}
		e.put(before, after).BulkString(member)
		return nil
	})
}

func (d *keyDiff) zsets(e *elementChanges) error {
	e.keyed = true
	return d.compare(d.c.Scores, func(sub string, before, after *firn.Document) error {
		if sameDoc(before, after) {
			return nil
		}
		member, err := keyspace.MemberOf(sub, 0)
		if err != nil {
			return err
		}
		reply := e.put(before, after)
		reply.BulkString(member)
		for _, doc := range []*firn.Document{before, after} {
			if doc == nil {
				continue
			}
			score, ok := keyspace.ParseScore(doc.Value)
			if !ok {
				return keyspace.ErrDamaged
			}
			reply.Double(score)
		}
		return nil
	})
}

// lists compares two lists. While it is the same collection an item keeps its
// position when others come and go. Otherwise the list was made anew, and what
// both begin and end with is the same.
func (d *keyDiff) lists(e *elementChanges) error {
	if !d.before.live || !d.after.live || d.before.key.UID != d.after.key.UID {
		return d.newLists(e)
	}
	var at [2]int64
	return d.compare(d.c.Elements, func(_ string, before, after *firn.Document) error {
		if !sameDoc(before, after) {
			e.item(at[0], at[1], before, after)
		}
		if before != nil {
			at[0]++
		}
		if after != nil {
			at[1]++
		}
		return nil
	})
}

// item replies an item with its index: where it was if it was removed, or else
// where it is.
func (e *elementChanges) item(was, is int64, before, after *firn.Document) {
	reply, index := e.put(before, after), is
	if after == nil {
		index = was
	}
	if before == nil || after == nil {
		reply.Array(2)
	}
	reply.Int(index)
	for _, doc := range []*firn.Document{before, after} {
		if doc != nil {
			reply.Bulk(doc.Value)
		}
	}
}

func (d *keyDiff) newLists(e *elementChanges) error {
	var items [2][]*firn.Document
	for i, s := range []*keyThen{&d.before, &d.after} {
		if !s.live {
			continue
		}
		for item, err := range s.R.Scan(firn.Range{Index: s.Elements.ByID(), Prefix: keyspace.AppendUID(nil, s.key.UID)}) {
			if err != nil {
				return err
			}
			items[i] = append(items[i], item.Doc)
		}
	}
	before, after := items[0], items[1]
	first := 0
	for first < len(before) && first < len(after) && sameDoc(before[first], after[first]) {
		first++
	}
	before, after = before[first:], after[first:]
	for len(before) > 0 && len(after) > 0 && sameDoc(before[len(before)-1], after[len(after)-1]) {
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	for i, doc := range before {
		e.item(int64(first+i), 0, doc, nil)
	}
	for i, doc := range after {
		e.item(0, int64(first+i), nil, doc)
	}
	return nil
}

// streams compares the entries of two streams. An id can only have another
// entry if the stream was made anew.
func (d *keyDiff) streams(e *elementChanges) error {
	return d.compare(d.c.Elements, func(sub string, before, after *firn.Document) error {
		var entries [2]keyspace.StreamEntry
		for i, doc := range []*firn.Document{before, after} {
			if doc == nil {
				continue
			}
			var err error
			if entries[i], err = keyspace.ParseStreamEntry(doc, len(doc.ID)-len(sub)); err != nil {
				return err
			}
		}
		old, new := &entries[0], &entries[1]
		switch {
		case before == nil:
			e.nAdded++
			return streams.ReplyEntry(&e.added, new)
		case after == nil:
			e.nRemoved++
			return streams.ReplyEntry(&e.removed, old)
		case bytes.Equal(old.Body.B, new.Body.B):
			return nil
		}
		e.nChanged++
		return replyChangedEntry(&e.changed, old, new)
	})
}

// replyChangedEntry appends an id, and the fields that it had and has.
func replyChangedEntry(w *resp.Writer, old, new *keyspace.StreamEntry) error {
	w.Array(3)
	streams.ReplyID(w, old.ID)
	for _, entry := range []*keyspace.StreamEntry{old, new} {
		w.Array(entry.Fields)
		body := entry.Body
		for range entry.Fields {
			b := body.Bin()
			if b == nil {
				return entry.Damaged()
			}
			w.Bulk(b)
		}
	}
	return nil
}
