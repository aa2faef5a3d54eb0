package firn

// The rule: a moment is refused if something that was then may be forgotten,
// and for nothing else; and the error says what is in the way.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// openGates opens a store of two tables: the ids of notes are their members,
// those of rooms a letter, its group, and a name.
func openGates(t *testing.T) *Store {
	t.Helper()
	room := func(id string) Scope {
		if id == "" {
			return Scope{}
		}
		return Scope{Group: id[:1], Member: id[1:]}
	}
	meets := func(scope Scope, from, to string) bool {
		id := scope.Group + scope.Member
		return from <= id && (to == "" || id < to)
	}
	return openAt(t, filepath.Join(t.TempDir(), "gates.db"), Options{Durability: None, Tables: []TableSpec{
		{Name: "notes", Indexes: []IndexSpec{{Name: "value", Keys: func(id string, value []byte, add func([]byte)) {
			add([]byte(string(value) + "/" + id))
		}}}},
		{Name: "rooms", Scope: room, Meets: meets},
	}})
}

// keep sets a policy and waits until it was applied.
func keep(t *testing.T, s *Store, scope Scope, r Retention) {
	t.Helper()
	if err := s.SetRetention(t.Context(), scope, &r); err != nil {
		t.Fatal(err)
	}
	compacted(t, s)
}

