package firn

// The rule: a scope can be read from its own horizon on, exactly; and what is
// forgotten once stays forgotten, whatever its policy becomes.

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// lab is a store with a clock of its own. Table notes has the default scopes;
// the ids of rooms are a letter, its group, and a name; walls belong to rooms.
type lab struct {
	*testing.T
	*Store
	path string
	now  time.Time
}

func newLab(t *testing.T) *lab {
	l := &lab{T: t, path: filepath.Join(t.TempDir(), "lab.db"), now: time.UnixMicro(1_000_000)}
	l.open()
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) open() {
	l.Helper()
	room := func(id string) Scope {
		if id == "" {
			return Scope{}
		}
		return Scope{Group: id[:1], Member: id[1:]}
	}
	var err error
	l.Store, err = Open(l.path, Options{
		Durability:    None,
		CompactByHand: true,
		Now:           func() time.Time { return l.now },
		Tables: []TableSpec{
			{Name: "notes"},
			{Name: "rooms", Scope: room, Indexes: []IndexSpec{{Name: "all", Keys: func(id string, _ []byte, add func([]byte)) { add([]byte(id)) }}}},
			{Name: "walls", Owned: true},
		},
	})
	if err != nil {
		l.Fatal(err)
	}
}

func (l *lab) reopen() {
	l.Helper()
	if err := l.Close(); err != nil {
		l.Fatal(err)
	}
	l.open()
}

// write commits values under one id, a millisecond apart.
func (l *lab) write(table, id string, values ...string) (written []Timestamp) {
	l.Helper()
	for _, v := range values {
		l.now = l.now.Add(time.Millisecond)
		written = append(written, put(l.T, l.Store, l.Table(table), id, v))
	}
	return written
}

func (l *lab) set(scope Scope, r *Retention) {
	l.Helper()
	if err := l.SetRetention(l.Context(), scope, r); err != nil {
		l.Fatal(err)
	}
}

// passed is what the compactor does: the policy was applied up to ts.
func (l *lab) passed(p Retention, ts Timestamp) {
	l.Helper()
	horizon := ts
	if p.Versions > 0 {
		horizon = 0 // each document has its own
	}
	text := fmt.Sprintf(`{%q:{"horizon":%d,"cursor":%d,"applied":%d}}`, p, horizon, ts, ts)
	if err := l.writer.Exec(l.Context(), func(a schema.Appender) error {
		return a.SetGlobal(retention.ClassesGlobal, text)
	}); err != nil {
		l.Fatal(err)
	}
	l.reopen()
}

// at is what a document was, or why that is not known.
func (l *lab) at(ts Timestamp, table, id string) (got string) {
	l.Helper()
	err := l.At(ts, func(s *Snapshot) error {
		got = valueOf(s, l.Table(table), id)
		return nil
	})
	return told([]string{got}, err)
}

func compactedAt(asked, oldest Timestamp) string {
	return (&CompactedError{Asked: asked, Oldest: oldest}).Error()
}

