// Package history has the commands about the past: what was, how much of it is
// kept, and what holds keep readable.
//
// history.go shows the versions of a key, changed.go and diff.go
// what has changed, revert.go brings a state back; policies.go,
// forgetting.go and holds.go say how much is kept, and Commands is all entries.
// A state is shown in the shape of its type, with the families' own functions.
//
// AT and CLIENT ASOF are not here: they run the other commands on a snapshot of
// the past, and belong to the session.
package history

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of the past: of reading it, of how much is kept, and of holds.
func Commands() []command.Command {
	return slices.Concat(historyCommands, compactCommands, holdCommands)
}
