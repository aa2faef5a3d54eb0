package retention

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// Progress is how far the scopes that share a policy have been forgotten.
//
//   - Horizon: what was replaced at or before it may be forgotten. It is in
//     the file before anything is. A policy that counts versions has one only
//     if history was pruned on purpose, or for its size.
//   - Cursor: what was replaced at or before it is forgotten.
//   - Applied: nothing that was replaced after it is forgotten.
//   - Pruned: of a policy that counts versions, what was replaced at or before
//     it is forgotten; its Cursor says what was counted.
type Progress struct {
	Horizon schema.Timestamp `json:"horizon,omitempty"`
	Cursor  schema.Timestamp `json:"cursor,omitempty"`
	Applied schema.Timestamp `json:"applied,omitempty"`
	Pruned  schema.Timestamp `json:"pruned,omitempty"`

	rewound int // State.rewound when it was read: a cursor from before a Rewind does not count
}

// State is how much of whose history is kept: the policies that are set, and
// how far each has been applied. It is safe for concurrent use.
//
// All scopes that share a policy share its horizon. A scope may have come to
// the policy late, when more of its own history was gone: its horizon is never
// before the Start of its record, nor of its group's and the store's, as far as
// it inherits from them.
type State struct {
	changing sync.Mutex // held by Change

	mu       sync.RWMutex
	fallback Policy // of the store, where no record says otherwise
	created  schema.Timestamp
	records  map[Scope]Record
	classes  map[Policy]Progress
	rewound  int                         // grows with each Rewind
	changes  bool                        // a Rewind is under way: no cursor moves
	groups   map[string]schema.Timestamp // by group, the latest horizon of the scopes that have a record; "": of all groups
	used     []Policy                    // see usedPolicies; replaced, never changed
	policies int                         // records that set one

	oldest  atomic.Int64 // the store's horizon
	floor   atomic.Int64 // the earliest horizon: before it nothing can be read
	ceiling atomic.Int64 // the latest horizon: from it on everything can be read
}

// Load reads what the file says. Records are for Put.
func (s *State) Load(session schema.Session, created schema.Timestamp, fallback Policy) error {
	stored, err := readStored(session, created)
	if err == nil {
		s.Take(stored, fallback)
	}
	return err
}

// Take makes the state that of a file. Records are for Put.
func (s *State) Take(stored Stored, fallback Policy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback, s.records = fallback, map[Scope]Record{}
	s.created, s.classes = stored.created, maps.Clone(stored.classes)
	s.put(Scope{}, &Record{Inherit: true, Start: stored.horizon})
	s.derive()
}

// Change runs fn while no other change is under way. What a policy, a horizon
// or a hold becomes depends on the others, and each changes in the file first
// and then in memory: whoever does so, does it in here.
func (s *State) Change(fn func() error) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	return fn()
}

// Restore puts the records that the store has kept.
func (s *State) Restore(records map[Scope]Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for scope, r := range records {
		s.put(scope, &r)
	}
	s.derive()
}

// Put makes r the record of a scope; nil removes it. The Start of a record
// never moves back, and that of the store outlives its record.
func (s *State) Put(scope Scope, r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(scope, r)
	s.derive()
}

func (s *State) put(scope Scope, r *Record) {
	start := s.records[scope].Start
	switch {
	case r != nil:
		kept := *r
		kept.Start = max(kept.Start, start)
		s.records[scope] = kept
	case scope == Scope{}:
		s.records[scope] = Record{Inherit: true, Start: start}
	default:
		delete(s.records, scope)
	}
}

// Record is what is set for a scope itself.
func (s *State) Record(scope Scope) (r Record, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	r, ok = s.records[scope]
	return r, ok
}

// Removed is the record that is left of a scope whose policy is taken away. It
// is nil if the scope can be read as far back as what it will inherit from.
func (s *State) Removed(scope Scope) *Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, start, _ := s.horizon(scope)
	inherited := s.created
	if tiers := scope.tiers(); len(tiers) > 1 {
		inherited, _, _ = s.horizon(tiers[1])
	}
	if start <= inherited {
		return nil
	}
	return &Record{Inherit: true, Start: start}
}

// Records are all records but that of a store that has no policy set.
func (s *State) Records() map[Scope]Record {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := maps.Clone(s.records)
	if all[Scope{}].Inherit {
		delete(all, Scope{})
	}
	return all
}

// Policies is how many scopes have a policy of their own.
func (s *State) Policies() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.policies
}

// Effective is the policy that holds for a scope, and the scope that it is
// set for.
func (s *State) Effective(scope Scope) (Policy, Scope) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, tier, _ := s.effective(scope)
	return p, tier
}

