package proof

// The rule: what a copy of the past answers at a moment up to its own is what
// its source would have answered then, or a *CompactedError; and at its own
// moment it answers whatever its source can, but for scopes that were told to
// be left out.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/tuple"
)

// copiedPast is a copy of a past at a moment, which is being read.
type copiedPast struct {
	*past
	copy *firn.Store
	at   firn.Timestamp
	left []firn.Scope
}

// copyAt makes a copy in one of the ways, and reads it.
func (p *past) copyAt(ts firn.Timestamp) {
	p.Helper()
	if ts = max(ts, p.Bounds().Began); ts > p.newest() {
		return // nothing was written yet
	}
	way, lenient := p.rng.IntN(3), p.rng.IntN(3) > 0
	p.did("copy as of %d in way %d, lenient %t", ts, way, lenient)
	path := filepath.Join(p.TempDir(), "copy.db")
	c := copiedPast{past: p, at: ts}
	var leftOut func(firn.Scope, firn.Timestamp) error
	if lenient {
		leftOut = func(scope firn.Scope, from firn.Timestamp) error {
			if from <= ts {
				p.failf("copy as of %d: %+v is left out, and can be read from %d", ts, scope, from)
			}
			c.left = append(c.left, scope)
			return nil
		}
	}
	switch err := p.writeCopy(way, path, ts, leftOut); {
	case errors.Is(err, firn.ErrCompacted):
		p.refused++
		return
	case err != nil:
		p.failf("copy as of %d: %v", ts, err)
	}
	if problems, err := firn.Check(path, func(problem string) { p.Error(problem) }); err != nil || problems > 0 {
		p.failf("copy as of %d: %d problems, %v", ts, problems, err)
	}
	o := p.opts
	o.CompactByHand = true
	s, err := firn.Open(path, o)
	p.must(err)
	c.copy = s
	c.read(c.readable())
	if p.rng.IntN(2) == 0 { // what it forgets for itself is forgotten as anywhere
		_, err := s.Compact(p.Context())
		p.must(err)
		c.read(nil)
	}
	p.must(s.Close())
	if problems, err := firn.Check(path, func(problem string) { p.Error(problem) }); err != nil || problems > 0 {
		p.failf("copy as of %d, compacted: %d problems, %v", ts, problems, err)
	}
	p.must(os.Remove(path))
}

func (p *past) writeCopy(way int, path string, ts firn.Timestamp, leftOut func(firn.Scope, firn.Timestamp) error) error {
	switch way {
	case 0:
		return p.Backup(p.Context(), path, ts, nil, leftOut)
	case 1:
		return p.Restore(p.Context(), path, ts, nil, leftOut)
	}
	o := p.opts
	o.ReadOnly = true
	beside, err := firn.Open(p.path, o)
	if err != nil {
		return err
	}
	return errors.Join(beside.Restore(p.Context(), path, ts, nil, leftOut), beside.Close())
}

// read reads at the copy's moment, where what is readable must be, and at some
// before.
func (c *copiedPast) read(readable map[documentName]bool) {
	c.Helper()
	moments := []firn.Timestamp{c.at}
	for _, ts := range c.log {
		if ts < c.at && (c.at-ts < 2_000_000 || c.rng.IntN(4) == 0) {
			moments = append(moments, ts, ts-1)
		}
	}
	for _, ts := range moments[max(0, len(moments)-20):] {
		err := c.copy.At(ts, func(s *firn.Snapshot) error {
			c.documents(s, ts, readable)
			return nil
		})
		if err != nil && !errors.Is(err, firn.ErrCompacted) || ts == c.at && readable != nil && err != nil {
			c.failf("copy as of %d, at %d: %v", c.at, ts, err)
		}
	}
}

