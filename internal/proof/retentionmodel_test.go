package proof

// The rule: a read at a moment is either exactly what a map from documents to
// lists of versions says, or a *CompactedError; and that only where the
// policies allow it.
//
// A document may be refused at a moment before
//
//	unlimited  what was forgotten when it came by the policy
//	time d     now - d
//	off        the newest commit
//	count n    its n-th newest version; with others in a range, the newest commit
//
// or a moment that was pruned, or that its scope was told to forget; and, as
// long as something is held, nothing of that grows past what is held. It must
// be refused before Store.Oldest of its scope, and, where its policy counts,
// before its n-th newest version.

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// pastTables are tables of all kinds that compaction tells apart. An owner's
// value names the parts that it owns; a label's the space in which it shows
// spots, which have scopes of their own, whatever the space.
func pastTables() []firn.TableSpec {
	letter := func(id string) firn.Scope {
		if id == "" {
			return firn.Scope{}
		}
		return firn.Scope{Group: id[:1], Member: id[1:]}
	}
	owns := func(table string) func(string, []byte, func(string, []byte)) {
		return func(_ string, value []byte, own func(string, []byte)) {
			if value != nil {
				own(table, tuple.AppendBytes(nil, value))
			}
		}
	}
	return []firn.TableSpec{
		{Name: "notes", Indexes: []firn.IndexSpec{{Name: "color", Prefix: 1, Keys: colorKeys}}},
		{Name: "rooms", Scope: letter},
		{Name: "owners", Owns: owns("parts")},
		{Name: "parts", Prefix: 1, Counted: true, Owned: true, Indexes: []firn.IndexSpec{{Name: "color", Prefix: 2, Keys: partKeys}}},
		{Name: "labels", Shared: true, Owns: owns("spots")},
		{Name: "spots", Prefix: 1, Counted: true, Owned: true, Scope: spotScope},
	}
}

// partKeys indexes the parts of each owner by their color: (range, color, id).
func partKeys(id string, value []byte, add func([]byte)) {
	n, whole := tuple.PrefixLen(id, 1)
	if color, _, ok := bytes.Cut(value, []byte(":")); ok && whole {
		add(append(tuple.AppendBytes([]byte(id[:n]), color), id...))
	}
}

// spotScope is that of (space, name): the group is the name's first letter.
func spotScope(id string) firn.Scope {
	_, name, err := tuple.TakeString(id)
	if err != nil || name == "" {
		return firn.Scope{}
	}
	return firn.Scope{Group: name[:1], Member: name[1:]}
}

// pastIDs are the documents whose ids do not change. Parts and spots come and
// go with their ranges.
var pastIDs = map[string][]string{
	"notes": {"n0", "n1", "n2", "n3"}, "rooms": {"a1", "a2", "b1", "b2"}, "owners": {"o0", "o1", "o2", "o3"}, "labels": {"l0", "l1"},
}

var (
	spotNames = []string{"a1", "a2", "b1", "c1"}

	pastScopes = []firn.Scope{
		{}, {Group: "notes"}, {Group: "notes", Member: "n1"}, {Group: "notes", Member: "n2"}, {Group: "a"}, {Group: "a", Member: "1"}, {Group: "b"}, {Group: "b", Member: "1"},
		{Group: "owners"}, {Group: "owners", Member: "o0"}, {Group: "owners", Member: "o1"},
	}
	pastPolicies = []*firn.Retention{
		nil, nil, {}, {Off: true}, {Age: 2 * time.Second}, {Age: 20 * time.Second}, {Versions: 1}, {Versions: 3},
	}
)

// documentName names a document of the model.
type documentName struct{ table, id string }

func (d documentName) String() string { return fmt.Sprintf("%s %q", d.table, d.id) }

// past drives a store that forgets, and the model, which does not.
type past struct {
	*testing.T
	*firn.Store
	rng    *rand.Rand
	path   string
	opts   firn.Options
	now    time.Time
	always bool // compact after every commit

	models   map[string]model // by table
	log      []firn.Timestamp
	uid      int
	policies map[firn.Scope]firn.Retention
	holds    map[string]firn.Hold

	// What may be forgotten: of a scope, of a document by its versions, and of
	// a range of a group because a policy in it counts.
	scopes    map[firn.Scope]firn.Timestamp
	documents map[documentName]firn.Timestamp
	counted   map[string]firn.Timestamp

	before map[firn.Scope]firn.Timestamp // Oldest of the scopes before the snapshot at hand was made

	exact, refused, versions int      // reads
	trace                    []string // what was done to the store, but for writes
}