// effective also returns the latest Start on the way to the policy.
func (s *State) effective(scope Scope) (p Policy, tier Scope, start schema.Timestamp) {
	for _, t := range scope.tiers() {
		r, ok := s.records[t]
		if !ok {
			continue
		}
		start = max(start, r.Start)
		if !r.Inherit {
			return r.Policy(), t, start
		}
	}
	return s.fallback, Scope{}, start
}

// Horizon is the oldest moment at which a scope can be read.
//
// Where the policy counts versions, versions is how many. A document can then
// be read from its versions-th newest version on, and not before oldest. Who
// does not look at the versions must not read before applied.
func (s *State) Horizon(scope Scope) (oldest, applied schema.Timestamp, versions int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.horizon(scope)
}

func (s *State) horizon(scope Scope) (oldest, applied schema.Timestamp, versions int) {
	p, _, start := s.effective(scope)
	oldest = max(s.created, start, s.classes[p].Horizon)
	if p.Versions > 0 {
		return oldest, max(oldest, s.classes[p].Applied), p.Versions
	}
	return oldest, oldest, 0
}

// GroupHorizon is the moment from which on every member of a group can be
// read; of the group "", every member of every group.
func (s *State) GroupHorizon(group string) schema.Timestamp {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.groupHorizon(group)
}

func (s *State) groupHorizon(group string) schema.Timestamp {
	_, applied, _ := s.horizon(Scope{Group: group})
	return max(applied, s.groups[group])
}

// Bound is from when on a scope can be read, as far as is known without its
// documents, and what it keeps.
func (s *State) Bound(scope Scope) Bound {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bound(scope)
}

func (s *State) bound(scope Scope) Bound {
	p, _, start := s.effective(scope)
	_, applied, _ := s.horizon(scope)
	if applied == start {
		p = Policy{} // it was forgotten before the policy came, or on purpose
	}
	return Bound{Oldest: applied, Began: s.created, Policy: p}
}

// WalkBound is from when on a walk over documents of a group can be read, of
// the group "" one over all groups, and which scope that is due to. Scopes
// that have a record and that touches says no to have no documents in the
// walk. What is forgotten at asked alone counts.
func (s *State) WalkBound(group string, asked schema.Timestamp, touches func(Scope) bool) Bound {
	s.mu.RLock()
	defer s.mu.RUnlock()
	b := s.bound(Scope{Group: group})
	if _, known := s.records[Scope{Group: group}]; known {
		b.Scope = Scope{Group: group}
	}
	if s.groups[group] <= max(asked, b.Oldest) {
		return b
	}
	for scope := range s.records {
		if group != "" && scope.Group != group {
			continue
		}
		_, applied, _ := s.horizon(scope)
		later := applied > b.Oldest || applied == b.Oldest && scope.Compare(b.Scope) < 0 // so that the same one is told
		if applied > asked && later && touches(scope) {
			b = s.bound(scope)
			b.Scope = scope
		}
	}
	return b
}

// Created is when the store was made.
func (s *State) Created() schema.Timestamp {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.created
}

// derive computes what is read without the lock.
func (s *State) derive() {
	oldest, ceiling, _ := s.horizon(Scope{})
	floor := oldest
	s.groups = map[string]schema.Timestamp{}
	s.used, s.policies = s.findUsed(), 0
	for scope, r := range s.records {
		if !r.Inherit {
			s.policies++
		}
		first, applied, versions := s.horizon(scope)
		floor, ceiling = min(floor, first), max(ceiling, applied)
		s.groups[scope.Group] = max(s.groups[scope.Group], applied)
		s.groups[""] = max(s.groups[""], applied)
		if versions > 0 {
			ceiling = schema.MaxTimestamp
		}
	}
	s.oldest.Store(int64(oldest))
	s.floor.Store(int64(floor))
	s.ceiling.Store(int64(ceiling))
}

// Spent are the scopes whose records can go: they set no policy, and their
// Start is not later than the horizon that the scopes inherit.
func (s *State) Spent() []Scope {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var spent []Scope
	for scope, r := range s.records {
		if tiers := scope.tiers(); r.Inherit && len(tiers) > 1 {
			if inherited, _, _ := s.horizon(tiers[1]); r.Start <= inherited {
				spent = append(spent, scope)
			}
		}
	}
	return spent
}

// Oldest is the store's horizon: the oldest moment at which documents can be
// read that have no policy of their own.
func (s *State) Oldest() schema.Timestamp { return schema.Timestamp(s.oldest.Load()) }

// Floor is the oldest moment at which anything can be read.
func (s *State) Floor() schema.Timestamp { return schema.Timestamp(s.floor.Load()) }

// Uniform is true if everything can be read at ts, so that no scope needs to be
// looked at.
func (s *State) Uniform(ts schema.Timestamp) bool { return int64(ts) >= s.ceiling.Load() }