// readable are the documents that the source can read at the copy's moment, but
// for those that the copy leaves out.
func (c *copiedPast) readable() map[documentName]bool {
	readable := map[documentName]bool{}
	held := len(c.copy.Holds()) > 0 // one that was released since
	err := c.At(c.at, func(s *firn.Snapshot) error {
		c.each(func(name documentName, scope firn.Scope) {
			_, err := s.Get(c.Table(name.table), []byte(name.id))
			if errors.Is(err, firn.ErrNotFound) && c.policy(scope).Versions > 0 {
				return // what tells the source may be later than the copy
			}
			if c.policy(scope).Versions == 1 && held {
				return // as in known
			}
			left := slices.Contains(c.left, scope) || slices.Contains(c.left, firn.Scope{Group: scope.Group}) || slices.Contains(c.left, firn.Scope{})
			readable[name] = !errors.Is(err, firn.ErrCompacted) && !left
		})
		return nil
	})
	if err != nil && !errors.Is(err, firn.ErrCompacted) {
		c.failf("at %d: %v", c.at, err)
	}
	return readable
}

// documents reads one by one, and what is owned through its owner.
func (c *copiedPast) documents(s *firn.Snapshot, ts firn.Timestamp, readable map[documentName]bool) {
	c.each(func(name documentName, _ firn.Scope) {
		if name.table == "spots" && !c.shownAt(name.id, ts) {
			return
		}
		doc, err := s.Get(c.copy.Table(name.table), []byte(name.id))
		if errors.Is(err, firn.ErrCompacted) {
			if ts == c.at && readable[name] {
				c.failf("copy as of %d: %s: %v, and the source can read it; left out are %v", c.at, name, err, c.left)
			}
			return
		}
		want, ok := c.models[name.table].at(name.id, ts)
		switch {
		case !ok || want.deleted:
			if !errors.Is(err, firn.ErrNotFound) {
				c.failf("copy as of %d: %s at %d: got %v, %v, want nothing", c.at, name, ts, doc, err)
			}
		case err != nil || string(doc.Value) != want.value || doc.TS != want.ts:
			c.failf("copy as of %d: %s at %d: got %v, %v, want %v; left out are %v", c.at, name, ts, doc, err, want, c.left)
		case name.table == "owners":
			c.parts(s, want.value, ts)
		}
	})
}

// parts reads what an owner owns.
func (c *copiedPast) parts(s *firn.Snapshot, uid string, ts firn.Timestamp) {
	prefix := tuple.AppendBytes(nil, []byte(uid))
	var got []string
	for item, err := range s.Scan(firn.Range{Index: c.copy.Table("parts").ByID(), Prefix: prefix}) {
		if err != nil {
			c.failf("copy as of %d: parts of %s at %d: %v", c.at, uid, ts, err)
		}
		got = append(got, item.Doc.ID)
	}
	if want := c.models["parts"].live(string(prefix), ts); !slices.Equal(got, want) {
		c.failf("copy as of %d: parts of %s at %d: got %q, want %q", c.at, uid, ts, got, want)
	}
}

// shownAt says whether a spot was in a space that a label showed.
func (c *copiedPast) shownAt(id string, ts firn.Timestamp) bool {
	return slices.ContainsFunc(pastIDs["labels"], func(label string) bool {
		space := c.owned("labels", label, ts)
		return space != "" && strings.HasPrefix(id, string(tuple.AppendBytes(nil, []byte(space))))
	})
}

// TestCopiesOfAStoreThatForgets has histories in which much is forgotten, and
// copies of them at random moments.
func TestCopiesOfAStoreThatForgets(t *testing.T) {
	seed := seed.Fixed(t, 1)
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprintf("always=%t", always), func(t *testing.T) {
			p := newPast(t, seed, firn.Options{TailEntries: 7})
			p.always = always
			for range race.Lighter(150, 60) {
				p.step()
				if n := p.rng.IntN(6); n == 0 {
					p.forget()
				} else if n == 1 {
					p.grow()
					p.copyAt(p.moment())
				}
			}
		})
	}
}