func compacted(t *testing.T, s *Store) {
	t.Helper()
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// inTheWay is what a *CompactedError tells of the scope and its policy.
func inTheWay(err error) string {
	e, ok := errors.AsType[*CompactedError](err)
	if !ok {
		return fmt.Sprint(err)
	}
	return fmt.Sprintf("%s/%s %s", e.Scope.Group, e.Scope.Member, e.Policy)
}

// listed is what a walk finds.
func listed(s *Snapshot, r Range) string {
	text := ""
	for item, err := range s.Scan(r) {
		if err != nil {
			return inTheWay(err)
		}
		text += item.Doc.ID + " "
	}
	return text
}

// gatedStore has a moment at which one member of each table is forgotten that
// stands among others, hot of notes and bhot of rooms, and one whose policy
// counts is not.
func gatedStore(t *testing.T) (s *Store, then Timestamp) {
	t.Helper()
	s = openGates(t)
	notes, rooms := s.Table("notes"), s.Table("rooms")
	for _, id := range []string{"a", "cold", "hot", "warm", "z"} {
		put(t, s, notes, id, "first")
	}
	for _, id := range []string{"acold", "bcold", "bhot", "bhut", "bwarm", "ccold"} {
		then = put(t, s, rooms, id, "first")
	}
	keep(t, s, Scope{Group: "notes", Member: "hot"}, Retention{Off: true})
	keep(t, s, Scope{Group: "b", Member: "hot"}, Retention{Off: true})
	keep(t, s, Scope{Group: "b", Member: "hut"}, Retention{Off: true}) // still there, but nobody can know
	keep(t, s, Scope{Group: "notes", Member: "warm"}, Retention{Versions: 9})
	for _, id := range []string{"hot", "warm"} {
		put(t, s, notes, id, "second")
		put(t, s, rooms, "b"+id, "second")
	}
	compacted(t, s)
	return s, then
}

func TestWalksPassByWhatIsForgotten(t *testing.T) {
	s, then := gatedStore(t)
	notes, rooms := s.Table("notes").ByID(), s.Table("rooms").ByID()
	value := s.Table("notes").Index("value")
	err := s.At(then, func(snap *Snapshot) error {
		for _, tt := range []struct {
			r    Range
			want string
		}{
			{Range{Index: notes}, "notes/hot off"},
			{Range{Index: notes, Prefix: []byte("ho")}, "notes/hot off"},
			{Range{Index: notes, From: []byte("hot"), To: []byte("hot\x00")}, "notes/hot off"},
			{Range{Index: notes, From: []byte("a"), To: []byte("hot")}, "a cold "},
			{Range{Index: notes, From: []byte("hot\x00")}, "warm z "},
			{Range{Index: notes, Prefix: []byte("c")}, "cold "},
			{Range{Index: value, Prefix: []byte("first/c")}, "notes/hot off"}, // its keys tell no member
			{Range{Index: rooms}, "b/hot off"},
			{Range{Index: rooms, Prefix: []byte("b")}, "b/hot off"},
			{Range{Index: rooms, Prefix: []byte("a")}, "acold "},
			{Range{Index: rooms, Prefix: []byte("bc")}, "bcold "},
			{Range{Index: rooms, From: []byte("bi"), To: []byte("c")}, "bwarm "},
		} {
			if got := listed(snap, tt.r); got != tt.want {
				t.Errorf("%+v: got %q, want %q", tt.r, got, tt.want)
			}
		}
		_, err := snap.Get(s.Table("notes"), []byte("hot"))
		if got := inTheWay(err); got != "/ off" {
			t.Errorf("the document itself: got %q, want that its policy is off", got)
		}
		_, err = snap.Get(s.Table("notes"), []byte("cold"))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	changed := func(prefix string) string {
		found := ""
		err := s.Changed(s.Table("notes"), []byte(prefix), then, s.Bounds().Newest, func(doc *Document) error {
			found += doc.ID + " "
			return nil
		})
		if err != nil {
			return inTheWay(err)
		}
		return found
	}
	if got, want := changed("")+"|"+changed("w"), "notes/hot off|warm "; got != want {
		t.Errorf("what changed since: got %q, want %q", got, want)
	}
}

func TestPartialWalksLeaveOutWhatIsForgotten(t *testing.T) {
	s, then := gatedStore(t)
	notes, rooms := s.Table("notes"), s.Table("rooms")
	keys := func(snap *Snapshot, r Range, skip int) (text string) {
		for key, err := range snap.Keys(r, skip) {
			text += key + " "
			if err != nil {
				return inTheWay(err)
			}
		}
		return text
	}
	err := s.At(then, func(snap *Snapshot) error {
		snap.Partial()
		for _, tt := range []struct{ got, want string }{
			{listed(snap, Range{Index: notes.ByID()}), "a cold warm z "},
			{listed(snap, Range{Index: notes.ByID(), Reverse: true, Limit: 3}), "z warm cold "},
			{listed(snap, Range{Index: rooms.ByID()}), "acold bcold bwarm ccold "},
			{listed(snap, Range{Index: notes.Index("value")}), "a cold warm z "},
			{keys(snap, Range{Index: notes.ByID(), Limit: 3}, 1), "cold warm "},
			{keys(snap, Range{Index: notes.Index("value")}, 3), "first/z "},
		} {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		}
		n, err := snap.Count(notes, nil)
		m, err2 := snap.CountRange(Range{Index: rooms.ByID(), Prefix: []byte("b"), Limit: 1})
		if n != 4 || m != 2 {
			t.Errorf("counted %d and %d, want 4 and 2", n, m)
		}
		if _, err := snap.Get(notes, []byte("hot")); !errors.Is(err, ErrCompacted) {
			t.Errorf("a document that is left out: got %v, want that it is forgotten", err)
		}
		if _, err := snap.Ordered(notes.ByID(), nil); inTheWay(err) != "notes/hot off" {
			t.Errorf("a range as a whole: got %v, want that it is refused", err)
		}
		return errors.Join(err, err2)
	})
	if err != nil {
		t.Error(err)
	}
	// The present lacks nothing.
	err = s.View(func(snap *Snapshot) error {
		snap.Partial()
		if got, want := listed(snap, Range{Index: notes.ByID()}), "a cold hot warm z "; got != want {
			t.Errorf("the present: got %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestErrorsSayWhatIsInTheWay(t *testing.T) {
	s, then := gatedStore(t)
	refused := func(r Range) string {
		err := s.At(then, func(snap *Snapshot) error { return first(snap.Scan(r)) })
		return fmt.Sprint(err)
	}
	for r, want := range map[*Range]string{
		{Index: s.Table("notes").ByID()}: `"hot" of "notes" has the policy off: read later, or leave out`,
		{Index: s.Table("rooms").ByID()}: `"hot" of "b" has the policy off: read later, or leave out`,
	} {
		if got := refused(*r); !strings.Contains(got, want) {
			t.Errorf("got %s, want that %s", got, want)
		}
	}
	if err := forgetScope(s, t.Context(), Scope{Group: "b"}, s.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	got, want := refused(Range{Index: s.Table("rooms").ByID(), Prefix: []byte("bc")}), `"b" was made to forget`
	if !strings.Contains(got, want) {
		t.Errorf("of a group: got %s, want that %s", got, want)
	}
}

// TestYoungStoresHaveForgottenNothing: before its birth there is nothing to be
// forgotten. The moment cannot be read all the same, and the log from there on
// is all of it.
func TestYoungStoresHaveForgottenNothing(t *testing.T) {
	s := openGates(t)
	put(t, s, s.Table("notes"), "a", "first")
	began := s.Bounds().Began
	if began == 0 || began != s.Bounds().Oldest {
		t.Fatalf("bounds: got %+v, want that the store began at its horizon", s.Bounds())
	}
	before := began - Timestamp(time.Hour/time.Microsecond)
	for name, read := range map[string]func() error{
		"At":    func() error { return s.At(before, func(*Snapshot) error { return nil }) },
		"Tx.At": func() error { return inTx(t.Context(), s, before) },
		"Hold": func() error {
			return s.Hold(t.Context(), Hold{Name: "h", At: before, Until: time.Now().Add(time.Hour)})
		},
		"History": func() error { return first(s.History(s.Table("notes"), []byte("a"), VersionRange{From: before})) },
		"Changed": func() error {
			return s.Changed(s.Table("notes"), nil, before, s.Bounds().Newest, func(*Document) error { return nil })
		},
	} {
		err := read()
		e, ok := errors.AsType[*CompactedError](err)
		want := fmt.Sprintf("the store began at %d", began)
		if !ok || !e.Unborn() || e.Began != began || !errors.Is(err, ErrCompacted) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want that %s", name, err, want)
		}
	}
	rows := 0
	if err := s.Log(before, 0, func(string, *Document) error { rows++; return nil }); err != nil || rows != 1 {
		t.Errorf("the log since before: got %d rows, %v, want 1", rows, err)
	}
	// Once something was forgotten, the log from before has a gap.
	ts := put(t, s, s.Table("notes"), "a", "second")
	if _, err := s.Prune(t.Context(), ts); err != nil {
		t.Fatal(err)
	}
	err := s.Log(before, 0, func(string, *Document) error { return nil })
	e, ok := errors.AsType[*CompactedError](err)
	if !ok || e.Oldest != ts || e.Unborn() {
		t.Errorf("the log since before of a store that has forgotten: got %v, want that it begins at %d", err, ts)
	}
}

func inTx(ctx context.Context, s *Store, ts Timestamp) error {
	_, err := s.Update(ctx, func(tx *Tx) error { return tx.At(ts, func(*Snapshot) error { return nil }) })
	return err
}
