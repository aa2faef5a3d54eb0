package firn

// The rule: what a query has read is stale after the first commit that changes
// its answer, and after few others.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// recordTables is a table of "owner/name" with values "colour weight", an index
// by colour, and one aspect, the weight.
func recordTables() []TableSpec {
	return []TableSpec{{
		Name: "things", Prefix: 1, Counted: true,
		Indexes: []IndexSpec{{Name: "colour", Prefix: 1, Keys: func(id string, value []byte, add func([]byte)) {
			colour, _, _ := strings.Cut(string(value), " ")
			add(append(tuple.AppendString(nil, colour), id...))
		}}},
		Aspects: []journal.Aspect{func(doc *Document) uint64 {
			_, weight, _ := strings.Cut(string(doc.Value), " ")
			return uint64(len(weight))
		}},
	}}
}

func recordStore(t testing.TB) (*Store, *Table) {
	s := openAt(t, t.TempDir()+"/record.db", Options{Durability: None, Tables: recordTables()})
	return s, s.Table("things")
}

func thing(owner, name string) []byte {
	return tuple.AppendString(tuple.AppendString(nil, owner), name)
}

// stales is whom commits have been found to concern.
type stales struct {
	s    *Store
	mu   sync.Mutex
	told []Timestamp
}

func (w *stales) tell(ts Timestamp) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, ts)
}

// until is what was told once everything up to a commit has been matched.
func (w *stales) until(t testing.TB, ts Timestamp) []Timestamp {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); w.s.Journal().Matched() < ts; {
		if time.Now().After(deadline) {
			t.Fatalf("commits up to %d are not matched, only up to %d", ts, w.s.Journal().Matched())
		}
		<-time.After(100 * time.Microsecond)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.told)
}

// thingWrite is one write; without a value it deletes.
type thingWrite struct{ owner, name, value string }

// recordCase is a query, writes that do not change its answer, and writes each
// of which does.
type recordCase struct {
	name  string
	read  func(*Table, *Snapshot) error
	quiet []thingWrite
	wake  []thingWrite
}

func scanned(r Range) func(*Table, *Snapshot) error {
	return func(things *Table, snap *Snapshot) error {
		if r.Index == nil {
			r.Index = things.ByID()
		}
		for _, err := range snap.Scan(r) {
			if err != nil {
				return err
			}
		}
		return nil
	}
}

