package retention

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/schema"
)

// ErrCompacted means that a moment is before the horizon: what was then is
// forgotten, which is not the same as "not found". A moment before the store
// was made is one of those.
var ErrCompacted = errors.New("firn: compacted")

// CompactedError says how far back history reaches, and what is in the way. It
// matches ErrCompacted.
type CompactedError struct {
	Asked  schema.Timestamp // the moment that was asked for
	Oldest schema.Timestamp // the oldest that can be read
	Began  schema.Timestamp // when the store was made; 0: not known

	// Scope is what is in the way of a walk: a member or a group whose
	// documents may have been among the results, and that keeps less than
	// Asked. Of other reads it is zero.
	Scope Scope

	// Policy is what holds for it; unlimited if its history was forgotten on
	// purpose.
	Policy Policy
}

func (e *CompactedError) Error() string {
	text := fmt.Sprintf("firn: compacted: asked for %d, oldest readable timestamp is %d", e.Asked, e.Oldest)
	switch {
	case e.Unborn():
		text += fmt.Sprintf(": the store began at %d", e.Began)
	case e.Scope.Member != "":
		text += fmt.Sprintf(": %q of %q %s: read later, or leave out what is forgotten", e.Scope.Member, e.Scope.Group, e.Kept())
	case e.Scope.Group != "":
		text += fmt.Sprintf(": %q %s: read later, or leave out what is forgotten", e.Scope.Group, e.Kept())
	}
	return text
}

// Is makes the error match ErrCompacted.
func (e *CompactedError) Is(target error) bool { return target == ErrCompacted }

// Unborn says that nothing was forgotten at the moment that was asked for: the
// store had not begun.
func (e *CompactedError) Unborn() bool { return e.Asked < e.Began }

// Kept says in words what Scope keeps.
func (e *CompactedError) Kept() string {
	if e.Policy == (Policy{}) {
		return "was made to forget"
	}
	return "has the policy " + e.Policy.String()
}

// Bound is from when on something can be read, and why not before.
type Bound struct {
	Oldest schema.Timestamp
	Began  schema.Timestamp // see CompactedError
	Scope  Scope
	Policy Policy
}

// Admit is nil if a moment is within the bound, and a *CompactedError
// otherwise: the only one that there is.
func (b Bound) Admit(asked schema.Timestamp) error {
	if asked >= b.Oldest {
		return nil
	}
	return &CompactedError{Asked: asked, Oldest: b.Oldest, Began: b.Began, Scope: b.Scope, Policy: b.Policy}
}
