package firn

// The rule: a draft writes what Put and Delete would write at its place,
// whatever else its transaction, its neighbours and readers do meanwhile.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/schema"
)

// draftMemories are the budgets that drafts are tried with: documents are in
// memory, nowhere in memory, and come and go.
var draftMemories = []int64{0, -1, 2048}

// edited is a draft that must be had.
func edited(t testing.TB, tx *Tx, table *Table, id string) Draft {
	t.Helper()
	name := []byte(id)
	d, err := tx.Edit(table, name)
	if err != nil {
		t.Errorf("edit %x: %v", id, err)
	}
	clear(name) // it may be scratch memory
	return d
}

// chain is the versions of a document, oldest first: what each says, and that
// it names the one before it.
func chain(t testing.TB, s *Store, table *Table, id string) string {
	t.Helper()
	var text []string
	var before Timestamp
	for doc, err := range s.History(table, []byte(id), VersionRange{}) {
		if err != nil {
			t.Fatal(err)
		}
		if doc.Prev != before || doc.ID != id {
			t.Errorf("%q at %d: got id %q, previous version %d, want %d", id, doc.TS, doc.ID, doc.Prev, before)
		}
		before = doc.TS
		value := string(doc.Value)
		if doc.Deleted {
			value = "-" + value
		}
		text = append(text, value)
	}
	return strings.Join(text, " ")
}

// transactions runs each function as a transaction of one group.
type transactions struct {
	run  []func(*Tx) error
	done chan error
}

func (b *transactions) Len() int                     { return len(b.run) }
func (b *transactions) Transact(i int, tx *Tx) error { return b.run[i](tx) }
func (b *transactions) Done(_ Timestamp, err error)  { b.done <- err }
func oneGroup(s *Store, run ...func(*Tx) error) error {
	b := &transactions{run, make(chan error, 1)}
	if err := s.Submit(b); err != nil {
		return err
	}
	return <-b.done
}

func TestDraftsOfOneDocument(t *testing.T) {
	for _, memory := range draftMemories {
		for _, id := range []string{"new", "old", "dead"} {
			t.Run(fmt.Sprintf("memory=%d/%s", memory, id), func(t *testing.T) {
				s := openNew(t, Options{Memory: memory})
				notes := s.Table("notes")
				put(t, s, notes, "old", "first")
				put(t, s, notes, "dead", "first")
				err := oneGroup(s, func(tx *Tx) error { return tx.Delete(notes, []byte("dead"), []byte("why")) },
					func(tx *Tx) error {
						a, b := edited(t, tx, notes, id), edited(t, tx, notes, id)
						err := errors.Join(a.Put([]byte("1")), b.Put([]byte("2")), tx.Put(notes, []byte(id), []byte("3")),
							a.Delete(nil), b.Delete([]byte("is gone")), a.PutJSON([]byte("4")))
						if doc, failed := tx.Get(notes, []byte(id)); failed != nil || string(doc.Value) != "4" || !doc.JSON {
							t.Errorf("after the last write: got %v, %v, want 4", doc, failed)
						}
						if (a.Old() == nil) != (b.Old() == nil) || (a.Old() == nil) != (id == "new") || a.Old() != nil && a.Old().Deleted != (id == "dead") {
							t.Errorf("old versions: got %v and %v", a.Old(), b.Old())
						}
						return err
					},
					func(tx *Tx) error { d := edited(t, tx, notes, id); return d.Put([]byte(string(d.Old().Value) + "5")) })
				if err != nil {
					t.Fatal(err)
				}
				want := map[string]string{"new": "4 45", "old": "first 4 45", "dead": "first -why 4 45"}[id]
				if got := chain(t, s, notes, id); got != want {
					t.Errorf("versions: got %s, want %s", got, want)
				}
			})
		}
	}
}