func (l *lab) want(what, got, want string) {
	l.Helper()
	if got != want {
		l.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestPoliciesComeInThreeTiers(t *testing.T) {
	l := newLab(t)
	day, five, off := Retention{Age: 24 * time.Hour}, Retention{Versions: 5}, Retention{Off: true}
	ada, group := Scope{Group: "notes", Member: "ada"}, Scope{Group: "notes"}
	told := func() string {
		var lines []string
		for _, scope := range []Scope{ada, group, {Group: "other", Member: "x"}} {
			policy, tier := l.Retention(scope)
			lines = append(lines, fmt.Sprintf("%s of %q/%q", policy, tier.Group, tier.Member))
		}
		for scope, policy := range l.Policies() {
			lines = append(lines, fmt.Sprintf("%q/%q: %s", scope.Group, scope.Member, policy))
		}
		return strings.Join(lines, "; ")
	}
	for _, step := range []struct {
		scope  Scope
		policy *Retention
		want   string
	}{
		{ada, nil, `unlimited of ""/""; unlimited of ""/""; unlimited of ""/""`},
		{Scope{}, &day, `time 24h0m0s of ""/""; time 24h0m0s of ""/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s`},
		{group, &five, `count 5 of "notes"/""; count 5 of "notes"/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s; "notes"/"": count 5`},
		{ada, &off, `off of "notes"/"ada"; count 5 of "notes"/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s; "notes"/"": count 5; "notes"/"ada": off`},
		{Scope{}, nil, `off of "notes"/"ada"; count 5 of "notes"/""; unlimited of ""/""; "notes"/"": count 5; "notes"/"ada": off`},
		{group, &Retention{}, `off of "notes"/"ada"; unlimited of "notes"/""; unlimited of ""/""; "notes"/"": unlimited; "notes"/"ada": off`},
		{ada, nil, `unlimited of "notes"/""; unlimited of "notes"/""; unlimited of ""/""; "notes"/"": unlimited`},
	} {
		l.set(step.scope, step.policy)
		l.want("policies", told(), step.want)
		l.reopen()
		l.want("policies after opening again", told(), step.want)
	}
	// What was set when is history itself.
	records := 0
	if err := l.View(func(s *Snapshot) error {
		for _, err := range s.Versions(l.Table("firn.retention"), retention.RecordID(group), VersionRange{}) {
			if records++; err != nil {
				return err
			}
		}
		return nil
	}); err != nil || records != 2 {
		t.Errorf("versions of the group's policy: got %d, %v, want 2", records, err)
	}
}

// A policy that keeps more begins where the one before had got to, and
// removing it does not bring back what that had let go.
func TestTheStartOfAScopeNeverMovesBack(t *testing.T) {
	l := newLab(t)
	hour := Retention{Age: time.Hour}
	ada := Scope{Group: "notes", Member: "ada"}
	written := l.write("notes", "ada", "1", "2", "3", "4")
	l.set(ada, &hour)
	l.want("before anything is forgotten", l.at(written[0], "notes", "ada"), "1")
	l.passed(hour, written[2])
	forgotten := compactedAt(written[1], written[2])
	for _, step := range []struct {
		what   string
		change func()
	}{
		{"as it is", func() {}},
		{"kept for longer", func() { l.set(ada, &Retention{Age: 48 * time.Hour}) }},
		{"unlimited", func() { l.set(ada, &Retention{}) }},
		{"inherited", func() { l.set(ada, nil) }},
		{"inherited twice", func() { l.set(ada, nil) }},
		{"set again", func() { l.set(ada, &hour) }},
		{"inherited again", func() { l.set(ada, nil) }},
		{"from the store", func() { l.set(Scope{}, &Retention{}) }},
	} {
		step.change()
		for range 2 {
			l.want(step.what+", forgotten", l.at(written[1], "notes", "ada"), forgotten)
			l.want(step.what+", horizon", l.at(written[2], "notes", "ada"), "3")
			l.want(step.what+", a neighbour", l.at(written[1], "notes", "bob"), ErrNotFound.Error())
			l.reopen()
		}
	}
	// Once the store has forgotten as much, the record says nothing more.
	if err := l.moveHorizon(t.Context(), written[3]); err != nil {
		t.Fatal(err)
	}
	l.set(Scope{Group: "other"}, &hour)
	if _, ok := l.state.Record(ada); ok {
		t.Error("a record that starts before what it inherits: got it, want none")
	}
	l.want("with the store's horizon", l.at(written[2], "notes", "ada"), compactedAt(written[2], written[3]))
	l.reopen()
	if _, ok := l.state.Record(ada); ok {
		t.Error("a spent record after opening again: got it, want none")
	}
}

func TestEachScopeHasAHorizonOfItsOwn(t *testing.T) {
	l := newLab(t)
	hour, off := Retention{Age: time.Hour}, Retention{Off: true}
	a := l.write("rooms", "akitchen", "a1", "a2", "a3")
	b := l.write("rooms", "bhall", "b1", "b2")
	l.write("walls", "north", "brick")
	l.set(Scope{Group: "a"}, &hour)
	l.set(Scope{Group: "b", Member: "hall"}, &off)
	l.set(Scope{Group: "walls"}, &hour) // says nothing: rooms own them
	l.passed(hour, a[1])
	for _, tt := range []struct {
		ts        Timestamp
		table, id string
		want      string
	}{
		{a[0], "rooms", "akitchen", compactedAt(a[0], a[1])},
		{a[0], "rooms", "acellar", compactedAt(a[0], a[1])},
		{a[1], "rooms", "akitchen", "a2"},
		{a[0], "rooms", "bhall", ErrNotFound.Error()},
		{b[0], "rooms", "bhall", "b1"},
		{a[0], "notes", "x", ErrNotFound.Error()},
		{a[0], "walls", "north", ErrNotFound.Error()},
		{l.Bounds().Oldest, "notes", "x", ErrNotFound.Error()},
		{l.Bounds().Oldest - 1, "notes", "x", compactedAt(l.Bounds().Oldest-1, l.Bounds().Oldest)},
	} {
		l.want(fmt.Sprintf("%s at %d", tt.id, tt.ts), l.at(tt.ts, tt.table, tt.id), tt.want)
	}
	if got := l.Oldest(Scope{Group: "a", Member: "cellar"}); got != a[1] {
		t.Errorf("oldest of a member: got %d, want %d", got, a[1])
	}
	if got, want := l.Bounds().Oldest, l.Oldest(Scope{Group: "b"}); got != want || got >= a[0] {
		t.Errorf("oldest of the store: got %d, want %d", got, want)
	}
	forgotten := map[bool]string{true: compactedAt(a[0], a[1]), false: "ok"}
	for name, read := range rangeReads(l) {
		got := told([]string{"ok"}, l.At(a[0], read))
		l.want(name, got, forgotten[strings.HasPrefix(name, "no: ")])
		l.want(name+" at the horizon", told([]string{"ok"}, l.At(a[1], read)), "ok")
	}
}

// rangeReads are reads of ranges. Those that begin with "no: " touch a scope of
// group a.
func rangeReads(l *lab) map[string]func(*Snapshot) error {
	rooms, notes := l.Table("rooms"), l.Table("notes")
	compacted := func(err error) error { // the ids are no tuples, so there are no ordered ranges
		if errors.Is(err, ErrCompacted) {
			return err
		}
		return nil
	}
	scan := func(r Range) func(*Snapshot) error { return func(s *Snapshot) error { return first(s.Scan(r)) } }
	return map[string]func(*Snapshot) error{
		"no: all rooms":             scan(Range{Index: rooms.ByID()}),
		"no: rooms of a":            scan(Range{Index: rooms.ByID(), Prefix: []byte("a")}),
		"no: kitchens":              scan(Range{Index: rooms.ByID(), Prefix: []byte("akit")}),
		"no: from a on":             scan(Range{Index: rooms.ByID(), From: []byte("a"), To: []byte("b")}),
		"no: from b without an end": scan(Range{Index: rooms.ByID(), From: []byte("b")}),
		"no: a declared index":      scan(Range{Index: rooms.Index("all"), Prefix: []byte("b")}),
		"rooms of b":                scan(Range{Index: rooms.ByID(), Prefix: []byte("b")}),
		"from b to c":               scan(Range{Index: rooms.ByID(), From: []byte("b"), To: []byte("c")}),
		"notes":                     scan(Range{Index: notes.ByID()}),
		"walls":                     scan(Range{Index: l.Table("walls").ByID()}),
		"no: keys":                  func(s *Snapshot) error { return first(s.Keys(Range{Index: rooms.ByID()}, 0)) },
		"no: last":                  func(s *Snapshot) error { _, err := s.Last(rooms, []byte("akitchen")); return err },
		"no: versions": func(s *Snapshot) error {
			return first(s.Versions(rooms, []byte("akitchen"), VersionRange{}))
		},
		"versions": func(s *Snapshot) error { return first(s.Versions(rooms, []byte("bhall"), VersionRange{})) },
		"no: count range": func(s *Snapshot) error {
			_, err := s.CountRange(Range{Index: rooms.ByID(), Prefix: []byte("a")})
			return err
		},
		"no: count":   func(s *Snapshot) error { _, err := s.Count(rooms, []byte("a")); return err },
		"count":       func(s *Snapshot) error { _, err := s.Count(rooms, []byte("b")); return err },
		"no: ordered": func(s *Snapshot) error { _, err := s.Ordered(rooms.ByID(), nil); return compacted(err) },
		"no: warm":    func(s *Snapshot) error { _, err := s.Warm(rooms.ByID(), nil, 1); return compacted(err) },
	}
}

// forget deletes versions as the compactor does.
func (l *lab) forget(table, id string, versions ...Timestamp) {
	l.Helper()
	for {
		_, total := l.tail.Size()
		if total.Entries == 0 {
			break
		}
		if err := l.writer.Maintain(l.Context(), func(a schema.Appender) error { return storefile.MergeAll(a, l.tail, l.head.Counts()) }); err != nil {
			l.Fatal(err)
		}
	}
	var rows []*schema.Row
	var entries []schema.Entry
	def := l.Table(table).def
	for _, ts := range versions {
		rows = append(rows, &schema.Row{TS: ts, Table: def.ID, ID: id})
		entries = append(entries, schema.Entry{Index: schema.ByID(def.ID), Key: id, TS: ts})
	}
	if err := l.writer.Exec(l.Context(), func(a schema.Appender) error {
		return errors.Join(a.DeleteEntries(entries), a.DeleteRows(rows))
	}); err != nil {
		l.Fatal(err)
	}
}

func TestPoliciesThatCountVersions(t *testing.T) {
	l := newLab(t)
	created := l.Bounds().Oldest
	two := Retention{Versions: 2}
	l.set(Scope{Group: "notes"}, &two)
	many := l.write("notes", "many", "1", "2", "3", "4")
	one := l.write("notes", "one", "only")
	cut := l.write("notes", "cut", "a", "b")
	gone := l.write("notes", "gone", "x")
	last, err := l.Update(t.Context(), func(tx *Tx) error { return tx.Delete(l.Table("notes"), []byte("gone"), nil) })
	if err != nil {
		t.Fatal(err)
	}
	l.forget("notes", "many", many[:2]...)
	l.forget("notes", "cut", cut[0])
	l.forget("notes", "gone", gone[0], last)
	l.passed(two, last)
	later := l.write("notes", "other", "z")[0]
	for _, tt := range []struct {
		id   string
		ts   Timestamp
		want string
	}{
		{"many", many[2], "3"},
		{"many", many[2] - 1, compactedAt(many[2]-1, many[2])},
		{"many", created, compactedAt(created, many[2])},
		{"one", one[0], "only"},
		{"one", created, ErrNotFound.Error()},
		{"cut", cut[1], "b"},
		{"cut", cut[0], compactedAt(cut[0], cut[1])},
		{"gone", last, ErrNotFound.Error()},
		{"gone", gone[0], compactedAt(gone[0], last)},
		{"never", later, ErrNotFound.Error()},
	} {
		l.want(fmt.Sprintf("%s at %d", tt.id, tt.ts), l.at(tt.ts, "notes", tt.id), tt.want)
	}
	scan := func(s *Snapshot) error { return first(s.Scan(Range{Index: l.Table("notes").ByID()})) }
	l.want("scan before all is kept", told(nil, l.At(last-1, scan)), compactedAt(last-1, last))
	l.want("scan", told(nil, l.At(last, scan)), "(nothing)")
	if problems, err := Check(l.path, func(p string) { t.Error(p) }); err != nil || problems > 0 {
		t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// Versions hides what may be deleted at any time, at every moment and in
// transactions too.
func TestVersionsBeginAtTheScopesHorizon(t *testing.T) {
	l := newLab(t)
	written := l.write("notes", "ada", "1", "2", "3", "4", "5")
	two := Retention{Versions: 2}
	list := func(r Reader) (values []string) {
		for doc, err := range r.Versions(l.Table("notes"), []byte("ada"), VersionRange{}) {
			if err != nil {
				return []string{err.Error()}
			}
			values = append(values, string(doc.Value))
		}
		return values
	}
	check := func(what, past, present string) {
		t.Helper()
		if err := l.At(written[3], func(s *Snapshot) error { l.want(what+", past", strings.Join(list(s), " "), past); return nil }); err != nil {
			t.Error(err)
		}
		if err := l.View(func(s *Snapshot) error { l.want(what, strings.Join(list(s), " "), present); return nil }); err != nil {
			t.Error(err)
		}
		if _, err := l.Update(t.Context(), func(tx *Tx) error { l.want(what+", transaction", strings.Join(list(tx), " "), present); return nil }); err != nil {
			t.Error(err)
		}
	}
	check("unlimited", "1 2 3 4", "1 2 3 4 5")
	l.set(Scope{Group: "notes", Member: "ada"}, &two)
	check("count", "4", "4 5")
	l.set(Scope{Group: "notes", Member: "ada"}, &Retention{Age: time.Hour})
	l.passed(Retention{Age: time.Hour}, written[2]+1)
	check("time", "3 4", "3 4 5")
}

func TestPoliciesThatCannotBe(t *testing.T) {
	l := newLab(t)
	for name, tt := range map[string]struct {
		scope  Scope
		policy Retention
		want   error
	}{
		"two at once":         {Scope{}, Retention{Off: true, Versions: 1}, retention.ErrPolicy},
		"negative":            {Scope{}, Retention{Age: -time.Hour}, retention.ErrPolicy},
		"negative count":      {Scope{}, Retention{Versions: -1}, retention.ErrPolicy},
		"too short":           {Scope{}, Retention{Age: time.Microsecond}, retention.ErrPolicy},
		"member of no group":  {Scope{Member: "x"}, Retention{}, retention.ErrPolicy},
		"a scope beyond size": {Scope{Group: strings.Repeat("g", schema.MaxIDBytes)}, Retention{}, schema.ErrSize},
	} {
		if err := l.SetRetention(t.Context(), tt.scope, &tt.policy); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	if all := maps.Collect(l.Policies()); len(all) > 0 {
		t.Errorf("policies afterwards: got %v, want none", all)
	}
	records := map[Scope]retention.Record{}
	for i := range maxPolicies {
		records[Scope{Group: "g", Member: fmt.Sprint(i)}] = retention.Record{Off: true}
	}
	l.state.Restore(records)
	if err := l.SetRetention(t.Context(), Scope{Group: "h"}, &Retention{}); !errors.Is(err, retention.ErrPolicy) {
		t.Errorf("one policy too many: got %v, want %v", err, retention.ErrPolicy)
	}
	l.set(Scope{Group: "g", Member: "7"}, &Retention{}) // one that is there may change
}

// What the store keeps about itself can be read, not written.
func TestTheStoresOwnTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.db")
	if _, err := Open(path, Options{Tables: []TableSpec{{Name: "firn.mine"}}}); !errors.Is(err, ErrTable) {
		t.Errorf("declaring a table of the store's own: got %v, want %v", err, ErrTable)
	}
	l := newLab(t)
	own := l.Table("firn.retention")
	for name, write := range map[string]func(*Tx) error{
		"put":    func(tx *Tx) error { return tx.Put(own, []byte("x"), nil) },
		"json":   func(tx *Tx) error { return tx.PutJSON(own, []byte("x"), []byte("{}")) },
		"delete": func(tx *Tx) error { return tx.Delete(own, []byte("x"), nil) },
	} {
		if _, err := l.Update(t.Context(), write); !errors.Is(err, ErrTable) {
			t.Errorf("%s: got %v, want %v", name, err, ErrTable)
		}
	}
	if ids := slices.Sorted(maps.Keys(l.tables)); !slices.Equal(ids, []string{"firn.authors", "firn.holds", "firn.retention", "notes", "rooms", "walls"}) || l.tables["notes"].def.ID != 1 {
		t.Errorf("tables: got %q, want the store's own behind the program's", ids)
	}
}

// TestChangedLooksAtItsGroup: what is forgotten in one group is no reason to
// refuse what changed in another, and what is left of any is found.
func TestChangedLooksAtItsGroup(t *testing.T) {
	l := newLab(t)
	a := l.write("rooms", "a1", "1", "2")
	b := l.write("rooms", "b1", "1", "2")
	l.set(Scope{Group: "a"}, &Retention{Off: true})
	if _, err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := func(prefix string) (got string) {
		err := l.Changed(l.Table("rooms"), []byte(prefix), a[0], b[1], func(doc *Document) error {
			got += doc.ID + "=" + string(doc.Value)
			return nil
		})
		if errors.Is(err, ErrCompacted) {
			return "compacted"
		}
		return told([]string{got}, err)
	}
	l.want("in the other group", seen("b"), "b1=2")
	l.want("in the group", seen("a"), "compacted")
	l.want("in all", seen(""), "compacted")
	left := map[string]int{}
	if err := l.IDs(l.Table("rooms"), nil, func(id string) error { left[id]++; return nil }); err != nil {
		t.Fatal(err)
	}
	l.want("versions left", fmt.Sprint(left), "map[a1:1 b1:2]")
	if err := l.IDs(l.Table("rooms"), []byte("b"), func(id string) error { return errors.New(id) }); err == nil || err.Error() != "b1" {
		t.Errorf("fn's error: got %v, want b1", err)
	}
}

// TestClearedScopesAreForgotten: a record that says no more than the horizon
// does goes with the next one.
func TestClearedScopesAreForgotten(t *testing.T) {
	l := newLab(t)
	for _, id := range []string{"a1", "a2", "a3"} {
		written := l.write("rooms", id, "1", "2")
		if n, err := l.Forget(t.Context(), l.Table("rooms"), []byte(id), written[1]); n != 1 || err != nil {
			t.Fatalf("forget %s: got %d, %v, want 1", id, n, err)
		}
	}
	if n := len(l.state.Records()); n != 3 {
		t.Errorf("records: got %d, want 3", n)
	}
	l.write("rooms", "a4", "1", "2")
	if _, err := l.Prune(t.Context(), l.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	last := l.write("rooms", "a4", "3", "4")
	if _, err := l.Forget(t.Context(), l.Table("rooms"), []byte("a4"), last[1]); err != nil {
		t.Fatal(err)
	}
	if n := len(l.state.Records()); n != 1 {
		t.Errorf("records behind the horizon: got %d, want 1", n)
	}
}

// TestPoliciesHoldSinceTheyWereSet, also when the record is written again to
// forget something, and when the store was closed meanwhile.
func TestPoliciesHoldSinceTheyWereSet(t *testing.T) {
	l := newLab(t)
	ada, group := Scope{Group: "notes", Member: "ada"}, Scope{Group: "notes"}
	since := func(what string, scope Scope, want Timestamp) {
		t.Helper()
		for _, opened := range []string{"", ", opened again"} {
			if got := l.RetentionSince(scope); got != want {
				t.Errorf("%s%s: got %d, want %d", what, opened, got, want)
			}
			l.reopen()
		}
	}
	setAt := func(scope Scope, r *Retention) Timestamp {
		l.now = l.now.Add(time.Minute)
		l.set(scope, r)
		return l.Bounds().Newest
	}
	since("never set", ada, 0)
	first := setAt(ada, &Retention{Age: time.Hour})
	since("set", ada, first)
	setAt(ada, &Retention{Age: time.Hour})
	since("set to the same again", ada, first)
	whole := setAt(Scope{}, &Retention{Versions: 3})
	since("of the store", Scope{}, whole)
	since("of a scope between", group, 0)

	written := l.write("notes", "ada", "1", "2")
	if _, err := l.Forget(t.Context(), l.Table("notes"), []byte("ada"), written[1]); err != nil {
		t.Fatal(err)
	}
	since("after its history was forgotten", ada, first)
	since("changed", ada, setAt(ada, &Retention{Off: true}))
	setAt(ada, nil)
	since("taken away", ada, 0)
}
