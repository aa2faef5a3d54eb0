package retention

// The rule: what a policy keeps can be read exactly as before, and everything
// else is gone from the log and from the indexes.

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

const (
	things = schema.TableID(1) // plain documents, indexed by the first letter of their value
	owners = schema.TableID(2) // own the parts whose ids begin with their value
	parts  = schema.TableID(3)
)

// rig is a store whose writer is the test.
type rig struct {
	*store
	tables  map[schema.TableID]*Table
	state   State
	now     schema.Timestamp
	newest  map[string]*schema.Row // by table and id
	log     []*schema.Row
	deriver index.Deriver
	held    schema.Timestamp
	bound   schema.Timestamp // 0: the newest commit
	uid     int
}

func newRig(t *testing.T) *rig {
	r := &rig{
		store: open(t, filepath.Join(t.TempDir(), "rig.db")), newest: map[string]*schema.Row{},
		now: 1_000_000_000, held: schema.MaxTimestamp,
	}
	first := func(id string, value []byte, add func([]byte)) {
		if len(value) > 0 {
			add(append(tuple.AppendBytes(nil, value[:1]), id...))
		}
	}
	r.tables = map[schema.TableID]*Table{
		things: {Table: &index.Table{ID: things, Name: "things", Indexes: []index.Spec{{Name: "first", Keys: first}}}},
		owners: {
			Table: &index.Table{ID: owners, Name: "owners"},
			Owns: func(_ string, value []byte, own func(schema.TableID, string)) {
				if len(value) > 0 {
					own(parts, string(tuple.AppendBytes(nil, value)))
				}
			},
		},
		parts: {Table: &index.Table{ID: parts, Name: "parts", Prefix: 1, Indexes: []index.Spec{{Name: "first", Keys: first}}}, Owned: true},
	}
	session, err := r.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if err := r.state.Load(session, 100, Policy{}); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *rig) compactor() *Compactor {
	return NewCompactor(CompactorOptions{
		Engine: r.SQLite, Writer: r.store, State: &r.state,
		Table:  func(id schema.TableID) *Table { return r.tables[id] },
		Now:    func() time.Time { return r.now.Time() },
		Logger: slog.New(slog.DiscardHandler),
		Held:   func(time.Time) schema.Timestamp { return r.held },
		Bound: func() schema.Timestamp {
			if r.bound != 0 {
				return r.bound
			}
			return r.now
		},
		Commits: func() int64 { return 0 },
		Passing: func(schema.Timestamp) {},
	})
}

// write is one document of a commit; a nil value ends it.
type write struct {
	table schema.TableID
	id    string
	value []byte
}

// commit appends rows and their entries, d after the commit before.
func (r *rig) commit(d time.Duration, writes ...write) schema.Timestamp {
	r.t.Helper()
	r.now += schema.Timestamp(d.Microseconds())
	var rows []*schema.Row
	var entries []schema.Entry
	for _, w := range writes {
		key := fmt.Sprint(w.table, w.id)
		old := r.newest[key]
		if w.value == nil && (old == nil || old.Deleted) {
			continue
		}
		row := &schema.Row{TS: r.now, Table: w.table, ID: w.id, Value: w.value, Deleted: w.value == nil}
		if old != nil {
			row.Prev = old.TS
		}
		rows = append(rows, row)
		entries = r.deriver.Derive(entries, r.tables[w.table].Table, old, row)
		r.newest[key] = row
	}
	slices.SortFunc(entries, func(a, b schema.Entry) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Key, b.Key))
	})
	if err := r.Exec(r.t.Context(), func(a schema.Appender) error {
		return errors.Join(a.Append(rows), a.Merge(entries))
	}); err != nil {
		r.t.Fatal(err)
	}
	r.log = append(r.log, rows...)
	return r.now
}

func partID(uid string, n int) string {
	return string(tuple.AppendInt(tuple.AppendBytes(nil, []byte(uid)), int64(n)))
}

// rows are the versions that the log has, as text.
func (r *rig) rows() []string {
	r.t.Helper()
	session, err := r.Session()
	if err != nil {
		r.t.Fatal(err)
	}
	defer session.Close()
	rows, err := session.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	if err != nil {
		r.t.Fatal(err)
	}
	var all []string
	for _, row := range rows {
		all = append(all, describe(row))
	}
	slices.Sort(all)
	return all
}

func describe(row *schema.Row) string {
	return fmt.Sprintf("%d %q at %d deleted %t %q", row.Table, row.ID, row.TS, row.Deleted, row.Value)
}

// checkIndexes holds the indexes against the log: by id an entry for each row;
// in others no entry leads to a document that is not there.
func (r *rig) checkIndexes() {
	r.t.Helper()
	if byID, rows := r.indexed(), len(r.rows()); byID != rows {
		r.t.Errorf("entries by id: got %d, want %d, as the log has rows", byID, rows)
	}
}