func TestDraftsAndFailedTransactions(t *testing.T) {
	refused := errors.New("refused")
	for _, memory := range draftMemories {
		s := openNew(t, Options{Memory: memory})
		notes := s.Table("notes")
		put(t, s, notes, "old", "first")
		var kept [2]Draft
		fails := func(tx *Tx) error {
			kept = [2]Draft{edited(t, tx, notes, "old"), edited(t, tx, notes, "new")}
			return errors.Join(kept[0].Put([]byte("never")), kept[1].Put([]byte("never")), refused)
		}
		err := oneGroup(s, fails, func(tx *Tx) error {
			for i := range kept {
				if err := kept[i].Put([]byte("late")); !errors.Is(err, errEnded) {
					t.Errorf("a draft of the transaction before: got %v, want %v", err, errEnded)
				}
			}
			old, new := edited(t, tx, notes, "old"), edited(t, tx, notes, "new")
			if new.Old() != nil || string(old.Old().Value) != "first" {
				t.Errorf("after a failed transaction: got %v and %v, want first and none", old.Old(), new.Old())
			}
			return errors.Join(old.Put([]byte("second")), new.Delete([]byte("not there")))
		}, fails, func(tx *Tx) error { d := edited(t, tx, notes, "old"); return d.Delete([]byte("end")) })
		if err != nil {
			t.Fatal(err)
		}
		for i := range kept {
			if err := kept[i].Put([]byte("late")); !errors.Is(err, errEnded) {
				t.Errorf("a draft after its group: got %v, want %v", err, errEnded)
			}
		}
		if got, want := chain(t, s, notes, "old")+"|"+chain(t, s, notes, "new"), "first second -end|"; got != want {
			t.Errorf("memory=%d: versions: got %q, want %q", memory, got, want)
		}
	}
}

