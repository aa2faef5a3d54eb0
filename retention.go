package firn

import (
	"github.com/firndb/firn/retention"
)

// Retention says how much of the past is kept. The zero Retention keeps
// everything.
type Retention = retention.Policy

// Scope names whose history is meant: a member of a group; without Member, the
// whole group; the zero Scope is the store. By default a table is a group, and
// its documents' ids are the members.
type Scope = retention.Scope
