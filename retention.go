package firn

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// Retention says how much of the past is kept. The zero Retention keeps
// everything; at most one field is set.
//
//	type Retention struct {
//		Off      bool          // keep nothing: what is replaced is forgotten soon
//		Age      time.Duration // keep what was current within that time
//		Versions int           // keep so many versions of each document, the present one included
//	}
//
//	func (r Retention) Validate() error // of what no Retention may be
//	func (r Retention) String() string  // unlimited, off, time 24h0m0s or count 5
type Retention = retention.Policy

// Scope names whose history is meant: a member of a group; without Member, the
// whole group; the zero Scope is the store. By default a table is a group, and
// its documents' ids are the members.
//
//	type Scope struct {
//		Group, Member string
//	}
//
//	func (s Scope) Compare(other Scope) int // by group, then by member
type Scope = retention.Scope

// maxPolicies bounds what is looked through when one of them changes.
const maxPolicies = 10_000

// SetRetention sets how much of a scope's history is kept, in whole
// milliseconds; nil makes it inherit again: a member from its group, a group
// from the store, and the store from Options.Retention. What is forgotten by
// then stays forgotten: a new policy reaches back to the scope's present
// horizon at most. There are at most 10,000 policies. It must not be called
// inside Update.
//
// ctx is looked at before, not while the policy is written.
func (s *Store) SetRetention(ctx context.Context, scope Scope, r *Retention) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if err := validScope(scope); err != nil {
		return err
	}
	if r != nil {
		if err := r.Validate(); err != nil {
			return err
		}
	}
	return s.state.Change(func() error {
		record, changed, err := plannedRecord(s, scope, r)
		if err != nil || !changed {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		ctx = context.WithoutCancel(ctx)
		// There may be more for a policy to forget than before.
		err = s.state.Rewind(ctx, s.writer, func() error { return writeRecord(s, ctx, scope, record) })
		if err == nil {
			s.compactor.Wake()
		}
		return writeError(err)
	})
}

// writeRecord makes record a scope's, in the file and then in memory; nil removes
// it. Records that say nothing any more go with it. State.Change is held.
func writeRecord(s *Store, ctx context.Context, scope Scope, record *retention.Record) error {
	doc := Document{Deleted: true}
	if record != nil {
		text, err := record.Encode()
		if err != nil {
			return fmt.Errorf("encode the policy of %+v: %w", scope, err)
		}
		doc = Document{Value: text, JSON: true}
	}
	spent := s.state.Spent()
	written, err := updateSettings(s, ctx, func(tx *Tx) error {
		for _, old := range spent {
			if err := tx.write(s.internal.retention, retention.RecordID(old), Document{Deleted: true}); err != nil {
				return err
			}
		}
		return tx.write(s.internal.retention, retention.RecordID(scope), doc)
	})
	if err != nil {
		return err
	}
	for _, old := range spent {
		s.state.Put(old, nil)
	}
	if record != nil {
		record = record.SetAt(written)
	}
	s.state.Put(scope, record)
	return nil
}

// forgetScope makes a scope readable from a moment on only.
func forgetScope(s *Store, ctx context.Context, scope Scope, before Timestamp) error {
	return s.state.Change(func() error {
		before = min(before, s.Bounds().Newest, s.held.Oldest(s.opts.Now()))
		record, known := s.state.Record(scope)
		if !known {
			record.Inherit = true
		}
		if oldest, _, _ := s.state.Horizon(scope); before <= oldest {
			return nil
		}
		record.Start = before
		return writeRecord(s, ctx, scope, &record)
	})
}

// plannedRecord is the record of a scope that gets the policy r, nil if none is
// needed. changed is false if the scope has that policy already.
func plannedRecord(s *Store, scope Scope, r *Retention) (record *retention.Record, changed bool, err error) {
	now, known := s.state.Record(scope)
	if r == nil {
		return s.state.Removed(scope), known && !now.Inherit, nil
	}
	_, start, _ := s.state.Horizon(scope)
	next := retention.NewRecord(*r, start)
	if known && !now.Inherit && now.Policy() == next.Policy() {
		return nil, false, nil
	}
	if n := len(s.state.Records()); !known && n >= maxPolicies {
		return nil, false, fmt.Errorf("%w: there are %d, and may not be more", retention.ErrPolicy, n)
	}
	return &next, true, nil
}

