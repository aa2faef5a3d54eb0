package feed

import (
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// decoder makes commits what a client gets of them. It belongs to one page, and
// takes commits in their order.
type decoder struct {
	call  *command.Call
	query *query
	snap  *firn.Snapshot // of the present: it shows every commit of the page

	shown, before databases // after the commit at hand, and before it
	ts            firn.Timestamp
	rows          rows

	out     resp.Writer // the commits that have something for the client
	commits int
	authors map[int64]firn.Author // that were looked up
}

func newDecoder(c *command.Call, q *query, shown databases) *decoder {
	d := &decoder{call: c, query: q, shown: shown, before: shown}
	d.out.Proto = c.Reply.Proto
	return d
}

// commit adds what the client gets of a commit. whole has all rows of it, if
// commit has not: it is asked for if a change is wanted that may need them.
func (d *decoder) commit(commit *journal.Commit, whole func(firn.Timestamp) (*journal.Commit, error)) error {
	r, err := sorted(commit)
	if err != nil {
		return err
	}
	d.ts, d.rows = commit.TS, r
	wanted, err := d.wanted(&r)
	if err != nil || len(wanted)+len(r.others) == 0 {
		return err
	}
	if whole != nil && d.query.values && len(wanted) > 0 {
		all, err := whole(commit.TS)
		if err != nil {
			return err
		}
		if d.rows, err = sorted(all); err != nil {
			return err
		}
	}
	d.out.Array(2)
	d.out.Int(int64(commit.TS))
	d.out.Array(len(wanted) + len(r.others))
	for i := range wanted {
		if err := d.change(&wanted[i]); err != nil {
			return err
		}
	}
	for i := range r.others {
		if err := d.document(&r.others[i]); err != nil {
			return err
		}
	}
	d.commits++
	return nil
}

// wanted is what the client may and wants to see of a commit: what happened to
// databases first, and then, in terms of those, what happened to keys.
func (d *decoder) wanted(r *rows) (changes []change, err error) {
	var exchanged []change
	if d.before, exchanged, err = d.shown.exchanged(r.databases); err != nil {
		return nil, err
	}
	if !d.query.wantsKeys() {
		return nil, nil
	}
	for _, ch := range exchanged {
		if d.query.wantsDatabase(ch.db) && d.query.wantsOperation(ch.operation) {
			changes = append(changes, ch)
		}
	}
	for _, doc := range r.keys {
		ch, shown, err := keyChange(d.shown, doc)
		if err != nil {
			return nil, err
		}
		if !shown {
			continue
		}
		wanted, err := d.wants(&ch)
		if err != nil {
			return nil, err
		}
		if wanted {
			changes = append(changes, ch)
		}
	}
	return changes, nil
}

// wants says whether the change of a key is for the client.
func (d *decoder) wants(ch *change) (bool, error) {
	if !d.follows(ch.db, ch.key) || !d.query.wantsOperation(ch.operation) {
		return false, nil
	}
	if d.query.wantsKind(ch.k.Kind) { // a tombstone's is that of what ended
		return true, nil
	}
	was, _, err := d.previous(d.call.Keys, ch.doc)
	if err != nil || was == nil {
		return false, err
	}
	k, err := keyspace.ParseKeyDoc(was)
	return err == nil && d.query.wantsKind(k.Kind), err
}

// follows says whether the client sees all that happens to a key, but for what
// it says about types and operations.
func (d *decoder) follows(db int, key []byte) bool {
	return d.query.wantsDatabase(db) && d.query.matches(key) && d.call.Client.ReadsKey(d.call, key)
}

// previous is the version that one has replaced, if that was live; nil
// otherwise. known is false if it cannot be read any more.
func (d *decoder) previous(t *firn.Table, doc *firn.Document) (was *firn.Document, known bool, err error) {
	if doc.Prev == 0 {
		return nil, true, nil
	}
	for v, err := range d.snap.Versions(t, []byte(doc.ID), firn.VersionRange{From: doc.Prev, To: doc.Prev, Limit: 1}) {
		if err != nil {
			return nil, false, err
		}
		if v.Deleted {
			return nil, true, nil
		}
		return v, true, nil
	}
	return nil, false, nil
}

// change replies a change of a key or of a database.
func (d *decoder) change(ch *change) error {
	described := d.query.who || d.query.values
	d.header(described)
	d.out.Int(int64(ch.db))
	if ch.key == nil {
		d.out.Null()
	} else {
		d.out.Bulk(ch.key)
	}
	d.out.BulkString(ch.operation)
	if ch.key == nil {
		d.out.BulkString("database")
	} else {
		d.out.BulkString(ch.kind.String())
	}
	if !described {
		return nil
	}
	f := fields{w: resp.Writer{Proto: d.out.Proto}}
	if err := d.describe(&f, ch); err != nil {
		return err
	}
	f.appendTo(&d.out)
	return nil
}

func (d *decoder) header(described bool) {
	n := 4
	if described {
		n++
	}
	d.out.Array(n)
}

// describe adds who made a change, and with VALUES what the key became.
func (d *decoder) describe(f *fields, ch *change) error {
	if d.query.who {
		if err := d.author(f, ch.doc); err != nil {
			return err
		}
	}
	switch {
	case !d.query.values:
	case ch.key == nil && ch.from >= 0:
		f.name("from").BulkString(strconv.Itoa(ch.from))
	case ch.kind != keyspace.KindNone && d.query.wantsKind(ch.kind): // otherwise it is no longer of a type that is asked for
		return d.value(f, ch)
	}
	return nil
}

// author adds who wrote a version.
func (d *decoder) author(f *fields, doc *firn.Document) error {
	who, known := d.authors[doc.Author]
	if !known && doc.Author != 0 {
		var err error
		if who, err = d.snap.Author(doc); err != nil {
			return err
		}
		if d.authors == nil {
			d.authors = map[int64]firn.Author{}
		}
		d.authors[doc.Author] = who
	}
	w := f.name("who")
	w.Map(4)
	command.ReplyField(w, "user", who.User)
	command.ReplyField(w, "client", who.Client)
	command.ReplyField(w, "address", who.Address)
	command.ReplyField(w, "reason", who.Reason)
	return nil
}

// document replies a change of a program's own document.
func (d *decoder) document(ch *journal.Change) error {
	described := d.query.who || d.query.values
	d.header(described)
	d.out.BulkString(ch.Table)
	d.out.BulkString(ch.Doc.ID)
	if ch.Doc.Deleted {
		d.out.BulkString("delete")
	} else {
		d.out.BulkString("put")
	}
	d.out.BulkString("document")
	if !described {
		return nil
	}
	f := fields{w: resp.Writer{Proto: d.out.Proto}}
	if d.query.who {
		if err := d.author(&f, ch.Doc); err != nil {
			return err
		}
	}
	if d.query.values && !ch.Doc.Deleted {
		f.name("value").Bulk(ch.Doc.Value)
	}
	f.appendTo(&d.out)
	return nil
}

// fields is a map of a reply in the making.
type fields struct {
	w resp.Writer
	n int
}

// name begins a field, whose value the caller appends.
func (f *fields) name(name string) *resp.Writer {
	f.n++
	f.w.BulkString(name)
	return &f.w
}

func (f *fields) appendTo(w *resp.Writer) {
	w.Map(f.n)
	w.Buf = append(w.Buf, f.w.Buf...)
}

// part is an array, a set or a map that a field has, of which it is not known
// yet how long it is.
type part struct {
	w resp.Writer
	n int
}

// next counts an element, which the caller appends.
func (p *part) next() *resp.Writer {
	p.n++
	return &p.w
}

// form says what a part is.
type form int

const (
	array form = iota
	set
	pairs // a map
)

// put adds a part as a field.
func (f *fields) put(name string, p *part, as form) {
	w := f.name(name)
	switch as {
	case array:
		w.Array(p.n)
	case set:
		w.Set(p.n)
	case pairs:
		w.Map(p.n)
	}
	w.Buf = append(w.Buf, p.w.Buf...)
}

// some is put of a part that is not empty.
func (f *fields) some(name string, p *part, as form) {
	if p.n > 0 {
		f.put(name, p, as)
	}
}

// part is an empty one in the map's protocol.
func (f *fields) part() part { return part{w: resp.Writer{Proto: f.w.Proto}} }
