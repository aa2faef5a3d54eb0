package feed

import (
	"fmt"
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// collection is what a change says of a collection.
type collection struct {
	*elements
	ch    *change
	skip  int  // bytes of the uid in front of ids
	whole bool // elements is all that it has, and otherwise what the commit wrote
}

// value adds what a live key became.
func (d *decoder) value(f *fields, ch *change) error {
	expires := int64(-1)
	if ch.k.Expires != 0 {
		expires = ch.k.Expires
	}
	f.name("expires_at").Int(expires)
	source, err := d.source(ch)
	if err != nil {
		return err
	}
	if source.text != "" {
		f.name("from").BulkString(source.text)
	}
	if ch.kind == keyspace.KindString {
		f.name("value").Bulk(ch.k.Value)
		return nil
	}
	c := collection{elements: d.rows.of(ch), ch: ch, skip: len(ch.prefix), whole: ch.k.UID.TS == d.ts}
	if !c.whole && !source.followed {
		if c.elements, err = d.all(ch); err != nil {
			return err
		}
		c.whole = true
	}
	return d.elements(f, &c)
}

func (d *decoder) elements(f *fields, c *collection) error {
	switch c.ch.kind {
	case keyspace.KindHash:
		return d.hash(f, c)
	case keyspace.KindList:
		return d.list(f, c)
	case keyspace.KindSet:
		return d.set(f, c)
	case keyspace.KindZSet:
		return d.zset(f, c)
	case keyspace.KindStream:
		return d.stream(f, c)
	}
	return fmt.Errorf("key %q at %d is a %s: %w", c.ch.doc.ID, d.ts, c.ch.kind, keyspace.ErrDamaged)
}

// source is where the state comes from that a change of a key goes on from.
type source struct {
	text     string // database:key, or of a payload its checksum; empty: it is the key's own, or nobody's business
	followed bool   // the client knows the state: its own, or that of text
}

// source finds the key that a collection was before the commit. One that was
// made in the commit comes from nowhere, whatever the source is.
//
// A version says where it was taken from by the number of a database, which may
// be that of before or of after an exchange in the same commit. The collection's
// uid tells.
func (d *decoder) source(ch *change) (source, error) {
	if ch.k.Origin == nil {
		space, _, err := keyspace.ParseKeyID(ch.doc.ID)
		return source{followed: d.knew(space)}, err
	}
	db, key, isKey := keyspace.ParseOrigin(ch.k.Origin)
	if !isKey || ch.k.UID.TS == d.ts || ch.kind == keyspace.KindString {
		if isKey && !d.follows(db, key) {
			return source{}, nil
		}
		return source{text: string(ch.k.Origin)}, nil
	}
	for _, shown := range [...]databases{d.shown, d.before} {
		space := shown.space(db)
		id := keyspace.AppendKeyID(nil, space, key)
		was, err := d.stateBefore(id)
		if err != nil {
			return source{}, err
		}
		if was == nil || was.UID != ch.k.UID {
			continue
		}
		now := d.shown.by(space)
		switch {
		case string(id) == ch.doc.ID:
			return source{followed: d.knew(space)}, nil
		case now < 0 || !d.knew(space) || !d.follows(now, key):
			return source{}, nil
		}
		return source{text: strconv.Itoa(now) + ":" + string(key), followed: true}, nil
	}
	return source{}, nil
}

// knew says that the client has what was in a keyspace before the commit: an
// exchange may have brought it from a database that is not asked for.
func (d *decoder) knew(space keyspace.UID) bool {
	if len(d.rows.databases) == 0 {
		return true
	}
	db := d.before.by(space)
	return db >= 0 && d.query.wantsDatabase(db)
}

// stateBefore is a key as it was before the commit; nil if it was not there, or
// cannot be read any more.
func (d *decoder) stateBefore(id []byte) (*keyspace.KeyDoc, error) {
	for doc, err := range d.snap.Versions(d.call.Keys, id, firn.VersionRange{To: d.ts - 1, Newest: true, Limit: 1}) {
		if err != nil {
			return nil, err
		}
		if doc.Deleted {
			return nil, nil
		}
		k, err := keyspace.ParseKeyDoc(doc)
		return &k, err
	}
	return nil, nil
}

// all reads all elements of a change's key, as the commit left them.
func (d *decoder) all(ch *change) (e *elements, err error) {
	err = d.call.Store.At(d.ts, func(then *firn.Snapshot) error {
		e = new(elements)
		for _, t := range d.call.ElementTables(ch.kind) {
			for item, err := range then.Scan(firn.Range{Index: t.ByID(), Prefix: []byte(ch.prefix)}) {
				if err != nil {
					return err
				}
				e.add(t.Name(), item.Doc)
			}
		}
		return nil
	})
	return e, err
}

// hash adds the fields of a hash, and when they end.
func (d *decoder) hash(f *fields, c *collection) error {
	added, changed, removed, ends := f.part(), f.part(), f.part(), f.part()
	gone := map[string]bool{}
	for _, doc := range c.own {
		field, err := keyspace.MemberOf(doc.ID, c.skip)
		if err != nil {
			return err
		}
		if doc.Deleted {
			gone[field] = true
			d.gone(&removed, c, doc, field)
			continue
		}
		w, err := d.came(&added, &changed, c, d.call.Elements, doc)
		if err != nil {
			return err
		}
		w.BulkString(field)
		w.Bulk(doc.Value)
	}
	for _, doc := range c.lifetimes {
		field, err := keyspace.MemberOf(doc.ID, c.skip)
		if err != nil {
			return err
		}
		end := int64(-1)
		switch ok := true; {
		case doc.Deleted && (c.whole || gone[field]):
			continue
		case !doc.Deleted:
			if end, ok = keyspace.ParseLifetime(doc.Value); !ok {
				return fmt.Errorf("lifetime %q at %d: %w", doc.ID, doc.TS, keyspace.ErrDamaged)
			}
		}
		w := ends.next()
		w.BulkString(field)
		w.Int(end)
	}
	d.keyed(f, c, &added, &changed, &removed)
	f.some("field_expires_at", &ends, pairs)
	return nil
}

// keyed adds the parts of a collection whose elements have values.
func (d *decoder) keyed(f *fields, c *collection, added, changed, removed *part) {
	if c.whole {
		f.put("value", added, pairs)
		return
	}
	f.some("added", added, pairs)
	f.some("changed", changed, pairs)
	f.some("removed", removed, set)
}

// came counts an element that was written, and returns where to append it: one
// that was there before is changed.
func (d *decoder) came(added, changed *part, c *collection, t *firn.Table, doc *firn.Document) (w *resp.Writer, err error) {
	if c.whole {
		return added.next(), nil
	}
	was, known, err := d.previous(t, doc)
	if err != nil {
		return nil, err
	}
	if known && was == nil {
		return added.next(), nil
	}
	return changed.next(), nil
}

// gone adds an element that was deleted, unless it came in the same commit.
func (d *decoder) gone(removed *part, c *collection, doc *firn.Document, name string) {
	if !c.whole && doc.Prev != 0 {
		removed.next().BulkString(name)
	}
}

// inFull tells all of a collection of which is not known what it was before.
func (d *decoder) inFull(f *fields, c *collection, tell func(*fields, *collection) error) (err error) {
	if c.elements, err = d.all(c.ch); err != nil {
		return err
	}
	c.whole = true
	return tell(f, c)
}

// set adds the members of a set.
func (d *decoder) set(f *fields, c *collection) error {
	added, removed := f.part(), f.part()
	for _, doc := range c.own {
		member, err := keyspace.MemberOf(doc.ID, c.skip)
		if err != nil {
			return err
		}
		if doc.Deleted {
			d.gone(&removed, c, doc, member)
			continue
		}
		added.next().BulkString(member)
	}
	if c.whole {
		f.put("value", &added, set)
		return nil
	}
	f.some("added", &added, set)
	f.some("removed", &removed, set)
	return nil
}

// zset adds the members of a sorted set, and their scores.
func (d *decoder) zset(f *fields, c *collection) error {
	added, changed, removed := f.part(), f.part(), f.part()
	for _, doc := range c.own {
		member, err := keyspace.MemberOf(doc.ID, c.skip)
		if err != nil {
			return err
		}
		if doc.Deleted {
			d.gone(&removed, c, doc, member)
			continue
		}
		score, ok := keyspace.ParseScore(doc.Value)
		if !ok {
			return fmt.Errorf("score %q at %d: %w", doc.ID, doc.TS, keyspace.ErrDamaged)
		}
		w, err := d.came(&added, &changed, c, d.call.Scores, doc)
		if err != nil {
			return err
		}
		w.BulkString(member)
		w.Double(score)
	}
	d.keyed(f, c, &added, &changed, &removed)
	return nil
}
