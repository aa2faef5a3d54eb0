// Package history has the commands about the past: what was, how much of it is
// kept, and what holds keep readable.
package history

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of the past: of reading it, of how much is kept, and of holds.
func Commands() []command.Command {
	return slices.Concat(historyCommands, compactCommands, holdCommands)
}