var recordedDocuments = []recordCase{
	{"get", func(things *Table, snap *Snapshot) error {
		_, err := snap.Get(things, thing("ann", "cup"))
		return err
	}, []thingWrite{{"ann", "hat", "red 1"}, {"bob", "cup", "red 1"}}, []thingWrite{{"ann", "cup", "red 1"}, {"ann", "cup", ""}}},
	{"get what is not there", func(things *Table, snap *Snapshot) error {
		_, err := snap.Get(things, thing("ann", "owl"))
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		return err
	}, []thingWrite{{"ann", "cup", "red 1"}}, []thingWrite{{"ann", "owl", "red 1"}}},
	{"last", func(things *Table, snap *Snapshot) error {
		_, err := snap.Last(things, thing("ann", "cup"))
		return err
	}, []thingWrite{{"ann", "hat", "red 1"}}, []thingWrite{{"ann", "cup", ""}}},
	{"aspect", func(things *Table, snap *Snapshot) error {
		_, err := snap.GetAspect(things, thing("ann", "cup"), 1, nil)
		return err
	}, []thingWrite{{"ann", "cup", "green 2"}}, []thingWrite{{"ann", "cup", "red 22"}, {"ann", "cup", ""}}},
	{"scan", scanned(Range{Prefix: tuple.AppendString(nil, "ann")}),
		[]thingWrite{{"bob", "cup", "red 1"}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", "red 2"}, {"ann", "hat", ""}, {"ann", "zoo", "red 1"}}},
	{"scan that stops", func(things *Table, snap *Snapshot) error {
		for _, err := range snap.Scan(Range{Index: things.ByID(), Prefix: tuple.AppendString(nil, "ann")}) {
			return err
		}
		return nil
	}, []thingWrite{{"ann", "hat", "blue 7"}, {"ann", "d", "red 1"}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", ""}}},
	{"scan with a limit", scanned(Range{Prefix: tuple.AppendString(nil, "ann"), Limit: 1}),
		[]thingWrite{{"ann", "hat", "blue 7"}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", "red 2"}}},
}

var recordedRanges = []recordCase{
	{"scan from the end", scanned(Range{Prefix: tuple.AppendString(nil, "ann"), Limit: 1, Reverse: true}),
		[]thingWrite{{"ann", "cup", "blue 7"}, {"bob", "x", "red 1"}}, []thingWrite{{"ann", "x", "red 1"}, {"ann", "hat", "red 2"}}},
	{"keys", func(things *Table, snap *Snapshot) error {
		for _, err := range snap.Keys(Range{Index: things.ByID(), Prefix: tuple.AppendString(nil, "ann")}, 1) {
			return err
		}
		return nil
	}, []thingWrite{{"ann", "cup", "blue 7"}, {"ann", "x", "red 1"}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", ""}}},
	{"count", func(things *Table, snap *Snapshot) error {
		_, err := snap.Count(things, tuple.AppendString(nil, "ann"))
		return err
	}, []thingWrite{{"ann", "cup", "blue 7"}, {"bob", "x", "red 1"}}, []thingWrite{{"ann", "x", "red 1"}, {"ann", "cup", ""}}},
	{"count of a range", func(things *Table, snap *Snapshot) error {
		_, err := snap.CountRange(Range{Index: things.ByID(), From: thing("ann", "c"), To: thing("ann", "d")})
		return err
	}, []thingWrite{{"ann", "cup", "blue 7"}, {"ann", "hat", ""}}, []thingWrite{{"ann", "cat", "red 1"}, {"ann", "cup", ""}}},
	{"index", func(things *Table, snap *Snapshot) error {
		return scanned(Range{Index: things.Index("colour"), Prefix: tuple.AppendString(nil, "red")})(things, snap)
	}, []thingWrite{{"ann", "hat", "blue 7"}, {"ann", "x", "green 1"}}, []thingWrite{{"ann", "x", "red 1"}, {"ann", "cup", "red 9"}, {"ann", "cup", "blue 1"}}},
}

var recordedWholes = []recordCase{
	{"versions", func(things *Table, snap *Snapshot) error {
		for range snap.Versions(things, thing("ann", "cup"), VersionRange{}) {
			continue
		}
		return nil
	}, []thingWrite{{"ann", "hat", "red 1"}}, []thingWrite{{"ann", "cup", "red 1"}}},
	{"rank", func(things *Table, snap *Snapshot) error {
		o, err := snap.Ordered(things.ByID(), tuple.AppendString(nil, "ann"))
		if err == nil {
			_, _, err = o.Rank(thing("ann", "cup"))
		}
		return err
	}, []thingWrite{{"ann", "cup", "blue 7"}, {"ann", "hat", ""}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", ""}}},
	{"element at a rank", func(things *Table, snap *Snapshot) error {
		o, err := snap.Ordered(things.ByID(), tuple.AppendString(nil, "ann"))
		if err == nil {
			_, err = o.At(0)
		}
		return err
	}, []thingWrite{{"ann", "hat", "blue 7"}, {"ann", "x", "red 1"}}, []thingWrite{{"ann", "a", "red 1"}, {"ann", "cup", "red 8"}}},
	{"walk down", func(things *Table, snap *Snapshot) error {
		o, err := snap.Ordered(things.ByID(), tuple.AppendString(nil, "ann"))
		if err != nil {
			return err
		}
		for _, err := range o.Descend(nil) {
			return err
		}
		return nil
	}, []thingWrite{{"ann", "cup", "blue 7"}, {"ann", "a", "red 1"}}, []thingWrite{{"ann", "x", "red 1"}, {"ann", "hat", "red 8"}}},
}

func TestReadsAreStaleAfterWhatChangesTheAnswer(t *testing.T) {
	for _, tt := range slices.Concat(recordedDocuments, recordedRanges, recordedWholes) {
		for i := range tt.wake {
			t.Run(fmt.Sprintf("%s, %d", tt.name, i), func(t *testing.T) {
				s, things := recordStore(t)
				do := func(w thingWrite) Timestamp {
					ts, err := s.Update(t.Context(), func(tx *Tx) error {
						if w.value == "" {
							return tx.Delete(things, thing(w.owner, w.name), nil)
						}
						return tx.Put(things, thing(w.owner, w.name), []byte(w.value))
					})
					if err != nil {
						t.Fatal(err)
					}
					return ts
				}
				for _, w := range []thingWrite{{"ann", "cup", "red 1"}, {"ann", "hat", "blue 1"}, {"bob", "cup", "red 3"}} {
					do(w)
				}
				reads, err := s.Record(func(snap *Snapshot) error { return tt.read(things, snap) })
				if err != nil {
					t.Fatal(err)
				}
				w := &stales{s: s}
				defer s.Watch(reads, w.tell)()
				for _, quiet := range tt.quiet {
					if told := w.until(t, do(quiet)); len(told) > 0 {
						t.Fatalf("%+v: got %v, want no wake", quiet, told)
					}
				}
				ts := do(tt.wake[i])
				do(tt.wake[i])
				if told := w.until(t, ts); !slices.Equal(told, []Timestamp{ts}) {
					t.Errorf("%+v: got %v, want %d", tt.wake[i], told, ts)
				}
			})
		}
	}
}

// recordMany reads n documents and n intervals, apart from each other.
func recordMany(s *Store, things *Table, n int) (*journal.Reads, error) {
	return s.Record(func(snap *Snapshot) error {
		for i := range n {
			if _, err := snap.Get(things, thing("ann", fmt.Sprint(i))); err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
			for range snap.Keys(Range{Index: things.Index("colour"), From: thing("red", fmt.Sprint(i)), To: thing("red", fmt.Sprint(i, "~"))}, 0) {
				continue
			}
		}
		return nil
	})
}

func TestReadsOfTooMuchAreJoinedAndStaleStill(t *testing.T) {
	s, things := recordStore(t)
	const n = 20_000
	reads, err := recordMany(s, things, n)
	if err != nil {
		t.Fatal(err)
	}
	if reads.Bytes() > 200<<10 {
		t.Errorf("got %d bytes of reads, want at most 200 KiB", reads.Bytes())
	}
	var all [4]*stales
	for i := range all {
		all[i] = &stales{s: s}
		s.Watch(reads, all[i].tell)
	}
	ts := put(t, s, things, string(thing("bob", "1")), "blue 1")
	for i, w := range all {
		if told := w.until(t, ts); len(told) > 0 {
			t.Fatalf("watch %d: got %v, want no wake", i, told)
		}
	}
	for _, i := range []int{0, 1, n / 2, n - 1} {
		w := &stales{s: s}
		s.Watch(reads, w.tell)
		ts := put(t, s, things, string(thing("ann", fmt.Sprint(i))), "blue 1")
		if told := w.until(t, ts); len(told) != 1 {
			t.Errorf("document %d: got %v, want a wake", i, told)
		}
		if reads, err = recordMany(s, things, n); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRecordAtIsStaleAfterItsMoment(t *testing.T) {
	s, things := recordStore(t)
	first := put(t, s, things, string(thing("ann", "cup")), "red 1")
	if _, err := s.Record(func(*Snapshot) error { return nil }); err != nil { // the ring is filled
		t.Fatal(err)
	}
	second := put(t, s, things, string(thing("ann", "cup")), "red 2")
	reads, err := s.RecordAt(first, func(snap *Snapshot) error {
		doc, err := snap.Get(things, thing("ann", "cup"))
		if err == nil && string(doc.Value) != "red 1" {
			err = fmt.Errorf("got %s", doc.Value)
		}
		return err
	})
	if err != nil || reads.TS != first {
		t.Fatalf("got %+v, %v", reads, err)
	}
	w := &stales{s: s}
	s.Watch(reads, w.tell)
	if told := w.until(t, second); !slices.Equal(told, []Timestamp{second}) {
		t.Errorf("got %v, want %d", told, second)
	}
}

func TestUntilMakesStaleWhenItsMomentHasCome(t *testing.T) {
	s, _ := recordStore(t)
	moment := schema.TimestampOf(time.Now().Add(20 * time.Millisecond))
	reads, err := s.Record(func(snap *Snapshot) error {
		snap.Until(moment + 1e9)
		snap.Until(moment)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan Timestamp, 1) // it is called once
	s.Watch(reads, func(ts Timestamp) { told <- ts })
	if ts := <-told; ts != moment {
		t.Errorf("got %d, want %d", ts, moment)
	}
	if now := schema.TimestampOf(time.Now()); now < moment {
		t.Errorf("it came at %d, before %d", now, moment)
	}
}

func TestCloseEndsSubscriptions(t *testing.T) {
	s, err := Open(t.TempDir()+"/record.db", Options{Durability: None, Tables: recordTables()})
	if err != nil {
		t.Fatal(err)
	}
	things := s.Table("things")
	ran := make(chan string, 10)
	sub := s.Subscribe(context.Background(), func(snap *Snapshot) error {
		doc, err := snap.Get(things, thing("ann", "cup"))
		if errors.Is(err, ErrNotFound) {
			ran <- ""
			return nil
		}
		if err == nil {
			ran <- string(doc.Value)
		}
		return err
	})
	if got := <-ran; got != "" {
		t.Errorf("got %q, want nothing yet", got)
	}
	put(t, s, things, string(thing("ann", "cup")), "red 1")
	if got := <-ran; got != "red 1" {
		t.Errorf("got %q, want red 1", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-sub.Done()
	if !errors.Is(sub.Err(), ErrClosed) {
		t.Errorf("got %v, want %v", sub.Err(), ErrClosed)
	}
	if late := s.Subscribe(context.Background(), func(*Snapshot) error { return nil }); true {
		<-late.Done()
		if !errors.Is(late.Err(), ErrClosed) {
			t.Errorf("of a closed store: got %v, want %v", late.Err(), ErrClosed)
		}
	}
}
