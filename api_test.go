package firn

// The rule: whatever a caller gets wrong is an error that says so, and the
// store lives on.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// openAt opens a store that is closed when the test ends.
func openAt(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openNew opens a store with a table of notes and the model's table.
func openNew(t testing.TB, o Options) *Store {
	t.Helper()
	o.Durability = None
	o.Tables = append(modelTables(), TableSpec{Name: "notes"})
	return openAt(t, filepath.Join(t.TempDir(), "api.db"), o)
}

// put commits one document.
func put(t testing.TB, s *Store, table *Table, id, value string) Timestamp {
	t.Helper()
	ts, err := s.Update(t.Context(), func(tx *Tx) error { return tx.Put(table, []byte(id), []byte(value)) })
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

// valueOf is what a reader has under an id, or the error.
func valueOf(r Reader, table *Table, id string) string {
	doc, err := r.Get(table, []byte(id))
	if err != nil {
		return err.Error()
	}
	return string(doc.Value)
}

func first[T any](items func(func(T, error) bool)) error {
	for _, err := range items {
		return err
	}
	return nil
}

func TestUndeclaredTablesAreErrors(t *testing.T) {
	s := openNew(t, Options{})
	none := s.Table("nothing")
	if none != nil || none.ByID() != nil || none.Index("x") != nil || s.Table("notes").Index("x") != nil {
		t.Fatalf("handles of what is not declared: got %v, want nil", none)
	}
	read := func(r Reader) map[string]error {
		_, get := r.Get(none, []byte("a"))
		_, last := r.Last(none, []byte("a"))
		_, ordered := r.Ordered(none.ByID(), groupPrefix(1))
		_, count := r.Count(none, nil)
		_, countRange := r.CountRange(Range{Index: none.ByID()})
		_, warm := r.Warm(none.ByID(), groupPrefix(1), 1)
		return map[string]error{
			"Keys": first(r.Keys(Range{Index: none.ByID()}, 0)), "CountRange": countRange, "Warm": warm,
			"Get": get, "Last": last, "Ordered": ordered, "Count": count,
			"Scan": first(r.Scan(Range{Index: none.ByID()})), "Versions": first(r.Versions(none, []byte("a"), VersionRange{})),
		}
	}
	check := func(r Reader) error {
		for call, err := range read(r) {
			if !errors.Is(err, ErrTable) {
				t.Errorf("%T.%s: got %v, want %v", r, call, err, ErrTable)
			}
		}
		return nil
	}
	if err := s.View(func(snap *Snapshot) error { return check(snap) }); err != nil {
		t.Error(err)
	}
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		check(tx)
		if err := tx.Delete(none, []byte("a"), nil); !errors.Is(err, ErrTable) {
			t.Errorf("Delete: got %v, want %v", err, ErrTable)
		}
		return tx.Put(none, []byte("a"), nil)
	})
	if !errors.Is(err, ErrTable) {
		t.Errorf("Put: got %v, want %v", err, ErrTable)
	}
}

