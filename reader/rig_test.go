package reader

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// rig is a head over a real file, with a writer's work done by the test.
type rig struct {
	t      testing.TB
	engine *watched
	tail   *index.Tail
	head   *Head
	merger *index.Merger
	now    schema.Timestamp // of the last transaction
	slice  int              // entries of a merge under way that each commit takes along
}

// watched is an engine that counts what its sessions are asked for, and can
// be told to refuse them.
type watched struct {
	schema.Engine
	reads  atomic.Int64 // calls of Get, Row, Scan and Versions
	opened atomic.Int64 // sessions
	refuse atomic.Bool
}

var errRefused = errors.New("the file must not be read")

func (w *watched) Session() (schema.Session, error) {
	w.opened.Add(1)
	if w.refuse.Load() {
		return nil, errRefused
	}
	s, err := w.Engine.Session()
	return &watchedSession{s, w}, err
}

type watchedSession struct {
	schema.Session
	engine *watched
}

func (s *watchedSession) Get(t schema.TableID, id string, at schema.Timestamp) (*schema.Row, error) {
	s.engine.reads.Add(1)
	return s.Session.Get(t, id, at)
}

func (s *watchedSession) Row(t schema.TableID, id string, ts schema.Timestamp) (*schema.Row, error) {
	s.engine.reads.Add(1)
	return s.Session.Row(t, id, ts)
}

func (s *watchedSession) Scan(dst []schema.Entry, r schema.KeyRange, at schema.Timestamp, limit int) ([]schema.Entry, schema.KeyRange, bool, error) {
	s.engine.reads.Add(1)
	return s.Session.Scan(dst, r, at, limit)
}

func (s *watchedSession) Versions(dst []schema.Entry, x schema.IndexID, key string, from, to schema.Timestamp, newest bool, limit int) ([]schema.Entry, error) {
	s.engine.reads.Add(1)
	return s.Session.Versions(dst, x, key, from, to, newest, limit)
}

// warm shows the head a row of the log, as a store that opens does.
func (g *rig) warm(row *schema.Row) {
	g.t.Helper()
	a := g.engine.Appender()
	err := errors.Join(a.Begin(), a.Append([]*schema.Row{row}), a.Commit())
	if err != nil {
		g.t.Fatal(err)
	}
	s, err := g.engine.Engine.Session()
	if err != nil {
		g.t.Fatal(err)
	}
	defer s.Close()
	if found, err := s.Peek(row.Table, row.ID, row.TS, g.head.Warm); err != nil || !found {
		g.t.Fatalf("warm %q: got %t, %v, want it shown", row.ID, found, err)
	}
}

func newRig(t testing.TB, budget int64) *rig {
	t.Helper()
	engine, err := schema.Open(filepath.Join(t.TempDir(), "rig.db"), schema.Options{Sync: schema.SyncNormal})
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{t: t, engine: &watched{Engine: engine}, tail: index.NewTail(0), now: 1000}
	g.head = NewHead(Options{Engine: g.engine, Tail: g.tail, Budget: budget})
	g.head.Opened(g.now, index.Counts{})
	g.merger = index.NewMerger(g.tail, map[schema.TableID]*index.Table{things.ID: things})
	t.Cleanup(func() {
		if err := errors.Join(g.head.Close(), engine.Close()); err != nil {
			t.Error(err)
		}
	})
	return g
}

// things is a table whose ids are (group, member) tuples, indexed by value.
var things = &index.Table{
	ID: 1, Name: "things", Prefix: 1, Counted: true,
	Indexes: []index.Spec{{Name: "value", Prefix: 1, Keys: func(id string, value []byte, add func([]byte)) {
		add(append(tuple.AppendBytes(nil, value), id...))
	}}},
}

// plain is a table without ranges.
var plain = &index.Table{ID: 2, Name: "plain"}

func thing(group string, n int) []byte {
	return tuple.AppendInt(tuple.AppendString(nil, group), int64(n))
}

func group(name string) string { return string(tuple.AppendString(nil, name)) }