func TestStoreThatForgetsAgreesWithModel(t *testing.T) {
	seed := seed.Fixed(t, 1)
	for _, memory := range []int64{0, -1, 6 << 10} {
		for _, tail := range []int{0, 1, 7} {
			if (race.Enabled || testing.Short()) && tail != 1 {
				continue // the others take as long again, six times
			}
			for _, always := range []bool{false, true} {
				t.Run(fmt.Sprintf("memory=%d/tail=%d/always=%t", memory, tail, always), func(t *testing.T) {
					p := newPast(t, seed, firn.Options{Memory: memory, TailEntries: tail})
					p.always = always
					for range 400 {
						p.step()
					}
					p.finish()
				})
			}
		}
	}
}

func newPast(t *testing.T, seed seed.Value, o firn.Options) *past {
	p := &past{
		T: t, rng: seed.Rand(3), path: filepath.Join(t.TempDir(), "past.db"), now: time.UnixMicro(1_000_000_000),
		models: map[string]model{}, policies: map[firn.Scope]firn.Retention{}, holds: map[string]firn.Hold{},
		scopes: map[firn.Scope]firn.Timestamp{}, documents: map[documentName]firn.Timestamp{}, counted: map[string]firn.Timestamp{},
	}
	for _, spec := range pastTables() {
		p.models[spec.Name] = model{}
	}
	o.Tables, o.Durability, o.Now = pastTables(), firn.None, func() time.Time { return p.now }
	p.opts = o
	p.reopen()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *past) reopen() {
	p.Helper()
	p.did("open")
	if p.Store != nil {
		p.must(p.Close())
	}
	p.opts.CompactByHand = true
	s, err := firn.Open(p.path, p.opts)
	p.must(err)
	p.Store = s
}

func (p *past) did(format string, args ...any) {
	p.trace = append(p.trace, fmt.Sprintf("%d: ", p.now.UnixMicro())+fmt.Sprintf(format, args...))
}

func (p *past) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *past) step() {
	p.grow()
	switch n := p.rng.IntN(100); {
	case n < 45:
		p.write()
		if p.always {
			p.compact()
		}
	case n < 53:
		p.setPolicy()
	case n < 57:
		p.hold()
	case n < 60:
		p.prune()
	case n < 63:
		p.forget()
	case n < 67:
		p.compact()
	case n < 69:
		p.reopen()
	case n < 75:
		p.now = p.now.Add(time.Duration(p.rng.IntN(3000)) * time.Millisecond)
	case n < 95:
		p.grow()
		p.checkAt(p.moment())
	default:
		p.checkPresent()
	}
}

// newest is the newest commit: one that sets a policy or a hold is one, too.
func (p *past) newest() firn.Timestamp { return p.Bounds().Newest }

// held is the oldest moment that is held now.
func (p *past) held() firn.Timestamp {
	held := schema.MaxTimestamp
	for _, h := range p.holds {
		if h.Until.After(p.now) {
			held = min(held, h.At)
		}
	}
	return held
}

// policy is the one that holds for a scope.
func (p *past) policy(s firn.Scope) firn.Retention {
	for _, tier := range []firn.Scope{s, {Group: s.Group}, {}} {
		if r, ok := p.policies[tier]; ok {
			return r
		}
	}
	return firn.Retention{}
}

// each calls fn for every document that there ever was, and those that there
// may be, with their scopes; not for those that follow others.
func (p *past) each(fn func(name documentName, scope firn.Scope)) {
	for table, ids := range pastIDs {
		for _, id := range ids {
			if t := inside.Of(p.Store).Table(table); !t.Shared && (!t.Owned || t.Scope != nil) {
				fn(documentName{table, id}, t.ScopeOf(id))
			}
		}
	}
	for id := range p.models["spots"] {
		fn(documentName{"spots", id}, spotScope(id))
	}
}

// grow says how much may be forgotten by now.
func (p *past) grow() {
	held := p.held()
	reach := func(to firn.Timestamp) firn.Timestamp { return min(to, held) }
	raise := func(scope firn.Scope) {
		switch r := p.policy(scope); {
		case r.Off:
			p.scopes[scope] = max(p.scopes[scope], reach(p.newest()))
		case r.Age > 0:
			p.scopes[scope] = max(p.scopes[scope], reach(schema.TimestampOf(p.now.Add(-r.Age))))
		case r.Versions > 0:
			p.counted[scope.Group] = max(p.counted[scope.Group], reach(p.newest()), p.Oldest(scope))
		}
	}
	for _, scope := range pastScopes {
		raise(scope)
	}
	p.each(func(name documentName, scope firn.Scope) {
		raise(scope)
		if nth := p.nth(name, p.policy(scope).Versions); nth > 0 {
			p.documents[name] = max(p.documents[name], reach(nth))
		}
	})
}

