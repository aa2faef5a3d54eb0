package journal

import (
	"cmp"
	"sort"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// builder builds one page. It ends where a commit does, so it looks at the
// bounds between two of them.
type builder struct {
	sieve   *sieve
	at      schema.Timestamp // everything up to it is done
	commits commits
	rows    int // that were looked at
	taken   int // of them those that were admitted
	bytes   int // of what was
	more    bool

	under schema.Timestamp // the commit under way; 0: none
	room  [4]Group         // scratch
}

// begins says whether a row of a commit may still come into the page. It ends
// the commit before.
func (b *builder) begins(ts schema.Timestamp) bool {
	if ts == b.under {
		return true
	}
	b.endCommit()
	s := b.sieve
	if b.rows >= s.MaxRows || b.bytes >= s.MaxBytes || len(b.commits.list) >= s.MaxCommits {
		b.more = true
		return false
	}
	b.under = ts
	return true
}

func (b *builder) endCommit() {
	if b.under != 0 {
		b.commits.end(b.under)
		b.at, b.under = b.under, 0
	}
}

// fromRing takes the page from groups that the ring has.
func (b *builder) fromRing(groups []Group) error {
	for i := range groups {
		g := &groups[i]
		rows := g.Rows
		if g.After < b.at {
			rows = rows[sort.Search(len(rows), func(i int) bool { return rows[i].TS > b.at }):]
		}
		for _, row := range rows {
			if !b.begins(row.TS) {
				return nil
			}
			b.rows++
			if err := b.take(row); err != nil {
				return err
			}
		}
	}
	b.endCommit()
	return nil
}

// take takes a row that nobody changes, if it is admitted.
func (b *builder) take(row *schema.Row) error {
	table, ok := b.sieve.wants(row)
	if !ok {
		return nil
	}
	ok, err := b.sieve.keeps(table, row)
	if err == nil && ok {
		b.add(table, row)
	}
	return err
}

func (b *builder) add(table string, row *schema.Row) {
	b.commits.add(table, row)
	b.taken++
	b.bytes += len(row.ID) + len(row.Value)
}

// walkRows is how many rows of the log are read in one read transaction, which
// holds back the emptying of the write-ahead log.
const walkRows = 1024

// fromLog takes the page from the log, up to what is the newest commit now.
//
// What is read may be deleted meanwhile, so the horizon is looked at afterwards:
// if it has not passed where the page began, all was there.
func (b *builder) fromLog() error {
	began := b.at
	if began >= b.sieve.journal.opts.Newest() {
		return nil // there is nothing behind it that could be missing
	}
	b.commits.sorted = true
	cursor, done := schema.Cursor{TS: began + 1}, false // no table has the id 0
	var newest schema.Timestamp
	for !done && !b.more {
		var err error
		cursor, newest, done, err = b.walk(cursor)
		if err != nil {
			return cmp.Or(b.admitted(began), err)
		}
	}
	if done {
		b.endCommit()
		b.at = max(b.at, newest)
	}
	if b.rare() {
		if err := b.fromIndex(); err != nil {
			return cmp.Or(b.admitted(began), err)
		}
	}
	return b.admitted(began)
}

// admitted refuses a moment behind which anything is missing.
func (b *builder) admitted(began schema.Timestamp) error {
	s, o := b.sieve, &b.sieve.journal.opts
	if err := o.Whole(began); err != nil {
		return err
	}
	began = max(began, o.Created)
	if s.tables == nil {
		return o.Admit(began, 0, nil)
	}
	for _, t := range s.tables {
		if err := o.Admit(began, t, s.Prefixes); err != nil {
			return err
		}
	}
	return nil
}

// walk reads rows of the log up to the newest commit.
func (b *builder) walk(after schema.Cursor) (next schema.Cursor, newest schema.Timestamp, done bool, err error) {
	var v reader.View
	b.sieve.journal.opts.Present(&v)
	defer v.Close()
	newest = v.Timestamp()
	if after.TS > newest {
		return after, newest, true, nil
	}
	next, done, err = v.Walk(after, walkRows, func(row *schema.Visit) (bool, error) {
		if !b.begins(row.TS) {
			return false, nil
		}
		b.rows++
		return true, b.visit(row)
	})
	return next, newest, done, err
}

// visit takes a row of the log.
func (b *builder) visit(v *schema.Visit) error {
	table, ok := b.sieve.wants(&v.Row)
	if !ok {
		return nil
	}
	row := v.Row
	if s := b.sieve; len(s.Authors) > 0 || s.Keep != nil {
		var err error
		if row.Value, err = v.Value(); err != nil {
			return err
		}
		if ok, err = s.keeps(table, &row); err != nil || !ok {
			return err
		}
	}
	own, err := v.Copy()
	if err != nil {
		return err
	}
	b.add(table, own)
	return nil
}