// tx is one transaction of a group that the test runs.
type tx struct {
	g    *rig
	view *View
	ts   schema.Timestamp
}

func (x tx) write(t *index.Table, id []byte, doc schema.Row) error {
	d, err := x.view.Edit(t, id)
	if err != nil {
		return err
	}
	doc.TS = x.ts
	_, err = x.g.head.Stage(d, doc)
	return err
}

func (x tx) put(t *index.Table, id []byte, value string) error {
	return x.write(t, id, schema.Row{Value: []byte(value)})
}

func (x tx) del(t *index.Table, id []byte) error {
	return x.write(t, id, schema.Row{Deleted: true})
}

// commit runs the transactions as one group. Those that return an error are
// rolled back. It is called by one goroutine at a time.
func (g *rig) commit(transactions ...func(tx) error) error {
	g.head.Lock()
	defer g.head.Unlock()
	for _, fn := range transactions {
		g.now++
		g.head.Begin()
		if fn(tx{g, g.head.Transaction(), g.now}) != nil {
			g.head.Rollback()
		}
	}
	rows := g.head.Seal()
	app := g.engine.Appender()
	err := errors.Join(app.Begin(), app.Append(rows))
	if g.slice > 0 && g.merger.Active() {
		_, failed := g.merger.Write(app, g.slice)
		err = errors.Join(err, failed, app.Commit())
		g.merger.Committed()
	} else {
		err = errors.Join(err, app.Commit())
	}
	if err != nil {
		g.head.Abandon()
		return err
	}
	g.head.Publish()
	return nil
}

// must is commit of transactions that succeed.
func (g *rig) must(transactions ...func(tx) error) {
	g.t.Helper()
	var failed error
	for i, fn := range transactions {
		transactions[i] = func(x tx) error {
			failed = errors.Join(failed, fn(x))
			return failed
		}
	}
	if err := errors.Join(g.commit(transactions...), failed); err != nil {
		g.t.Fatal(err)
	}
}

// mergeBy is merge of all in slices of so many entries.
func (g *rig) mergeBy(entries int) {
	g.t.Helper()
	app := g.engine.Appender()
	for g.merger.Start(g.head.Counts()); g.merger.Active(); g.merger.Committed() {
		err := app.Begin()
		if err == nil {
			_, err = g.merger.Write(app, entries)
		}
		if err = errors.Join(err, app.Commit()); err != nil {
			g.t.Fatal(err)
		}
	}
}

// put commits one document.
func (g *rig) put(t *index.Table, id []byte, value string) {
	g.t.Helper()
	g.must(func(x tx) error { return x.put(t, id, value) })
}

// merge moves the tail into the file, up to the slice after slices; all of it
// if slices is negative.
func (g *rig) merge(slices int) {
	g.t.Helper()
	if !g.merger.Active() && !g.merger.Start(g.head.Counts()) {
		return
	}
	app := g.engine.Appender()
	for ; slices != 0 && g.merger.Active(); slices-- {
		err := app.Begin()
		if err == nil {
			_, err = g.merger.Write(app, 16)
		}
		if err = errors.Join(err, app.Commit()); err != nil {
			g.t.Fatal(err)
		}
		g.merger.Committed()
	}
}

// view is a view of the present, closed at the end of the test.
func (g *rig) view() *View {
	v := new(View)
	v.Reset(g.head, false)
	g.t.Cleanup(v.Close)
	return v
}

func (g *rig) at(ts schema.Timestamp) *View {
	v := new(View)
	v.ResetAt(g.head, ts)
	g.t.Cleanup(v.Close)
	return v
}

// whole is the range of all members of a group.
func whole(name string) schema.KeyRange {
	return index.PrefixRange(schema.ByID(things.ID), group(name))
}

// show is the values of a scan, or its error.
func show(items func(func(Item, error) bool)) string {
	text := ""
	for item, err := range items {
		if err != nil {
			return err.Error()
		}
		text += fmt.Sprintf("%s@%d ", item.Doc.Value, item.Doc.TS)
	}
	return text
}