// nth is the n-th newest version of a document, 0 if there is none.
func (p *past) nth(name documentName, n int) firn.Timestamp {
	versions := p.models[name.table][name.id]
	if n == 0 || len(versions) < n {
		return 0
	}
	return versions[len(versions)-n].ts
}

// allowed is the moment from which on a document must be readable.
func (p *past) allowed(name documentName, scope firn.Scope) firn.Timestamp {
	return max(p.scopes[scope], p.documents[name])
}

// allowedRange is that of all documents of a group; "": of all groups.
func (p *past) allowedRange(group string) (from firn.Timestamp) {
	for scope, ts := range p.scopes {
		if group == "" || scope.Group == group || scope.Group == "" {
			from = max(from, ts)
		}
	}
	for counted, ts := range p.counted {
		if group == "" || counted == group || counted == "" {
			from = max(from, ts)
		}
	}
	return from
}

// forgetAll says that everything may be forgotten up to ts.
func (p *past) forgetAll(ts firn.Timestamp) {
	for _, scope := range pastScopes {
		p.scopes[scope] = max(p.scopes[scope], ts)
	}
	p.each(func(_ documentName, scope firn.Scope) { p.scopes[scope] = max(p.scopes[scope], ts) })
	for _, id := range spotNames { // in spaces to come
		scope := firn.Scope{Group: id[:1], Member: id[1:]}
		p.scopes[scope] = max(p.scopes[scope], ts)
	}
}

// moment is one that matters: of a commit, of a horizon, or next to it.
func (p *past) moment() firn.Timestamp {
	ts := p.Bounds().Oldest
	switch n := p.rng.IntN(4); {
	case n == 0:
		ts = p.Oldest(pastScopes[p.rng.IntN(len(pastScopes))])
	case n < 3 && len(p.log) > 0:
		ts = p.log[max(0, len(p.log)-1-p.rng.IntN(60))]
	case len(p.log) > 0:
		ts = p.log[p.rng.IntN(len(p.log))]
	}
	return ts - firn.Timestamp(p.rng.IntN(2)*p.rng.IntN(2))
}

func (p *past) compact() {
	p.Helper()
	if !p.always {
		p.did("compact")
	}
	_, err := p.Compact(p.Context())
	p.must(err)
}

func (p *past) setPolicy() {
	p.Helper()
	scope, policy := pastScopes[p.rng.IntN(len(pastScopes))], pastPolicies[p.rng.IntN(len(pastPolicies))]
	// What a policy that counts leaves is known of each document as long as it
	// holds; another one begins where all that is left can be read.
	// And one that has passed what is held, as the policy of others, does not
	// come back for those who get it.
	all := map[firn.Scope]bool{}
	p.each(func(_ documentName, of firn.Scope) { all[of] = true })
	for _, of := range pastScopes {
		all[of] = true
	}
	counted := map[firn.Scope]bool{}
	for of := range all {
		counted[of] = p.policy(of).Versions > 0
	}
	p.did("%+v: %v", scope, policy)
	p.must(p.SetRetention(p.Context(), scope, policy))
	if delete(p.policies, scope); policy != nil {
		p.policies[scope] = *policy
	}
	for of := range all {
		if of != scope && (scope.Member != "" || scope.Group != "" && scope.Group != of.Group) {
			continue
		}
		p.scopes[of] = max(p.scopes[of], p.inherited(of))
		if counted[of] || p.held() != schema.MaxTimestamp && p.policy(of).Versions == 0 {
			p.scopes[of] = max(p.scopes[of], p.Oldest(of))
		}
	}
	p.grow()
}

// inherited is what may be forgotten of the tiers that a scope follows.
func (p *past) inherited(s firn.Scope) (to firn.Timestamp) {
	for _, tier := range []firn.Scope{s, {Group: s.Group}, {}} {
		if to = max(to, p.scopes[tier]); p.hasPolicy(tier) {
			break
		}
	}
	return to
}

func (p *past) hasPolicy(s firn.Scope) bool {
	_, ok := p.policies[s]
	return ok
}

func (p *past) hold() {
	p.Helper()
	if len(p.holds) > 0 && p.rng.IntN(2) == 0 {
		name := slices.Sorted(maps.Keys(p.holds))[0]
		p.did("release %s", name)
		_, err := p.Release(p.Context(), name)
		p.must(err)
		delete(p.holds, name)
		return
	}
	h := firn.Hold{Name: fmt.Sprint("h", p.rng.IntN(3)), At: p.Bounds().Newest, Until: p.now.Add(time.Duration(1+p.rng.IntN(5)) * time.Second)}
	if p.rng.IntN(2) == 0 {
		h.At = p.moment()
	}
	p.did("hold %+v", h)
	err := p.Store.Hold(p.Context(), h)
	if errors.Is(err, firn.ErrCompacted) {
		return
	}
	p.must(err)
	p.holds[h.Name] = h
}

