package retention

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/firndb/firn/schema"
)

// usedPolicies are the policies that hold for something, those that keep least
// first.
func (s *State) usedPolicies() []Policy {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.used
}

func (s *State) findUsed() []Policy {
	used := map[Policy]bool{}
	p, _, _ := s.effective(Scope{})
	used[p] = true
	for scope := range s.records {
		p, _, _ := s.effective(scope)
		used[p] = true
	}
	return slices.SortedFunc(maps.Keys(used), func(a, b Policy) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Age, b.Age), cmp.Compare(a.Versions, b.Versions))
	})
}

// rank orders the kinds of policies by how little they keep.
func (p Policy) rank() int {
	switch {
	case p.Off:
		return 0
	case p.Age > 0:
		return 1
	case p.Versions > 0:
		return 2
	}
	return 3
}

// Progress is how far a policy has been applied.
func (s *State) Progress(p Policy) Progress {
	s.mu.RLock()
	defer s.mu.RUnlock()
	progress := s.classes[p]
	progress.rewound = s.rewound
	return progress
}

// Rewind runs change, which gives scopes other policies, and takes all cursors
// back: every policy may now hold for documents that its cursor has passed. The
// cursors go back in the file first. A crash in the middle of the change then
// leaves nothing that is passed over.
func (s *State) Rewind(ctx context.Context, w Executor, change func() error) error {
	moved := s.rewind(true)
	defer s.rewind(false)
	if moved {
		err := w.Exec(ctx, func(a schema.Appender) error {
			s.mu.RLock()
			stored := s.stored()
			s.mu.RUnlock()
			return stored.Write(a)
		})
		if err != nil {
			return fmt.Errorf("rewind retention: %w", err)
		}
	}
	return change()
}

// rewind takes all cursors back in memory; false if none had moved.
func (s *State) rewind(changes bool) (moved bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes = changes
	s.rewound++
	for p, progress := range s.classes {
		moved = moved || progress.Cursor > 0 || progress.Pruned > 0
		progress.Cursor, progress.Pruned = 0, 0
		s.classes[p] = progress
	}
	return moved
}

// stale is true if policies have changed since progress was read, or do now.
func (s *State) stale(progress Progress) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.changes || progress.rewound != s.rewound
}

// advance moves how far a policy has been applied, in the file and then in
// memory. Horizon and Applied only move forward.
func (s *State) advance(ctx context.Context, w Executor, p Policy, to Progress) error {
	err := w.Exec(ctx, func(a schema.Appender) error { return s.write(a, p, to) })
	if err != nil {
		return fmt.Errorf("advance the horizon of %s to %d: %w", p, to.Horizon, err)
	}
	s.advanced(p, to)
	return nil
}

// write stores the state as it is with a policy's progress, inside a
// transaction.
func (s *State) write(a schema.Appender, p Policy, to Progress) error {
	s.mu.Lock()
	before, known := s.classes[p]
	s.classes[p] = s.next(p, to)
	stored := s.stored()
	if s.classes[p] = before; !known {
		delete(s.classes, p)
	}
	s.mu.Unlock()
	return stored.Write(a)
}

// stored is what the file is to say of the State.
func (s *State) stored() Stored {
	oldest, _, _ := s.horizon(Scope{})
	return Stored{horizon: oldest, classes: maps.Clone(s.classes)}
}

// advanced makes what write has stored known.
func (s *State) advanced(p Policy, to Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes[p] = s.next(p, to)
	s.derive()
}

// next is a policy's progress once it has got to a point.
func (s *State) next(p Policy, to Progress) Progress {
	before := s.classes[p]
	if s.changes || to.rewound != s.rewound {
		to.Cursor, to.Pruned = before.Cursor, before.Pruned
	}
	to.Horizon, to.Applied = max(before.Horizon, to.Horizon), max(before.Applied, to.Applied)
	return to
}