// What cannot be stored is refused in its own transaction, before it could
// fail the group.
func TestDocumentsThatCannotBeStored(t *testing.T) {
	s := openNew(t, Options{})
	notes, things := s.Table("notes"), s.Table("things")
	for _, tt := range []struct {
		name  string
		table *Table
		id    []byte
		value []byte
	}{
		{"nil id", notes, nil, []byte("v")},
		{"empty id", notes, []byte{}, []byte("v")},
		{"long id", notes, make([]byte, schema.MaxIDBytes+1), []byte("v")},
		{"long index key", things, thingID(1, 1), append(bytes.Repeat([]byte("x"), schema.MaxIDBytes), ':')},
	} {
		var refused error
		b := &calls{n: 2, transact: func(i int, tx *Tx) error {
			if i == 0 {
				return tx.Put(notes, []byte(tt.name), []byte("the neighbour"))
			}
			refused = tx.Put(tt.table, tt.id, tt.value)
			return refused
		}}
		if b.run(t, s); refused == nil {
			t.Errorf("%s: got nil, want an error", tt.name)
		}
	}
	long := strings.Repeat("x", schema.MaxIDBytes)
	put(t, s, notes, long, "the longest id")
	if err := s.View(func(snap *Snapshot) error {
		if got, want := valueOf(snap, notes, long), "the longest id"; got != want {
			t.Errorf("the longest id: got %q, want %q", got, want)
		}
		for _, id := range []string{"", long + "x"} {
			if _, err := snap.Get(notes, []byte(id)); err != ErrNotFound {
				t.Errorf("get of an id of %d bytes: got %v, want %v", len(id), err, ErrNotFound)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestKeptForTooLong(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	var tx *Tx
	var snap *Snapshot
	if _, err := s.Update(t.Context(), func(x *Tx) error { tx = x; return x.Put(notes, []byte("a"), []byte("1")) }); err != nil {
		t.Fatal(err)
	}
	if err := s.View(func(x *Snapshot) error { snap = x; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := tx.Put(notes, []byte("a"), []byte("2")); err != errEnded {
		t.Errorf("Put: got %v, want %v", err, errEnded)
	}
	if err := tx.At(1, func(*Snapshot) error { return nil }); err != errEnded {
		t.Errorf("At: got %v, want %v", err, errEnded)
	}
	for _, r := range []Reader{tx, snap} {
		_, get := r.Get(notes, []byte("a"))
		_, count := r.Count(notes, nil)
		for call, err := range map[string]error{
			"Get": get, "Count": count, "Scan": first(r.Scan(Range{Index: notes.ByID()})),
			"Versions": first(r.Versions(notes, []byte("a"), VersionRange{})),
		} {
			if err != errEnded {
				t.Errorf("%T.%s: got %v, want %v", r, call, err, errEnded)
			}
		}
		r.Moment() // must not panic
	}
}

// The function's own error comes back as it is, also for a caller who compares
// with ==, and leaves no trace.
func TestErrorsComeBackAsTheyAre(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	for _, want := range []error{ErrNotFound, errors.New("own")} {
		ts, err := s.Update(t.Context(), func(tx *Tx) error {
			if err := tx.Put(notes, []byte("a"), []byte("1")); err != nil {
				return err
			}
			return want
		})
		if err != want || ts != 0 {
			t.Errorf("Update: got %d, %v, want 0, %v", ts, err, want)
		}
		if err := s.View(func(*Snapshot) error { return want }); err != want {
			t.Errorf("View: got %v, want %v", err, want)
		}
		if err := s.At(s.Bounds().Newest, func(*Snapshot) error { return want }); err != want {
			t.Errorf("At: got %v, want %v", err, want)
		}
	}
	if got, want := s.Bounds().Newest, s.Bounds().Oldest; got != want {
		t.Errorf("newest after failures alone: got %d, want %d", got, want)
	}
}

func TestPanicReachesTheCallerAndTheStoreLivesOn(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	for name, call := range map[string]func(){
		"Update": func() {
			s.Update(t.Context(), func(tx *Tx) error {
				tx.Put(notes, []byte("a"), []byte("never"))
				panic("boom")
			})
		},
		"View": func() { s.View(func(*Snapshot) error { panic("boom") }) },
		"At":   func() { s.At(s.Bounds().Newest, func(*Snapshot) error { panic("boom") }) },
	} {
		func() {
			defer func() {
				if got := recover(); got != "boom" {
					t.Errorf("%s: got a panic with %v, want boom", name, got)
				}
			}()
			call()
		}()
	}
	put(t, s, notes, "b", "alive")
	if err := s.View(func(snap *Snapshot) error {
		if got, want := valueOf(snap, notes, "a")+valueOf(snap, notes, "b"), ErrNotFound.Error()+"alive"; got != want {
			t.Errorf("after panics: got %q, want %q", got, want)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// Inside Update, At is Tx.At: it sees what is committed, and nothing of the
// transactions under way, the neighbours in the group included.
func TestAtInsideTransactions(t *testing.T) {
	s := openNew(t, Options{Memory: -1}) // else memory answers
	notes := s.Table("notes")
	before := put(t, s, notes, "a", "1")
	var got []string
	b := &calls{n: 3, transact: func(i int, tx *Tx) error {
		for _, ts := range []Timestamp{before, tx.Timestamp() - 1, tx.Timestamp()} {
			err := tx.At(ts, func(snap *Snapshot) error {
				if snap.Moment() != ts {
					t.Errorf("moment: got %d, want %d", snap.Moment(), ts)
				}
				got = append(got, valueOf(snap, notes, "a"))
				return nil
			})
			if err != nil {
				return err
			}
		}
		return tx.Put(notes, []byte("a"), fmt.Appendf(nil, "%d", i+2))
	}}
	ts := b.run(t, s)
	if want := strings.Fields(strings.Repeat("1 ", 9)); !slices.Equal(got, want) {
		t.Errorf("in the group: got %q, want %q", got, want)
	}
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		if err := tx.At(tx.Timestamp()+1, func(*Snapshot) error { return nil }); !errors.Is(err, ErrFuture) {
			t.Errorf("the future: got %v, want %v", err, ErrFuture)
		}
		if err := tx.At(1, func(*Snapshot) error { return nil }); !errors.Is(err, ErrCompacted) {
			t.Errorf("before the store: got %v, want %v", err, ErrCompacted)
		}
		return tx.At(ts, func(snap *Snapshot) error {
			if got := valueOf(snap, notes, "a"); got != "4" {
				t.Errorf("after the group: got %q, want %q", got, "4")
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}

// calls is a Batch made of a function.
type calls struct {
	n        int
	transact func(i int, tx *Tx) error
	done     chan updated
}

func (c *calls) Len() int                       { return c.n }
func (c *calls) Transact(i int, tx *Tx) error   { return c.transact(i, tx) }
func (c *calls) Done(last Timestamp, err error) { c.done <- updated{last, err} }

func (c *calls) run(t *testing.T, s *Store) Timestamp {
	t.Helper()
	c.done = make(chan updated, 1) // Done must not block
	if err := s.Submit(c); err != nil {
		t.Fatal(err)
	}
	r := <-c.done
	if r.err != nil {
		t.Fatal(r.err)
	}
	return r.ts
}

func TestBatchFailuresStandAlone(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	var stamps []Timestamp
	b := &calls{n: 4, transact: func(i int, tx *Tx) error {
		stamps = append(stamps, tx.Timestamp())
		if i == 3 {
			_, err := tx.Get(notes, []byte("0"))
			return err // it only reads
		}
		if err := tx.Put(notes, fmt.Appendf(nil, "%d", i), []byte("v")); err != nil || i != 1 {
			return err
		}
		return errors.New("undone")
	}}
	if last := b.run(t, s); last != stamps[2] {
		t.Errorf("last: got %d, want %d, of the last that wrote", last, stamps[2])
	}
	var ids []string
	if err := s.View(func(snap *Snapshot) error {
		for item, err := range snap.Scan(Range{Index: notes.ByID()}) {
			if err != nil {
				return err
			}
			ids = append(ids, item.Key)
		}
		return nil
	}); err != nil || !slices.Equal(ids, []string{"0", "2"}) {
		t.Errorf("what is there: got %q, %v, want %q", ids, err, []string{"0", "2"})
	}
}

func TestAfterClose(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "closed.db"), Options{Tables: []TableSpec{{Name: "notes"}}})
	if err != nil {
		t.Fatal(err)
	}
	ts := put(t, s, s.Table("notes"), "a", "1")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Errorf("closing twice: got %v, want nil", err)
	}
	read := func(*Snapshot) error { return nil }
	_, update := s.Update(context.Background(), func(*Tx) error { return nil })
	for call, err := range map[string]error{
		"Update": update, "Submit": s.Submit(&calls{n: 1}), "View": s.View(read), "Peek": s.Peek(read), "At": s.At(ts, read),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: got %v, want %v", call, err, ErrClosed)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "open.db")
	openAt(t, path, Options{})
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opening twice: got %v, want %v", err, ErrLocked)
	}
	foreign := filepath.Join(dir, "foreign.db")
	text := []byte(strings.Repeat("This is somebody's diary. ", 500))
	if err := os.WriteFile(foreign, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(foreign, Options{}); !errors.Is(err, schema.ErrForeign) {
		t.Errorf("a foreign file: got %v, want %v", err, schema.ErrForeign)
	}
	if now, err := os.ReadFile(foreign); err != nil || !bytes.Equal(now, text) {
		t.Errorf("the foreign file afterwards: got %d bytes, %v, want it untouched", len(now), err)
	}
	if _, err := Open(filepath.Join(dir, "no", "such", "directory.db"), Options{}); err == nil {
		t.Error("a directory that is not there: got nil, want an error")
	}
	for name, o := range map[string]Options{
		"durability": {Durability: None + 1}, "retention": {Retention: -1}, "tail": {TailEntries: -1}, "queue": {MaxQueue: -1},
	} {
		if s, err := Open(filepath.Join(dir, name), o); err == nil {
			s.Close()
			t.Errorf("options with a bad %s: got nil, want an error", name)
		}
	}
}

// declared opens the store at path with one table of things, tells what
// Count and a scan of its index by color say of group 1, and closes it.
func declared(t *testing.T, path string, spec TableSpec, write int) string {
	t.Helper()
	s, err := Open(path, Options{Tables: []TableSpec{spec}, Durability: None, Memory: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	things := s.Table("things")
	for n := range write {
		put(t, s, things, string(thingID(1, n)), colors[n%len(colors)]+":")
	}
	told := ""
	if err := s.View(func(snap *Snapshot) error {
		n, err := snap.Count(things, groupPrefix(1))
		told = fmt.Sprintf("count %d", n)
		if one, err := snap.Count(things, thingID(1, 0)); err != nil || one != 1 {
			t.Errorf("count of one document: got %d, %v, want 1", one, err)
		}
		if x := things.Index("color"); x != nil && err == nil {
			n = 0
			for _, err := range snap.Scan(Range{Index: x, Prefix: tuple.AppendString(nil, "red")}) {
				if err != nil {
					return err
				}
				n++
			}
			told += fmt.Sprintf(", %d are red", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return told
}

// A store learns of new indexes and counts when it is opened, whether its
// documents are in the file's indexes or in the log alone.
func TestDeclarationsMayGrow(t *testing.T) {
	bare := TableSpec{Name: "things"}
	color := IndexSpec{Name: "color", Prefix: 1, Keys: colorKeys}
	path := filepath.Join(t.TempDir(), "grow.db")
	for i, tt := range []struct {
		spec  TableSpec
		write int
		want  string
	}{
		{bare, 10, "count 10"},
		{TableSpec{Name: "things", Indexes: []IndexSpec{color}}, 0, "count 10, 4 are red"},
		{TableSpec{Name: "things", Prefix: 1, Counted: true, Indexes: []IndexSpec{color}}, 0, "count 10, 4 are red"},
		{TableSpec{Name: "things", Prefix: 1, Counted: true, Indexes: []IndexSpec{color}}, 12, "count 12, 4 are red"},
		// Counted by two elements there are no counts by one: it is counted.
		{TableSpec{Name: "things", Prefix: 2, Counted: true, Indexes: []IndexSpec{color}}, 0, "count 12, 4 are red"},
		{TableSpec{Name: "things", Prefix: 1, Indexes: []IndexSpec{color}}, 15, "count 15, 5 are red"},
		{TableSpec{Name: "things", Prefix: 1, Counted: true, Indexes: []IndexSpec{color}}, 0, "count 15, 5 are red"},
	} {
		if got := declared(t, path, tt.spec, tt.write); got != tt.want {
			t.Errorf("step %d: got %q, want %q", i, got, tt.want)
		}
		if problems, err := Check(path, func(p string) { t.Error(p) }); err != nil || problems > 0 {
			t.Fatalf("step %d: check: got %d problems, %v", i, problems, err)
		}
	}
}

func TestDeclarationsThatCannotWork(t *testing.T) {
	keys := func(string, []byte, func([]byte)) {}
	indexes := func(names ...string) (specs []IndexSpec) {
		for _, name := range names {
			specs = append(specs, IndexSpec{Name: name, Keys: keys})
		}
		return specs
	}
	path := filepath.Join(t.TempDir(), "tables.db")
	known := []TableSpec{{Name: "a", Indexes: indexes("x", "y")}, {Name: "b", Prefix: 1, Counted: true}, {Name: "c"}}
	s, err := Open(path, Options{Tables: known, Durability: None})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, s.Table("c"), "id", "kept")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := known[0], known[1]
	for name, tables := range map[string][]TableSpec{
		"renamed index":                 {{Name: "a", Indexes: indexes("x", "z")}, b},
		"swapped indexes":               {{Name: "a", Indexes: indexes("y", "x")}, b},
		"dropped index":                 {{Name: "a", Indexes: indexes("x")}, b},
		"undeclared table with indexes": {b},
		"undeclared counted table":      {a},
		"table twice":                   {a, b, {Name: "d"}, {Name: "d"}},
		"index twice":                   {a, b, {Name: "d", Indexes: indexes("x", "x")}},
		"index without keys":            {a, b, {Name: "d", Indexes: []IndexSpec{{Name: "x"}}}},
		"no name":                       {a, b, {}},
		"long name":                     {a, b, {Name: strings.Repeat("n", 256)}},
		"counted without prefix":        {a, b, {Name: "d", Counted: true}},
		"negative prefix":               {a, b, {Name: "d", Prefix: -1}},
		"too many aspects":              {a, b, {Name: "d", Aspects: make([]journal.Aspect, journal.MaxAspects+1)}},
	} {
		s, err := Open(path, Options{Tables: tables, Durability: None})
		if !errors.Is(err, ErrTable) {
			t.Errorf("%s: got %v, want %v", name, err, ErrTable)
		}
		if err == nil {
			s.Close()
		}
	}
	again := openAt(t, path, Options{Tables: []TableSpec{b, a}, Durability: None}) // c is not needed, and the order is free
	if again.Table("c") != nil {
		t.Error("handle of an undeclared table: got one, want nil")
	}
}

// TestMoneyIsNeitherMadeNorLost moves amounts between accounts from many
// goroutines. Every snapshot, present or past, sees the same total, and the
// moment that Update returns sees the write.
func TestMoneyIsNeitherMadeNorLost(t *testing.T) {
	for _, memory := range []int64{0, 8 << 10, -1} {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			b := newBank(t, memory)
			var run errgroup.Group
			for i := range 6 {
				run.Go(func() error {
					rng := b.seed.Rand(uint64(i))
					for range 60 {
						if err := b.transfer(rng); err != nil {
							return err
						}
						if err := b.audit(rng); err != nil {
							return err
						}
					}
					return nil
				})
			}
			if err := run.Wait(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

const (
	accounts = 10
	money    = accounts * 100
)

// bank is accounts, which are things of one group whose value is a color and
// an amount.
type bank struct {
	s      *Store
	things *Table
	opened Timestamp
	seed   seed.Value
}

func newBank(t *testing.T, memory int64) *bank {
	b := &bank{s: openNew(t, Options{Memory: memory, TailEntries: 100}), seed: seed.Fresh(t)}
	b.things = b.s.Table("things")
	var err error
	b.opened, err = b.s.Update(t.Context(), func(tx *Tx) error {
		for n := range accounts {
			if err := tx.Put(b.things, thingID(1, n), []byte("red:100")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func amount(doc *Document) int {
	_, text, _ := strings.Cut(string(doc.Value), ":")
	n, _ := strconv.Atoi(text)
	return n
}

// transfer moves an amount, and sometimes fails when half of it is done. Then
// it reads at the moment of the transfer.
func (b *bank) transfer(rng *rand.Rand) error {
	from, to, n := thingID(1, rng.IntN(accounts)), thingID(1, rng.IntN(accounts)), rng.IntN(20)
	if bytes.Equal(from, to) {
		return nil
	}
	half, failing := errors.New("half done"), rng.IntN(8) == 0
	var left int
	ts, err := b.s.Update(context.Background(), func(tx *Tx) error {
		source, err := tx.Get(b.things, from)
		if err != nil {
			return err
		}
		left = amount(source) - n
		if err := tx.Put(b.things, from, fmt.Appendf(nil, "blue:%d", left)); err != nil {
			return err
		}
		if failing {
			return half
		}
		target, err := tx.Get(b.things, to)
		if err != nil {
			return err
		}
		return tx.Put(b.things, to, fmt.Appendf(nil, "red:%d", amount(target)+n))
	})
	if failing {
		if err != half {
			return fmt.Errorf("got %v, want %v", err, half)
		}
		return nil
	}
	if err != nil {
		return err
	}
	return b.s.At(ts, func(snap *Snapshot) error {
		doc, err := snap.Get(b.things, from)
		if err != nil || doc.TS != ts || amount(doc) != left {
			return fmt.Errorf("at %d: got %v, %v, want %d left", ts, doc, err, left)
		}
		return nil
	})
}

// audit adds everything up, now or at some moment since the bank opened, by id
// or by color.
func (b *bank) audit(rng *rand.Rand) error {
	ordered := rng.IntN(2) == 0
	check := func(snap *Snapshot) error {
		total, byColor := 0, 0
		if ordered {
			o, err := snap.Ordered(b.things.ByID(), groupPrefix(1))
			if err != nil || o.Len() != accounts {
				return fmt.Errorf("ordered at %d: got %d, %v, want %d", snap.Timestamp(), o.Len(), err, accounts)
			}
		}
		for item, err := range snap.Scan(Range{Index: b.things.ByID(), Prefix: groupPrefix(1)}) {
			if err != nil {
				return err
			}
			total += amount(item.Doc)
		}
		for item, err := range snap.Scan(Range{Index: b.things.Index("color")}) {
			if err != nil {
				return err
			}
			byColor += amount(item.Doc)
		}
		if total != money || byColor != money {
			return fmt.Errorf("at %d: got %d by id and %d by color, want %d", snap.Timestamp(), total, byColor, money)
		}
		return nil
	}
	if rng.IntN(2) == 0 {
		return b.s.View(check)
	}
	newest := b.s.Bounds().Newest
	return b.s.At(b.opened+Timestamp(rng.Int64N(int64(newest-b.opened)+1)), check)
}

// A clock that stands at the beginning of time is no reason to forget.
func TestStoreMadeInNineteenSeventy(t *testing.T) {
	s := openNew(t, Options{Now: func() time.Time { return time.Unix(0, 0) }})
	notes := s.Table("notes")
	put(t, s, notes, "a", "1")
	put(t, s, notes, "a", "2")
	n := 0
	if err := s.View(func(snap *Snapshot) error {
		for _, err := range snap.Versions(notes, []byte("a"), VersionRange{}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	}); err != nil || n != 2 {
		t.Errorf("versions: got %d, %v, want 2", n, err)
	}
}

// TestPutJSONRefusesWhatIsNot: what is not JSON is refused, says what is wrong
// with it, and leaves nothing of itself behind.
func TestPutJSONRefusesWhatIsNot(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	for text, want := range map[string]string{
		"": "unexpected end of JSON input", "{": "unexpected end of JSON input", `{"a":1} x`: "after top-level value", "\"\xff\"": "not UTF-8",
	} {
		if _, err := s.Update(t.Context(), func(tx *Tx) error {
			err := tx.PutJSON(notes, []byte("a"), []byte(text))
			if !errors.Is(err, schema.ErrJSON) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"a"`) {
				t.Errorf("put %q: got %v, want %v that says %q", text, err, schema.ErrJSON, want)
			}
			if _, err := tx.Last(notes, []byte("a")); err != ErrNotFound {
				t.Errorf("after %q: got %v, want %v", text, err, ErrNotFound)
			}
			return tx.PutJSON(notes, []byte("b"), []byte(" [1]\n"))
		}); err != nil {
			t.Error(err)
		}
	}
	if err := s.View(func(snap *Snapshot) error {
		doc, err := snap.Get(notes, []byte("b"))
		if err == nil && (!doc.JSON || string(doc.Value) != " [1]\n") {
			t.Errorf("what is JSON: got %+v", doc)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