func TestDraftsThatAreRefused(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		for name, try := range map[string]func() error{
			"no table":     func() error { _, err := tx.Edit(nil, []byte("a")); return err },
			"the store's":  func() error { _, err := tx.Edit(s.Table(storefile.AuthorsTable), []byte("a")); return err },
			"the empty id": func() error { _, err := tx.Edit(notes, nil); return err },
			"a long id":    func() error { _, err := tx.Edit(notes, make([]byte, schema.MaxIDBytes+1)); return err },
			"no draft":     func() error { var d Draft; return d.Put(nil) },
			"a long value": func() error { d := edited(t, tx, notes, "a"); return d.Put(make([]byte, schema.MaxValueBytes+1)) },
		} {
			if try() == nil {
				t.Errorf("%s: got no error", name)
			}
		}
		d := edited(t, tx, notes, "a")
		if err := d.Delete(nil); err != nil || tx.Wrote() {
			t.Errorf("deleting nothing: got %v, wrote %t", err, tx.Wrote())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// draftModel is a store under random drafts, and what it must hold.
type draftModel struct {
	*testing.T
	rng   *rand.Rand
	store *Store
	table *Table
	kept  map[string]*Document // newest versions of the transactions that did not fail
	now   map[string]*Document // of the running one, too
}

// transact writes through drafts that were made at any time before, and
// beside them.
func (m *draftModel) transact(tx *Tx) error {
	m.now = map[string]*Document{}
	for id, doc := range m.kept {
		m.now[id] = doc
	}
	type open struct {
		id string
		Draft
	}
	var drafts []open
	for range 1 + m.rng.IntN(12) {
		id := string(thingID(m.rng.IntN(2), m.rng.IntN(10)))
		value := fmt.Appendf(nil, "%s:%0*d", colors[m.rng.IntN(3)], 1+m.rng.IntN(600), m.rng.Int32())
		draft := m.rng.IntN(3) > 0 && len(drafts) > 0
		var at *open
		if draft {
			at = &drafts[m.rng.IntN(len(drafts))]
			id = at.id
		}
		var err error
		switch dead := m.rng.IntN(4) == 0; {
		case m.rng.IntN(3) == 0:
			d := edited(m, tx, m.table, id)
			m.same("old version", id, d.Old())
			drafts = append(drafts, open{id, d})
			continue
		case draft && dead:
			err = at.Delete(value)
			m.wrote(id, tx, value, true)
		case draft:
			err = at.Put(value)
			m.wrote(id, tx, value, false)
		case dead:
			err = tx.Delete(m.table, []byte(id), value)
			m.wrote(id, tx, value, true)
		default:
			err = tx.Put(m.table, []byte(id), value)
			m.wrote(id, tx, value, false)
		}
		if err != nil {
			m.Errorf("write %x: %v", id, err)
		}
		m.look(tx, id)
	}
	if m.rng.IntN(3) == 0 {
		return errors.New("fails")
	}
	m.kept = m.now
	return nil
}

// wrote puts a version into the model.
func (m *draftModel) wrote(id string, tx *Tx, value []byte, dead bool) {
	old := m.now[id]
	if dead && (old == nil || old.Deleted) {
		return
	}
	doc := &Document{ID: id, TS: tx.ts, Value: value, Deleted: dead}
	switch {
	case old == nil:
	case old.TS == tx.ts:
		doc.Prev = old.Prev
	default:
		doc.Prev = old.TS
	}
	m.now[id] = doc
}

func (m *draftModel) look(r Reader, id string) {
	doc, err := r.Last(m.table, []byte(id))
	if err != nil && err != ErrNotFound {
		m.Errorf("read %x: %v", id, err)
	}
	m.same("newest version", id, doc)
}

func (m *draftModel) same(what, id string, got *Document) {
	m.Helper()
	want := m.now[id]
	if (got == nil) != (want == nil) || got != nil && (got.ID != id || got.TS != want.TS || got.Prev != want.Prev ||
		got.Deleted != want.Deleted || string(got.Value) != string(want.Value)) {
		m.Errorf("%s of %x:\n got %+v\nwant %+v", what, id, got, want)
	}
}

// TestDraftsModel writes through drafts at random, in groups some of whose
// transactions fail, while readers bring documents into memory and push
// others out.
func TestDraftsModel(t *testing.T) {
	for _, memory := range draftMemories {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			draw := seed.Fresh(t)
			path := filepath.Join(t.TempDir(), "drafts.db")
			s := openAt(t, path, Options{Memory: memory, Durability: None, Tables: modelTables(), TailEntries: 64})
			m := &draftModel{T: t, rng: draw.Rand(1), store: s, table: s.Table("things")}
			stop, readers := make(chan struct{}), sync.WaitGroup{}
			for i := range 2 {
				readers.Go(func() { readThings(t, s, stop, draw.Rand(uint64(2+i))) })
			}
			for range 150 {
				group := make([]func(*Tx) error, 1+m.rng.IntN(5))
				for i := range group {
					group[i] = m.transact
				}
				if err := oneGroup(s, group...); err != nil {
					t.Fatal(err)
				}
			}
			close(stop)
			readers.Wait()
			m.now = m.kept
			err := s.View(func(snap *Snapshot) error {
				for g := range 2 {
					for n := range 10 {
						m.look(snap, string(thingID(g, n)))
					}
				}
				return nil
			})
			if err = errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			if n, err := Check(path, func(problem string) { t.Error(problem) }); n != 0 || err != nil {
				t.Errorf("check: got %d problems, %v", n, err)
			}
		})
	}
}

// readThings reads documents and ranges until it is stopped.
func readThings(t *testing.T, s *Store, stop chan struct{}, rng *rand.Rand) {
	things := s.Table("things")
	for {
		select {
		case <-stop:
			return
		default:
		}
		err := s.View(func(snap *Snapshot) error {
			if rng.IntN(8) == 0 {
				_, err := snap.Ordered(things.ByID(), groupPrefix(rng.IntN(2)))
				return err
			}
			_, err := snap.Last(things, thingID(rng.IntN(2), rng.IntN(10)))
			if err == ErrNotFound {
				return nil
			}
			return err
		})
		if err != nil {
			t.Error(err)
			return
		}
	}
}