func validScope(scope Scope) error {
	switch n := len(retention.RecordID(scope)); {
	case scope.Group == "" && scope.Member != "":
		return fmt.Errorf("%w: member %q of no group", retention.ErrPolicy, scope.Member)
	case n > schema.MaxIDBytes:
		return fmt.Errorf("%w: scope of %d bytes", schema.ErrSize, n)
	}
	return nil
}

// updateSettings writes documents of the store's own tables. Once begun it is not
// given up: what is in memory must be what is in the file.
func updateSettings(s *Store, ctx context.Context, fn func(*Tx) error) (Timestamp, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.Update(context.WithoutCancel(ctx), fn)
}

// Retention is the policy that holds for a scope, and the scope that it is set
// for: itself, its group, or the store.
func (s *Store) Retention(scope Scope) (Retention, Scope) { return s.state.Effective(scope) }

// RetentionSince is since when the policy that is set for a scope itself holds;
// 0 if none is. That of Options holds since the store was opened.
func (s *Store) RetentionSince(scope Scope) Timestamp {
	r, _ := s.state.Record(scope)
	if r.Inherit {
		return 0
	}
	return r.Since
}

// Policies are the policies that are set, in the order of their scopes. That
// of Options is not one of them.
func (s *Store) Policies() iter.Seq2[Scope, Retention] {
	return func(yield func(Scope, Retention) bool) {
		records := s.state.Records()
		for _, scope := range slices.SortedFunc(maps.Keys(records), Scope.Compare) {
			if r := records[scope]; !r.Inherit && !yield(scope, r.Policy()) {
				return
			}
		}
	}
}

// Oldest is the moment from which on all of a scope can be read; of a group,
// what has no policy of its own. A document whose policy counts versions may
// reach further back.
func (s *Store) Oldest(scope Scope) Timestamp {
	_, applied, _ := s.state.Horizon(scope)
	return applied
}

// loadRetention reads the records.
func loadRetention(s *Store, snap *Snapshot) error {
	records := map[Scope]retention.Record{}
	for item, err := range snap.Scan(Range{Index: s.internal.retention.ByID()}) {
		if err != nil {
			return err
		}
		scope, record, err := retention.ParseRecord(item.Doc.ID, item.Doc.Value)
		if err != nil {
			return err
		}
		records[scope] = *record.SetAt(item.Doc.TS)
	}
	s.state.Restore(records)
	return nil
}

// oldestOf is the oldest moment at which a document can be read. Where the
// policy counts versions, that is the oldest of so many, which present sees,
// counted back from what is held; if fewer have survived, those may be all
// that there ever were.
func oldestOf(s *Store, present *reader.View, t *Table, id string) (Timestamp, error) {
	if t.follows() {
		return s.state.Floor(), nil // its owner knows
	}
	scope := t.scope(id)
	if scope == (Scope{}) {
		return s.state.GroupHorizon(""), nil // nobody knows whose it is
	}
	oldest, applied, versions := s.state.Horizon(scope)
	if versions == 0 {
		return oldest, nil
	}
	held := s.held.Oldest(s.opts.Now())
	survivor, n, err := present.Back(t.def, id, held, versions)
	if err == nil && survivor == nil { // nothing that was held, or held on to
		survivor, err = oneOf(present.Versions(t.def, id, VersionRange{From: held, Limit: 1}))
	}
	switch {
	case err != nil:
		return 0, err
	case survivor == nil || n == 0 && versions == 1: // a tombstone may have gone, too
		return applied, nil
	case n == versions || survivor.Prev > oldest || survivor.Prev != 0 && survivor.TS <= applied:
		// What it replaced is gone. If that was later than anything that was
		// forgotten for being replaced, it was a tombstone.
		return max(oldest, survivor.TS), nil
	}
	return oldest, nil
}

// oneOf is the only one of some versions, nil if there is none.
func oneOf(versions iter.Seq2[*Document, error]) (only *Document, err error) {
	for doc, err := range versions {
		return doc, err
	}
	return nil, nil
}
