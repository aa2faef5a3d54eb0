package proof

// What TestStoreThatForgetsAgreesWithModel reads, and what it says to it.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// failf ends the test from inside a transaction too.
func (p *past) failf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...) + fmt.Sprint("\n", p.scopes, p.documents, p.counted, "\n") + strings.Join(p.trace[max(0, len(p.trace)-100):], "\n"))
}

// checkPresent: the present is never forgotten.
func (p *past) checkPresent() {
	p.Helper()
	p.must(p.View(func(s *firn.Snapshot) error {
		p.checkDocuments(s, schema.MaxTimestamp)
		return nil
	}))
}

// checkAt reads everything at a moment.
func (p *past) checkAt(ts firn.Timestamp) {
	p.Helper()
	all := p.newest()
	p.each(func(name documentName, scope firn.Scope) { all = min(all, p.allowed(name, scope)) })
	p.before = map[firn.Scope]firn.Timestamp{}
	p.each(func(_ documentName, scope firn.Scope) { p.before[scope] = p.Oldest(scope) })
	read := func(s *firn.Snapshot) error {
		p.checkDocuments(s, ts)
		return nil
	}
	var err error
	if p.rng.IntN(3) == 0 {
		_, err = p.Update(p.Context(), func(tx *firn.Tx) error { return tx.At(ts, read) })
	} else {
		err = p.At(ts, read)
	}
	var compacted *firn.CompactedError
	switch {
	case errors.As(err, &compacted):
		p.refused++
		if created := p.Bounds().Oldest; ts >= max(all, created) || compacted.Asked != ts || compacted.Oldest <= ts {
			p.Fatalf("at %d: got %v, must be readable from %d", ts, err, all)
		}
	case err != nil:
		p.Fatalf("at %d: got %v", ts, err)
	}
}

// checkDocuments reads one by one, in ranges, and what is owned through its
// owner.
func (p *past) checkDocuments(s *firn.Snapshot, ts firn.Timestamp) {
	p.each(func(name documentName, scope firn.Scope) {
		if name.table == "spots" {
			return // only those of a space that is shown
		}
		if p.checkDocument(s, name, scope, ts) && name.table == "owners" {
			p.checkOwned(s, name, "parts", ts)
		}
	})
	for _, id := range pastIDs["labels"] {
		name := documentName{"labels", id}
		p.compare(s, name, ts)
		p.checkOwned(s, name, "spots", ts)
	}
	p.checkRange(s, "notes", firn.Range{Index: p.Table("notes").ByID()}, "", "notes", ts)
	p.checkRange(s, "rooms", firn.Range{Index: p.Table("rooms").ByID()}, "", "", ts)
	for _, group := range []string{"a", "b"} {
		p.checkRange(s, "rooms", firn.Range{Index: p.Table("rooms").ByID(), Prefix: []byte(group)}, group, group, ts)
	}
}

// checkDocument says whether the document could be read.
func (p *past) checkDocument(s *firn.Snapshot, name documentName, scope firn.Scope, ts firn.Timestamp) bool {
	oldest := p.before[scope]
	_, err := s.Last(p.Table(name.table), []byte(name.id))
	var compacted *firn.CompactedError
	if errors.As(err, &compacted) {
		p.refused++
		from := p.known(name, scope)
		if ts >= from || compacted.Asked != ts || compacted.Oldest <= ts || compacted.Oldest > from {
			p.failf("%s at %d: got %v, must be readable from %d; policy %s, versions %v", name, ts, err, from, p.policy(scope), p.models[name.table][name.id])
		}
		return false
	}
	policy := p.policy(scope)
	if policy.Versions > 0 {
		oldest = 0
		if p.held() == schema.MaxTimestamp {
			oldest = p.nth(name, policy.Versions)
		}
	}
	if ts < oldest {
		p.failf("%s at %d: got %v, want it refused before %d; policy %s", name, ts, err, oldest, policy)
	}
	from := p.known(name, scope)
	if _, err := s.Get(p.Table(name.table), []byte(name.id)); errors.Is(err, firn.ErrCompacted) && ts < from {
		return false // since it was asked for
	}
	p.compare(s, name, ts)
	p.checkVersions(s, name, from, ts)
	return true
}

