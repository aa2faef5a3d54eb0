package retention

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/firndb/firn/schema"
)

// InUse are the policies that hold for something, those that keep least first.
func (s *State) InUse() []Policy {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.used
}

func (s *State) inUse() []Policy {
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
	return s.classes[p]
}

// Rewind makes every policy be applied anew to what it may not have met yet,
// because scopes have changed their policies.
func (s *State) Rewind() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, progress := range s.classes {
		progress.Cursor = 0
		s.classes[p] = progress
	}
}

// Advance moves how far a policy has been applied, in the file and then in
// memory. Horizon and Applied only move forward.
func (s *State) Advance(ctx context.Context, w Executor, p Policy, to Progress) error {
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
	s.classes[p] = before.to(to)
	oldest, _, _ := s.horizon(Scope{})
	named := map[string]Progress{}
	for p, progress := range s.classes {
		named[p.String()] = progress
	}
	if s.classes[p] = before; !known {
		delete(s.classes, p)
	}
	s.mu.Unlock()
	text, err := json.Marshal(named)
	if err != nil {
		return fmt.Errorf("encode progress: %w", err)
	}
	if err := a.SetGlobal(ClassesGlobal, string(text)); err != nil {
		return err
	}
	return a.SetGlobal(HorizonGlobal, strconv.FormatInt(int64(oldest), 10))
}

// advanced makes what write has stored known.
func (s *State) advanced(p Policy, to Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.classes[p] = s.classes[p].to(to)
	s.derive()
}

func (p Progress) to(next Progress) Progress {
	return Progress{Horizon: max(p.Horizon, next.Horizon), Cursor: next.Cursor, Applied: max(p.Applied, next.Applied)}
}
