// Package zsets has the commands about sorted sets, and about places, which are
// members of sorted sets.
package zsets

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of sorted sets, and of places in them.
func Commands() []command.Command {
	return slices.Concat(zsetCommands, geoCommands)
}