// known is from when on a document must be readable. A policy that counts
// versions goes by those that are left: without a live one, or with later ones
// than what is held, by the scope; and those behind a tombstone that is gone
// are all that it knows of.
func (p *past) known(name documentName, scope firn.Scope) firn.Timestamp {
	from := p.allowed(name, scope)
	counts := p.policy(scope).Versions
	if counts == 0 {
		return from
	}
	versions := p.models[name.table][name.id]
	if n := len(versions); n == 0 || versions[n-1].deleted || name.table == "spots" && !p.shown(name.id) || counts == 1 && p.held() != schema.MaxTimestamp {
		from = max(from, p.Oldest(scope))
	}
	for i := range versions {
		if i > 0 && versions[i-1].deleted && versions[i-1].ts <= from {
			from = max(from, versions[i].ts)
		}
	}
	return from
}

// shown says whether a spot is in a space that a label shows now.
func (p *past) shown(id string) bool {
	return slices.ContainsFunc(pastIDs["labels"], func(label string) bool {
		space := p.owned("labels", label, schema.MaxTimestamp)
		return space != "" && strings.HasPrefix(id, string(tuple.AppendBytes(nil, []byte(space))))
	})
}

// compare holds a read of a document against the model.
func (p *past) compare(s *firn.Snapshot, name documentName, ts firn.Timestamp) {
	p.exact++
	doc, err := s.Get(p.Table(name.table), []byte(name.id))
	want, ok := p.models[name.table].at(name.id, ts)
	switch {
	case !ok || want.deleted:
		if !errors.Is(err, firn.ErrNotFound) {
			p.failf("%s at %d: got %v, %v, want nothing", name, ts, doc, err)
		}
	case err != nil || string(doc.Value) != want.value || doc.TS != want.ts:
		p.failf("%s at %d: got %v, %v, want %v", name, ts, doc, err, want)
	}
}

// checkVersions: the versions are the newest of all, without a gap, down to
// the one that could be seen when the document became readable, unless that is
// a tombstone.
func (p *past) checkVersions(s *firn.Snapshot, name documentName, from, ts firn.Timestamp) {
	p.versions++
	var got []modelVersion
	for doc, err := range s.Versions(p.Table(name.table), []byte(name.id), firn.VersionRange{}) {
		if errors.Is(err, firn.ErrCompacted) && ts < from {
			return // since the document was read
		}
		if err != nil {
			p.failf("versions of %s at %d: %v", name, ts, err)
		}
		got = append(got, modelVersion{doc.TS, doc.Deleted, string(doc.Value)})
	}
	all := p.models[name.table][name.id]
	all = all[:len(all)-countAfter(all, ts)]
	must := countAfter(all, from)
	if first := len(all) - must - 1; first >= 0 && !all[first].deleted {
		must++
	}
	if len(got) < must || len(got) > len(all) || !slices.Equal(got, all[len(all)-len(got):]) {
		p.failf("versions of %s at %d: got %v, want the last %d or more of %v", name, ts, got, must, all)
	}
}

// countAfter is how many versions are newer than ts.
func countAfter(versions []modelVersion, ts firn.Timestamp) (n int) {
	for n < len(versions) && versions[len(versions)-1-n].ts > ts {
		n++
	}
	return n
}

