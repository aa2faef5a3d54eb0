package proof

// The rule: a scope can be read from its own horizon on, exactly; and what is
// forgotten once stays forgotten, whatever its policy becomes.

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// lab is a store with a clock of its own. Table notes has the default scopes;
// the ids of rooms are a letter, its group, and a name; walls belong to rooms.
type lab struct {
	*testing.T
	*firn.Store
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
	room := func(id string) firn.Scope {
		if id == "" {
			return firn.Scope{}
		}
		return firn.Scope{Group: id[:1], Member: id[1:]}
	}
	var err error
	l.Store, err = firn.Open(l.path, firn.Options{
		Durability:    firn.None,
		CompactByHand: true,
		Now:           func() time.Time { return l.now },
		Tables: []firn.TableSpec{
			{Name: "notes"},
			{Name: "rooms", Scope: room, Indexes: []firn.IndexSpec{{Name: "all", Keys: func(id string, _ []byte, add func([]byte)) { add([]byte(id)) }}}},
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
func (l *lab) write(table, id string, values ...string) (written []firn.Timestamp) {
	l.Helper()
	for _, v := range values {
		l.now = l.now.Add(time.Millisecond)
		written = append(written, put(l.T, l.Store, l.Table(table), id, v))
	}
	return written
}

func (l *lab) set(scope firn.Scope, r *firn.Retention) {
	l.Helper()
	if err := l.SetRetention(l.Context(), scope, r); err != nil {
		l.Fatal(err)
	}
}

// passed is what the compactor does: the policy was applied up to ts.
func (l *lab) passed(p firn.Retention, ts firn.Timestamp) {
	l.Helper()
	horizon := ts
	if p.Versions > 0 {
		horizon = 0 // each document has its own
	}
	text := fmt.Sprintf(`{%q:{"horizon":%d,"cursor":%d,"applied":%d}}`, p, horizon, ts, ts)
	if err := inside.Of(l.Store).Writer.Exec(l.Context(), func(a schema.Appender) error {
		return a.SetGlobal(retention.ClassesGlobal, text)
	}); err != nil {
		l.Fatal(err)
	}
	l.reopen()
}

// at is what a document was, or why that is not known.
func (l *lab) at(ts firn.Timestamp, table, id string) (got string) {
	l.Helper()
	err := l.At(ts, func(s *firn.Snapshot) error {
		got = valueOf(s, l.Table(table), id)
		return nil
	})
	return told([]string{got}, err)
}

func compactedAt(asked, oldest firn.Timestamp) string {
	return (&firn.CompactedError{Asked: asked, Oldest: oldest}).Error()
}

// want compares what was told; of an error about what is forgotten, when it can
// be read, and not why not before.
func (l *lab) want(what, got, want string) {
	l.Helper()
	if oldest := strings.Index(got, "oldest readable timestamp"); oldest >= 0 {
		when, _, _ := strings.Cut(got[oldest:], ":")
		got = got[:oldest] + when
	}
	if got != want {
		l.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestPoliciesComeInThreeTiers(t *testing.T) {
	l := newLab(t)
	day, five, off := firn.Retention{Age: 24 * time.Hour}, firn.Retention{Versions: 5}, firn.Retention{Off: true}
	ada, group := firn.Scope{Group: "notes", Member: "ada"}, firn.Scope{Group: "notes"}
	told := func() string {
		var lines []string
		for _, scope := range []firn.Scope{ada, group, {Group: "other", Member: "x"}} {
			policy, tier := l.Retention(scope)
			lines = append(lines, fmt.Sprintf("%s of %q/%q", policy, tier.Group, tier.Member))
		}
		for scope, policy := range l.Policies() {
			lines = append(lines, fmt.Sprintf("%q/%q: %s", scope.Group, scope.Member, policy))
		}
		return strings.Join(lines, "; ")
	}
	for _, step := range []struct {
		scope  firn.Scope
		policy *firn.Retention
		want   string
	}{
		{ada, nil, `unlimited of ""/""; unlimited of ""/""; unlimited of ""/""`},
		{firn.Scope{}, &day, `time 24h0m0s of ""/""; time 24h0m0s of ""/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s`},
		{group, &five, `count 5 of "notes"/""; count 5 of "notes"/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s; "notes"/"": count 5`},
		{ada, &off, `off of "notes"/"ada"; count 5 of "notes"/""; time 24h0m0s of ""/""; ""/"": time 24h0m0s; "notes"/"": count 5; "notes"/"ada": off`},
		{firn.Scope{}, nil, `off of "notes"/"ada"; count 5 of "notes"/""; unlimited of ""/""; "notes"/"": count 5; "notes"/"ada": off`},
		{group, &firn.Retention{}, `off of "notes"/"ada"; unlimited of "notes"/""; unlimited of ""/""; "notes"/"": unlimited; "notes"/"ada": off`},
		{ada, nil, `unlimited of "notes"/""; unlimited of "notes"/""; unlimited of ""/""; "notes"/"": unlimited`},
	} {
		l.set(step.scope, step.policy)
		l.want("policies", told(), step.want)
		l.reopen()
		l.want("policies after opening again", told(), step.want)
	}
	// What was set when is history itself.
	records := 0
	if err := l.View(func(s *firn.Snapshot) error {
		for _, err := range s.Versions(l.Table("firn.retention"), retention.RecordID(group), firn.VersionRange{}) {
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
	hour := firn.Retention{Age: time.Hour}
	ada := firn.Scope{Group: "notes", Member: "ada"}
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
		{"kept for longer", func() { l.set(ada, &firn.Retention{Age: 48 * time.Hour}) }},
		{"unlimited", func() { l.set(ada, &firn.Retention{}) }},
		{"inherited", func() { l.set(ada, nil) }},
		{"inherited twice", func() { l.set(ada, nil) }},
		{"set again", func() { l.set(ada, &hour) }},
		{"inherited again", func() { l.set(ada, nil) }},
		{"from the store", func() { l.set(firn.Scope{}, &firn.Retention{}) }},
	} {
		step.change()
		for range 2 {
			l.want(step.what+", forgotten", l.at(written[1], "notes", "ada"), forgotten)
			l.want(step.what+", horizon", l.at(written[2], "notes", "ada"), "3")
			l.want(step.what+", a neighbour", l.at(written[1], "notes", "bob"), firn.ErrNotFound.Error())
			l.reopen()
		}
	}
	// Once the store has forgotten as much, the record says nothing more.
	if err := moveHorizon(t.Context(), l.Store, written[3]); err != nil {
		t.Fatal(err)
	}
	l.set(firn.Scope{Group: "other"}, &hour)
	if _, ok := inside.Of(l.Store).State.Record(ada); ok {
		t.Error("a record that starts before what it inherits: got it, want none")
	}
	l.want("with the store's horizon", l.at(written[2], "notes", "ada"), compactedAt(written[2], written[3]))
	l.reopen()
	if _, ok := inside.Of(l.Store).State.Record(ada); ok {
		t.Error("a spent record after opening again: got it, want none")
	}
}

func TestEachScopeHasAHorizonOfItsOwn(t *testing.T) {
	l := newLab(t)
	hour, off := firn.Retention{Age: time.Hour}, firn.Retention{Off: true}
	a := l.write("rooms", "akitchen", "a1", "a2", "a3")
	b := l.write("rooms", "bhall", "b1", "b2")
	l.write("walls", "north", "brick")
	l.set(firn.Scope{Group: "a"}, &hour)
	l.set(firn.Scope{Group: "b", Member: "hall"}, &off)
	l.set(firn.Scope{Group: "walls"}, &hour) // says nothing: rooms own them
	l.passed(hour, a[1])
	for _, tt := range []struct {
		ts        firn.Timestamp
		table, id string
		want      string
	}{
		{a[0], "rooms", "akitchen", compactedAt(a[0], a[1])},
		{a[0], "rooms", "acellar", compactedAt(a[0], a[1])},
		{a[1], "rooms", "akitchen", "a2"},
		{a[0], "rooms", "bhall", firn.ErrNotFound.Error()},
		{b[0], "rooms", "bhall", "b1"},
		{a[0], "notes", "x", firn.ErrNotFound.Error()},
		{a[0], "walls", "north", firn.ErrNotFound.Error()},
		{l.Bounds().Oldest, "notes", "x", firn.ErrNotFound.Error()},
		{l.Bounds().Oldest - 1, "notes", "x", compactedAt(l.Bounds().Oldest-1, l.Bounds().Oldest)},
	} {
		l.want(fmt.Sprintf("%s at %d", tt.id, tt.ts), l.at(tt.ts, tt.table, tt.id), tt.want)
	}
	if got := l.Oldest(firn.Scope{Group: "a", Member: "cellar"}); got != a[1] {
		t.Errorf("oldest of a member: got %d, want %d", got, a[1])
	}
	if got, want := l.Bounds().Oldest, l.Oldest(firn.Scope{Group: "b"}); got != want || got >= a[0] {
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
func rangeReads(l *lab) map[string]func(*firn.Snapshot) error {
	rooms, notes := l.Table("rooms"), l.Table("notes")
	compacted := func(err error) error { // the ids are no tuples, so there are no ordered ranges
		if errors.Is(err, firn.ErrCompacted) {
			return err
		}
		return nil
	}
	scan := func(r firn.Range) func(*firn.Snapshot) error {
		return func(s *firn.Snapshot) error { return first(s.Scan(r)) }
	}
	return map[string]func(*firn.Snapshot) error{
		"no: all rooms":             scan(firn.Range{Index: rooms.ByID()}),
		"no: rooms of a":            scan(firn.Range{Index: rooms.ByID(), Prefix: []byte("a")}),
		"no: kitchens":              scan(firn.Range{Index: rooms.ByID(), Prefix: []byte("akit")}),
		"no: from a on":             scan(firn.Range{Index: rooms.ByID(), From: []byte("a"), To: []byte("b")}),
		"no: from b without an end": scan(firn.Range{Index: rooms.ByID(), From: []byte("b")}),
		"no: a declared index":      scan(firn.Range{Index: rooms.Index("all"), Prefix: []byte("b")}),
		"rooms of b":                scan(firn.Range{Index: rooms.ByID(), Prefix: []byte("b")}),
		"from b to c":               scan(firn.Range{Index: rooms.ByID(), From: []byte("b"), To: []byte("c")}),
		"notes":                     scan(firn.Range{Index: notes.ByID()}),
		"walls":                     scan(firn.Range{Index: l.Table("walls").ByID()}),
		"no: keys":                  func(s *firn.Snapshot) error { return first(s.Keys(firn.Range{Index: rooms.ByID()}, 0)) },
		"no: last":                  func(s *firn.Snapshot) error { _, err := s.Last(rooms, []byte("akitchen")); return err },
		"no: versions": func(s *firn.Snapshot) error {
			return first(s.Versions(rooms, []byte("akitchen"), firn.VersionRange{}))
		},
		"versions": func(s *firn.Snapshot) error { return first(s.Versions(rooms, []byte("bhall"), firn.VersionRange{})) },
		"no: count range": func(s *firn.Snapshot) error {
			_, err := s.CountRange(firn.Range{Index: rooms.ByID(), Prefix: []byte("a")})
			return err
		},
		"no: count":   func(s *firn.Snapshot) error { _, err := s.Count(rooms, []byte("a")); return err },
		"count":       func(s *firn.Snapshot) error { _, err := s.Count(rooms, []byte("b")); return err },
		"no: ordered": func(s *firn.Snapshot) error { _, err := s.Ordered(rooms.ByID(), nil); return compacted(err) },
		"no: warm":    func(s *firn.Snapshot) error { _, err := s.Warm(rooms.ByID(), nil, 1); return compacted(err) },
	}
}

// forget deletes versions as the compactor does.
func (l *lab) forget(table, id string, versions ...firn.Timestamp) {
	l.Helper()
	for {
		_, total := inside.Of(l.Store).Tail.Size()
		if total.Entries == 0 {
			break
		}
		if err := inside.Of(l.Store).Writer.Maintain(l.Context(), func(a schema.Appender) error {
			return storefile.MergeAll(a, inside.Of(l.Store).Tail, nil, inside.Of(l.Store).Head.Counts())
		}); err != nil {
			l.Fatal(err)
		}
	}
	var rows []*schema.Row
	var entries []schema.Entry
	def := inside.Of(l.Store).Table(table)
	for _, ts := range versions {
		rows = append(rows, &schema.Row{TS: ts, Table: def.ID, ID: id})
		entries = append(entries, schema.Entry{Index: schema.ByID(def.ID), Key: id, TS: ts})
	}
	if err := inside.Of(l.Store).Writer.Exec(l.Context(), func(a schema.Appender) error {
		return errors.Join(a.DeleteEntries(entries), a.DeleteRows(rows))
	}); err != nil {
		l.Fatal(err)
	}
}

func TestPoliciesThatCountVersions(t *testing.T) {
	l := newLab(t)
	created := l.Bounds().Oldest
	two := firn.Retention{Versions: 2}
	l.set(firn.Scope{Group: "notes"}, &two)
	many := l.write("notes", "many", "1", "2", "3", "4")
	one := l.write("notes", "one", "only")
	cut := l.write("notes", "cut", "a", "b")
	gone := l.write("notes", "gone", "x")
	last, err := l.Update(t.Context(), func(tx *firn.Tx) error { return tx.Delete(l.Table("notes"), []byte("gone"), nil) })
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
		ts   firn.Timestamp
		want string
	}{
		{"many", many[2], "3"},
		{"many", many[2] - 1, compactedAt(many[2]-1, many[2])},
		{"many", created, compactedAt(created, many[2])},
		{"one", one[0], "only"},
		{"one", created, firn.ErrNotFound.Error()},
		{"cut", cut[1], "b"},
		{"cut", cut[0], compactedAt(cut[0], cut[1])},
		{"gone", last, firn.ErrNotFound.Error()},
		{"gone", gone[0], compactedAt(gone[0], last)},
		{"never", later, firn.ErrNotFound.Error()},
	} {
		l.want(fmt.Sprintf("%s at %d", tt.id, tt.ts), l.at(tt.ts, "notes", tt.id), tt.want)
	}
	scan := func(s *firn.Snapshot) error { return first(s.Scan(firn.Range{Index: l.Table("notes").ByID()})) }
	l.want("scan before all is kept", told(nil, l.At(last-1, scan)), compactedAt(last-1, last))
	l.want("scan", told(nil, l.At(last, scan)), "(nothing)")
	if problems, err := firn.Check(l.path, func(p string) { t.Error(p) }); err != nil || problems > 0 {
		t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// Versions hides what may be deleted at any time, at every moment and in
// transactions too.
func TestVersionsBeginAtTheScopesHorizon(t *testing.T) {
	l := newLab(t)
	written := l.write("notes", "ada", "1", "2", "3", "4", "5")
	two := firn.Retention{Versions: 2}
	list := func(r firn.Reader) (values []string) {
		for doc, err := range r.Versions(l.Table("notes"), []byte("ada"), firn.VersionRange{}) {
			if err != nil {
				return []string{err.Error()}
			}
			values = append(values, string(doc.Value))
		}
		return values
	}
	check := func(what, past, present string) {
		t.Helper()
		if err := l.At(written[3], func(s *firn.Snapshot) error { l.want(what+", past", strings.Join(list(s), " "), past); return nil }); err != nil {
			t.Error(err)
		}
		if err := l.View(func(s *firn.Snapshot) error { l.want(what, strings.Join(list(s), " "), present); return nil }); err != nil {
			t.Error(err)
		}
		if _, err := l.Update(t.Context(), func(tx *firn.Tx) error {
			l.want(what+", transaction", strings.Join(list(tx), " "), present)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	check("unlimited", "1 2 3 4", "1 2 3 4 5")
	l.set(firn.Scope{Group: "notes", Member: "ada"}, &two)
	check("count", "4", "4 5")
	l.set(firn.Scope{Group: "notes", Member: "ada"}, &firn.Retention{Age: time.Hour})
	l.passed(firn.Retention{Age: time.Hour}, written[2]+1)
	check("time", "3 4", "3 4 5")
}

func TestPoliciesThatCannotBe(t *testing.T) {
	l := newLab(t)
	for name, tt := range map[string]struct {
		scope  firn.Scope
		policy firn.Retention
		want   error
	}{
		"two at once":         {firn.Scope{}, firn.Retention{Off: true, Versions: 1}, retention.ErrPolicy},
		"negative":            {firn.Scope{}, firn.Retention{Age: -time.Hour}, retention.ErrPolicy},
		"negative count":      {firn.Scope{}, firn.Retention{Versions: -1}, retention.ErrPolicy},
		"too short":           {firn.Scope{}, firn.Retention{Age: time.Microsecond}, retention.ErrPolicy},
		"member of no group":  {firn.Scope{Member: "x"}, firn.Retention{}, retention.ErrPolicy},
		"a scope beyond size": {firn.Scope{Group: strings.Repeat("g", schema.MaxIDBytes)}, firn.Retention{}, schema.ErrSize},
	} {
		if err := l.SetRetention(t.Context(), tt.scope, &tt.policy); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	if all := maps.Collect(l.Policies()); len(all) > 0 {
		t.Errorf("policies afterwards: got %v, want none", all)
	}
	records := map[firn.Scope]retention.Record{}
	for i := range 10_000 {
		records[firn.Scope{Group: "g", Member: fmt.Sprint(i)}] = retention.Record{Off: true}
	}
	inside.Of(l.Store).State.Restore(records)
	if err := l.SetRetention(t.Context(), firn.Scope{Group: "h"}, &firn.Retention{}); !errors.Is(err, retention.ErrPolicy) {
		t.Errorf("one policy too many: got %v, want %v", err, retention.ErrPolicy)
	}
	l.set(firn.Scope{Group: "g", Member: "7"}, &firn.Retention{}) // one that is there may change
}

// What the store keeps about itself can be read, not written.
func TestTheStoresOwnTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.db")
	if _, err := firn.Open(path, firn.Options{Tables: []firn.TableSpec{{Name: "firn.mine"}}}); !errors.Is(err, firn.ErrTable) {
		t.Errorf("declaring a table of the store's own: got %v, want %v", err, firn.ErrTable)
	}
	l := newLab(t)
	own := l.Table("firn.retention")
	for name, write := range map[string]func(*firn.Tx) error{
		"put":    func(tx *firn.Tx) error { return tx.Put(own, []byte("x"), nil) },
		"json":   func(tx *firn.Tx) error { return tx.PutJSON(own, []byte("x"), []byte("{}")) },
		"delete": func(tx *firn.Tx) error { return tx.Delete(own, []byte("x"), nil) },
	} {
		if _, err := l.Update(t.Context(), write); !errors.Is(err, firn.ErrTable) {
			t.Errorf("%s: got %v, want %v", name, err, firn.ErrTable)
		}
	}
	for i, name := range []string{"notes", "rooms", "walls", "firn.retention", "firn.holds", "firn.authors"} {
		if got := int(inside.Of(l.Store).Table(name).ID); got != i+1 {
			t.Errorf("table %s: got number %d, want %d, the store's own behind the program's", name, got, i+1)
		}
	}
}

// TestChangedLooksAtItsGroup: what is forgotten in one group is no reason to
// refuse what changed in another, and what is left of any is found.
func TestChangedLooksAtItsGroup(t *testing.T) {
	l := newLab(t)
	a := l.write("rooms", "a1", "1", "2")
	b := l.write("rooms", "b1", "1", "2")
	l.set(firn.Scope{Group: "a"}, &firn.Retention{Off: true})
	if _, err := l.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := func(prefix string) (got string) {
		err := l.Changed(l.Table("rooms"), []byte(prefix), a[0], b[1], func(doc *firn.Document) error {
			got += doc.ID + "=" + string(doc.Value)
			return nil
		})
		if errors.Is(err, firn.ErrCompacted) {
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
	if n := len(inside.Of(l.Store).State.Records()); n != 3 {
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
	if n := len(inside.Of(l.Store).State.Records()); n != 1 {
		t.Errorf("records behind the horizon: got %d, want 1", n)
	}
}

// TestPoliciesHoldSinceTheyWereSet, also when the record is written again to
// forget something, and when the store was closed meanwhile.
func TestPoliciesHoldSinceTheyWereSet(t *testing.T) {
	l := newLab(t)
	ada, group := firn.Scope{Group: "notes", Member: "ada"}, firn.Scope{Group: "notes"}
	since := func(what string, scope firn.Scope, want firn.Timestamp) {
		t.Helper()
		for _, opened := range []string{"", ", opened again"} {
			if got := l.RetentionSince(scope); got != want {
				t.Errorf("%s%s: got %d, want %d", what, opened, got, want)
			}
			l.reopen()
		}
	}
	setAt := func(scope firn.Scope, r *firn.Retention) firn.Timestamp {
		l.now = l.now.Add(time.Minute)
		l.set(scope, r)
		return l.Bounds().Newest
	}
	since("never set", ada, 0)
	first := setAt(ada, &firn.Retention{Age: time.Hour})
	since("set", ada, first)
	setAt(ada, &firn.Retention{Age: time.Hour})
	since("set to the same again", ada, first)
	whole := setAt(firn.Scope{}, &firn.Retention{Versions: 3})
	since("of the store", firn.Scope{}, whole)
	since("of a scope between", group, 0)

	written := l.write("notes", "ada", "1", "2")
	if _, err := l.Forget(t.Context(), l.Table("notes"), []byte("ada"), written[1]); err != nil {
		t.Fatal(err)
	}
	since("after its history was forgotten", ada, first)
	since("changed", ada, setAt(ada, &firn.Retention{Off: true}))
	setAt(ada, nil)
	since("taken away", ada, 0)
}