// indexed is how many entries by id there are; each entry must lead to a
// document.
func (r *rig) indexed() (byID int) {
	r.t.Helper()
	session, err := r.Session()
	if err != nil {
		r.t.Fatal(err)
	}
	defer session.Close()
	entries, err := session.Entries(nil, schema.Entry{}, 1<<20)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, e := range entries {
		row, err := session.Get(e.Index.Table(), e.Document(), schema.MaxTimestamp)
		if err != nil {
			r.t.Fatal(err)
		}
		if row == nil {
			r.t.Errorf("index %d: entry of %q at %d leads to nothing", e.Index, e.Key, e.TS)
		}
		if e.Index.Number() == 0 {
			byID++
		}
	}
	return byID
}

// scope is whose history a row of the rig is.
func (r *rig) scope(row *schema.Row) Scope {
	if row.Table != parts {
		return r.tables[row.Table].scope(row.ID)
	}
	uid, _, err := tuple.TakeString(row.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	owner, _, _ := strings.Cut(uid, "/")
	return Scope{Group: "owners", Member: owner}
}

// horizon is where a scope's is: that of its policy, or its document's n-th
// newest version.
func (r *rig) horizon(s Scope) schema.Timestamp {
	p, _ := r.state.Effective(s)
	if p.Versions == 0 {
		return r.state.Progress(p).Horizon
	}
	n := p.Versions
	for _, row := range slices.Backward(r.log) {
		if row.Table != parts && r.scope(row) == s {
			if n--; n == 0 {
				return row.TS
			}
		}
	}
	return 0
}

// kept is what must be left of the log.
func (r *rig) kept() []string {
	next := map[string]schema.Timestamp{}  // when the version at hand was replaced
	owned := map[string]schema.Timestamp{} // until when
	for _, row := range slices.Backward(r.log) {
		if row.Table != owners {
			continue
		}
		until, replaced := next[row.ID]
		if !replaced {
			until = schema.MaxTimestamp
		}
		owned[string(row.Value)] = max(owned[string(row.Value)], until)
		next[row.ID] = row.TS
	}
	clear(next)
	var left []string
	for _, row := range slices.Backward(r.log) {
		h := r.horizon(r.scope(row))
		key := fmt.Sprint(row.Table, row.ID)
		replaced, was := next[key]
		next[key] = row.TS
		p, _ := r.state.Effective(r.scope(row))
		stays := row.Table != parts && p.Versions > 1 && row.TS == h // the oldest version that is counted
		gone := was && replaced <= h || row.Deleted && row.TS <= h && !stays
		if row.Table == parts {
			uid, _, _ := tuple.TakeString(row.ID)
			gone = gone || owned[uid] <= h
		}
		if !gone {
			left = append(left, describe(row))
		}
	}
	slices.Sort(left)
	return left
}

func (r *rig) step(rng *rand.Rand) {
	value := func() []byte {
		if rng.IntN(5) == 0 {
			return nil
		}
		return []byte(string(rune('a'+rng.IntN(3))) + fmt.Sprint(rng.IntN(100)))
	}
	d := time.Duration(1+rng.IntN(2000)) * time.Millisecond
	if rng.IntN(3) == 0 {
		r.commit(d, write{things, fmt.Sprint("t", rng.IntN(4)), value()}, write{things, "s", value()})
		return
	}
	id := fmt.Sprint("o", rng.IntN(3))
	old := r.newest[fmt.Sprint(owners, id)]
	var uid string
	if old == nil || old.Deleted || rng.IntN(4) == 0 {
		r.uid++
		uid = fmt.Sprint(id, "/", r.uid)
	} else {
		uid = string(old.Value)
	}
	if rng.IntN(6) == 0 {
		r.commit(d, write{owners, id, nil})
		return
	}
	writes := []write{{owners, id, []byte(uid)}}
	for n := range rng.IntN(4) {
		writes = append(writes, write{parts, partID(uid, n), value()})
	}
	r.commit(d, writes...)
}

func TestCompactionLeavesExactlyWhatPoliciesKeep(t *testing.T) {
	seed := seed.Fresh(t)
	for n := range uint64(20) {
		rng := seed.Rand(n)
		r := newRig(t)
		policies := []Policy{{}, {Off: true}, {Age: 10 * time.Second}, {Age: 40 * time.Second}, {Versions: 1}, {Versions: 3}}
		for _, scope := range []Scope{{}, {Group: "things"}, {"things", "t1"}, {Group: "owners"}, {"owners", "o1"}} {
			if (scope == Scope{}) || rng.IntN(2) == 0 {
				record := NewRecord(policies[rng.IntN(len(policies))], 0)
				r.state.Put(scope, &record)
			}
		}
		c := r.compactor()
		for range 6 {
			for range 15 {
				r.step(rng)
			}
			if _, err := c.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := r.kept()
			if got := r.rows(); !slices.Equal(got, want) {
				t.Fatalf("run %d: got\n%s\nwant\n%s", n, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			r.checkIndexes()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
