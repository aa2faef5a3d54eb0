// Package sets has the commands about sets.
package sets

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of sets.
func Commands() []command.Command {
	return slices.Clone(setCommands)
}
