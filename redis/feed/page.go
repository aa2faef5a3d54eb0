package feed

import (
	"fmt"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

const (
	// pageBytes is after how many bytes of reply a page ends: as much as the log
	// is read at once. A commit is never cut, so one that is larger is a page of
	// its own, and takes its size in memory.
	pageBytes = schema.PageBytes

	// maxPrefixes is with how many prefixes of ids changes are looked for by the
	// index: each row that is new is compared with all of them.
	maxPrefixes = 64

	// maxExchanges is how many exchanges of databases a page by the index meets:
	// each makes it look up the keys anew.
	maxExchanges = 16
)

// page is what a client gets at once.
type page struct {
	*decoder
	ts   firn.Timestamp // where to go on
	more bool           // there is something behind it
}

// read reads a page.
func (q *query) read(c *command.Call) (p page, err error) {
	shown, err := databasesAt(c.View, q.after)
	if err != nil {
		return p, err
	}
	p = page{decoder: newDecoder(c, q, shown), ts: q.after}
	if asof := c.Client.AsOf(); asof != 0 && asof <= q.after {
		return p, nil
	}
	if q.byIndex(c) {
		err = p.byIndex()
	} else {
		err = p.byLog()
	}
	return p, err
}

// keyTables are the tables that tell which keys have changed, and valueTables
// those that tell what they became.
var (
	keyTables   = []string{keyspace.DatabasesTable, keyspace.KeysTable}
	valueTables = []string{
		keyspace.DatabasesTable, keyspace.KeysTable, keyspace.ElementsTable,
		keyspace.ScoresTable, keyspace.GroupsTable, keyspace.LifetimesTable,
	}
)

// byLog reads a page of whatever was committed.
func (p *page) byLog() error {
	q := p.query
	f := journal.Filter{MaxCommits: q.count}
	whole := p.whole
	switch {
	case !q.wantsKeys():
	case q.values && len(q.patterns) == 0:
		f.Tables, whole = append(f.Tables, valueTables...), nil
	default:
		f.Tables = append(f.Tables, keyTables...)
	}
	for _, name := range q.tables {
		if name != keyspace.KeysTable {
			f.Tables = append(f.Tables, name)
		}
	}
	if len(q.patterns) > 0 {
		f.Keep = q.keeps
	}
	found, err := p.call.Store.Journal().Page(p.ts, &f)
	if err != nil {
		return err
	}
	return p.take(found, found.TS, found.More, whole)
}

// keeps says whether a version may be one that is asked for, by its name.
func (q *query) keeps(table string, doc *firn.Document) bool {
	switch {
	case table == keyspace.KeysTable:
		_, key, err := keyspace.ParseKeyID(doc.ID)
		return err != nil || q.matches(key)
	case tables[table]:
		return true
	}
	return q.matches([]byte(doc.ID))
}

// take adds commits up to a moment, which is where the page ends unless its
// bounds come first.
func (p *page) take(found journal.Page, end firn.Timestamp, more bool, whole func(firn.Timestamp) (*journal.Commit, error)) error {
	if asof := p.call.Client.AsOf(); asof != 0 && end > asof {
		end, more = asof, false
	}
	return p.call.Store.View(func(snap *firn.Snapshot) error {
		p.snap = snap
		for i := range found.Commits {
			c := &found.Commits[i]
			if c.TS > end {
				break
			}
			if p.full() {
				p.more = true
				return nil
			}
			if err := p.commit(c, whole); err != nil {
				return err
			}
			p.ts = c.TS
		}
		p.ts, p.more = max(p.ts, end), more
		return nil
	})
}

// full says that nothing more comes into the page.
func (p *page) full() bool { return p.commits >= p.query.count || len(p.out.Buf) >= pageBytes }

// whole reads all that a commit has written to keys.
func (p *page) whole(ts firn.Timestamp) (*journal.Commit, error) {
	found, err := p.call.Store.Journal().Page(ts-1, &journal.Filter{Tables: valueTables, MaxCommits: 1})
	if err != nil {
		return nil, err
	}
	if len(found.Commits) == 0 || found.Commits[0].TS != ts {
		return nil, fmt.Errorf("commit %d is not in the log: %w", ts, keyspace.ErrDamaged)
	}
	return &found.Commits[0], nil
}

// byIndex says whether few keys are asked for, so that what was missed of them
// is found by the index.
func (q *query) byIndex(c *command.Call) bool {
	literal := q.narrow()
	databases := len(q.databases)
	if databases == 0 {
		databases = c.DatabaseCount
	}
	return len(q.tables) == 0 && len(literal) > 0 && len(literal)*databases <= maxPrefixes
}

// byIndex reads a page of what was written to few keys. Which ids they have
// changes where databases are exchanged, so it reads from one exchange to the
// next.
func (p *page) byIndex() error {
	for range maxExchanges {
		keys, err := p.call.Store.Journal().Page(p.ts, p.keyFilter())
		if err != nil {
			return err
		}
		exchanges, err := p.call.Store.Journal().Page(p.ts, p.exchangeFilter())
		if err != nil {
			return err
		}
		end := min(keys.TS, exchanges.TS)
		if len(exchanges.Commits) == 0 || exchanges.Commits[0].TS > end {
			return p.take(keys, end, keys.More || exchanges.More || keys.TS != exchanges.TS, p.whole)
		}
		exchange := exchanges.Commits[0].TS
		if err := p.take(keys, exchange-1, true, p.whole); err != nil || p.full() || p.ts != exchange-1 {
			return err
		}
		all, err := p.whole(exchange)
		if err != nil {
			return err
		}
		if err := p.take(journal.Page{Commits: []journal.Commit{*all}}, exchange, true, nil); err != nil || p.full() || p.ts != exchange {
			return err
		}
	}
	return nil
}

// keyFilter is the versions of the keys that are asked for, in the keyspaces that
// are shown now.
func (p *page) keyFilter() *journal.Filter {
	f := &journal.Filter{Tables: []string{keyspace.KeysTable}, MaxCommits: max(p.query.count-p.commits, 1), Keep: p.query.keeps}
	databases := p.query.databases
	if len(databases) == 0 {
		for db := range p.call.DatabaseCount {
			databases = append(databases, db)
		}
	}
	for _, db := range databases {
		for _, begins := range p.query.narrow() {
			id := keyspace.AppendKeyID(nil, p.shown.space(db), begins)
			f.Prefixes = append(f.Prefixes, id[:len(id)-1]) // the element's end
		}
	}
	return f
}

// exchangeFilter is the next exchange of databases.
func (p *page) exchangeFilter() *journal.Filter {
	f := &journal.Filter{Tables: []string{keyspace.DatabasesTable}, MaxCommits: 1}
	for db := range p.call.DatabaseCount {
		f.Prefixes = append(f.Prefixes, tuple.AppendInt(nil, int64(db)))
	}
	return f
}
