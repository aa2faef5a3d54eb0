// Package lists has the commands about lists.
package lists

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of lists.
func Commands() []command.Command {
	return slices.Clone(listCommands)
}
