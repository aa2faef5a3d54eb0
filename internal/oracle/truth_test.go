package oracle

import (
	"fmt"
	"slices"
	"sync"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal/journaltest"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
)

// truth is the log, read from the file beside the server, before it is
// forgotten: a hold keeps what it has not read yet.
type truth struct {
	run *run

	mu      sync.Mutex
	commits []logged
	upTo    schema.Timestamp // everything until here was read
	rounds  int              // how often it was read
}

// logged is one commit: what it changed of keys and databases.
type logged struct {
	ts      schema.Timestamp
	changes []keyspace.Change
}

// collect reads what is new.
func (tr *truth) collect() error {
	store, err := firn.Open(tr.run.server.path, firn.Options{ReadOnly: true, Tables: keyspace.Tables()})
	if err != nil {
		return err
	}
	defer store.Close()
	tr.mu.Lock()
	from := tr.upTo
	tr.mu.Unlock()
	newest := store.Bounds().Newest
	if newest <= from {
		return tr.add(nil, from)
	}
	meaning, err := keyspace.NewChanges(store, from)
	if err != nil {
		return err
	}
	var came []logged
	err = store.Log(from+1, newest, func(table string, doc *firn.Document) error {
		c, ok, err := meaning.Of(table, doc)
		if err != nil || !ok || c.DB < 0 {
			return err
		}
		if n := len(came); n == 0 || came[n-1].ts != doc.TS {
			came = append(came, logged{ts: doc.TS})
		}
		at := &came[len(came)-1]
		at.changes = append(at.changes, c)
		return nil
	})
	if err != nil {
		return fmt.Errorf("the log from %d to %d: %w", from, newest, err)
	}
	return tr.add(came, newest)
}

func (tr *truth) add(came []logged, upTo schema.Timestamp) error {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.commits = append(tr.commits, came...)
	tr.upTo = upTo
	tr.rounds++
	return nil
}

// catchUp waits until everything is known that was committed before.
func (tr *truth) catchUp() {
	read := func() int {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.rounds
	}
	for since := read(); read() < since+2 && tr.run.ctx.Err() == nil; { // the first may be under way already
		tr.run.rest(truthEvery)
	}
}

// keep collects until the run has ended, and has the server keep what is not
// collected yet.
func (tr *truth) keep() {
	r := tr.run
	var w *wire
	for r.ctx.Err() == nil {
		if w == nil {
			w, _ = r.asker()
		}
		if err := tr.collect(); err != nil {
			r.fail("truth", "%v", err)
			return
		}
		if w != nil {
			if v, err := w.ask("HOLD", "truth", "AT", fmt.Sprint(tr.known()), "TTL", "60"); err != nil || v.IsError() {
				w.Close()
				w = nil
			}
		}
		r.rest(truthEvery)
	}
	if w != nil {
		w.Close()
	}
}

// known is the moment up to which the log is known.
func (tr *truth) known() schema.Timestamp {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.upTo
}

// log is what a filter makes of the log between two moments.
func (tr *truth) log(after, to schema.Timestamp, f *filter) (log []journaltest.Commit) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	from, _ := slices.BinarySearchFunc(tr.commits, after, func(c logged, ts schema.Timestamp) int { return int(c.ts - ts) })
	for _, c := range tr.commits[from:] {
		if c.ts <= after {
			continue
		}
		if c.ts > to {
			break
		}
		var changes []journaltest.Change
		for i := range c.changes {
			if f.wants(&c.changes[i]) {
				changes = append(changes, changeOf(&c.changes[i]))
			}
		}
		if len(changes) > 0 {
			log = append(log, journaltest.Commit{TS: c.ts, Changes: changes})
		}
	}
	return log
}

// changeOf is a change of the log as journaltest compares it with what a client
// was told.
func changeOf(c *keyspace.Change) journaltest.Change {
	kind, name := c.Type, fmt.Sprintf("%d:%q", c.DB, c.Key)
	switch {
	case c.Key == nil:
		name = fmt.Sprint(c.DB)
	case c.Deleted:
		kind = "none"
	}
	return journaltest.Change{Name: name, Became: c.Operation + " " + kind}
}
