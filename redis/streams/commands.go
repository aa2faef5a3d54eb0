// Package streams has the commands about streams and their groups.
package streams

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of streams.
func Commands() []command.Command {
	return slices.Clone(streamCommands)
}