// checkOwned reads the range that an owner owns at a moment at which it can be
// read.
func (p *past) checkOwned(s *firn.Snapshot, owner documentName, table string, ts firn.Timestamp) {
	uid := p.owned(owner.table, owner.id, ts)
	if uid == "" {
		return
	}
	t, prefix := p.Table(table), tuple.AppendBytes(nil, []byte(uid))
	if table == "spots" { // they have scopes of their own
		for _, name := range spotNames {
			id := string(prefix) + name
			reached := !errors.Is(first(s.Scan(firn.Range{Index: t.ByID(), Prefix: prefix, Limit: 1})), firn.ErrCompacted)
			if reached || p.rng.IntN(2) == 0 {
				p.checkDocument(s, documentName{table, id}, spotScope(id), ts)
			}
		}
		return
	}
	p.checkRange(s, table, firn.Range{Index: t.ByID(), Prefix: prefix}, string(prefix), "none", ts)
	p.checkOwnedColor(s, t, string(prefix), ts)
	n, err := s.Count(t, prefix)
	if want := len(p.models[table].live(string(prefix), ts)); err != nil || n != want {
		p.failf("%s of %s at %d: got %d, %v, want %d", table, owner, ts, n, err, want)
	}
}

func (p *past) checkOwnedColor(s *firn.Snapshot, t *firn.Table, prefix string, ts firn.Timestamp) {
	color := colors[p.rng.IntN(len(colors))]
	m := p.models[t.Name()]
	var want, got []string
	for _, id := range m.live(prefix, ts) {
		if v, _ := m.at(id, ts); strings.HasPrefix(v.value, color+":") {
			want = append(want, id)
		}
	}
	for item, err := range s.Scan(firn.Range{Index: t.Index("color"), Prefix: tuple.AppendBytes([]byte(prefix), []byte(color))}) {
		if err != nil {
			p.failf("%s %s of %q at %d: %v", color, t.Name(), prefix, ts, err)
		}
		got = append(got, item.Doc.ID)
	}
	if !slices.Equal(got, want) {
		p.failf("%s %s of %q at %d: got %q, want %q", color, t.Name(), prefix, ts, got, want)
	}
}

// checkRange reads a range of a group, in which scopes may be forgotten.
func (p *past) checkRange(s *firn.Snapshot, table string, r firn.Range, prefix, group string, ts firn.Timestamp) {
	var got []string
	for item, err := range s.Scan(r) {
		if errors.Is(err, firn.ErrCompacted) {
			p.refused++
			if from := p.allowedRange(group); ts >= from || group == "none" {
				p.failf("range %q of %s at %d: got %v, must be readable from %d", prefix, table, ts, err, from)
			}
			return
		}
		if err != nil {
			p.failf("range %q of %s at %d: %v", prefix, table, ts, err)
		}
		got = append(got, item.Doc.ID+"="+string(item.Doc.Value))
	}
	p.exact++
	var want []string
	for _, id := range p.models[table].live(prefix, ts) {
		v, _ := p.models[table].at(id, ts)
		want = append(want, id+"="+v.value)
	}
	if !slices.Equal(got, want) {
		p.failf("range %q of %s at %d: got %q, want %q; policies %v", prefix, table, ts, got, want, p.policies)
	}
}

// finish reads everything once more, from a file that is opened anew, and
// looks at the file.
func (p *past) finish() {
	p.Helper()
	p.compact()
	p.grow()
	for range 2 {
		for _, ts := range p.log[max(0, len(p.log)-80):] {
			p.checkAt(ts)
		}
		p.checkPresent()
		p.reopen()
	}
	p.Logf("%d commits, %d exact reads, %d refused, %d walks of versions, %d deleted", len(p.log), p.exact, p.refused, p.versions, inside.Of(p.Store).Compactor.Stats().Rows)
	if len(p.log) < 80 || p.exact < 1000 || p.refused < 300 || p.versions < 500 {
		p.Errorf("%d commits, %d exact reads, %d refused, %d walks of versions: too little to say anything", len(p.log), p.exact, p.refused, p.versions)
	}
	problems, err := firn.Check(p.path, func(problem string) { p.Error(problem) })
	if err != nil || problems > 0 {
		p.Errorf("check: got %d problems, %v", problems, err)
	}
}