func (p *past) prune() {
	p.Helper()
	to := p.moment()
	p.forgetAll(min(to, p.held()))
	p.did("prune %d", to)
	_, err := p.Prune(p.Context(), to)
	p.must(err)
}

func (p *past) forget() {
	p.Helper()
	table := []string{"notes", "rooms", "owners"}[p.rng.IntN(3)]
	id := pastIDs[table][p.rng.IntN(4)]
	scope, to := inside.Of(p.Store).Table(table).ScopeOf(id), p.moment()
	p.scopes[scope] = max(p.scopes[scope], min(to, p.held()))
	p.did("forget %s %s %d", table, id, to)
	_, err := p.Forget(p.Context(), p.Table(table), []byte(id), to)
	p.must(err)
}

// change is one of a transaction; without a value, a deletion.
type pastChange struct {
	documentName
	value string
}

// write commits changes of one to three documents, and of what they own.
func (p *past) write() {
	p.Helper()
	p.now = p.now.Add(time.Duration(p.rng.IntN(300)) * time.Millisecond)
	var changes []pastChange
	for range 1 + p.rng.IntN(3) {
		switch p.rng.IntN(4) {
		case 0:
			changes = append(changes, p.newOwned("owners", "parts", p.partNames())...)
		case 1:
			changes = append(changes, p.newOwned("labels", "spots", p.spotNames())...)
		default:
			table := []string{"notes", "rooms"}[p.rng.IntN(2)]
			changes = append(changes, pastChange{documentName{table, pastIDs[table][p.rng.IntN(4)]}, p.value()})
		}
	}
	once := map[documentName]string{}
	var order []documentName
	for _, c := range changes {
		if _, again := once[c.documentName]; !again {
			order = append(order, c.documentName)
			once[c.documentName] = c.value
		} else if c.table == "notes" || c.table == "rooms" {
			once[c.documentName] = c.value
		} else {
			return // two of a kind may contradict each other
		}
	}
	ts, err := p.Update(p.Context(), func(tx *firn.Tx) error {
		for _, name := range order {
			t, err := p.Table(name.table), error(nil)
			if value := once[name]; value == "" {
				err = tx.Delete(t, []byte(name.id), []byte("gone"))
			} else {
				err = tx.Put(t, []byte(name.id), []byte(value))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	p.must(err)
	if ts == 0 {
		return
	}
	for _, name := range order {
		m, v := p.models[name.table], modelVersion{ts: ts, value: once[name]}
		if v.value == "" {
			if old, ok := m.at(name.id, ts); !ok || old.deleted {
				continue
			}
			v = modelVersion{ts: ts, deleted: true, value: "gone"}
		}
		m[name.id] = append(m[name.id], v)
	}
	p.log = append(p.log, ts)
	p.grow()
}

func (p *past) value() string {
	if p.rng.IntN(4) == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", colors[p.rng.IntN(len(colors))], p.rng.IntN(1000))
}

func (p *past) partNames() []string { return []string{"1", "2", "3"}[p.rng.IntN(3):] }

func (p *past) spotNames() []string { return spotNames[p.rng.IntN(len(spotNames)):] }

// owned is the range that an owner has at a moment, "" for none.
func (p *past) owned(table, id string, ts firn.Timestamp) string {
	if v, ok := p.models[table].at(id, ts); ok && !v.deleted {
		return v.value
	}
	return ""
}

// newOwned changes what an owner owns: some of it, or the whole range for
// another or none. Ids of what is owned are (range, name).
func (p *past) newOwned(owners, table string, names []string) []pastChange {
	ids := pastIDs[owners]
	name := documentName{owners, ids[p.rng.IntN(len(ids))]}
	uid := p.owned(owners, name.id, schema.MaxTimestamp)
	if uid != "" && p.rng.IntN(8) == 0 {
		return []pastChange{{name, ""}}
	}
	if uid == "" || p.rng.IntN(8) == 0 {
		p.uid++
		uid = fmt.Sprint("u", p.uid)
	}
	changes := []pastChange{{name, uid}}
	for _, n := range names {
		id := string(tuple.AppendBytes(nil, []byte(uid))) + n
		changes = append(changes, pastChange{documentName{table, id}, p.value()})
	}
	return changes
}
