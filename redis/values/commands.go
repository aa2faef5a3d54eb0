// Package values has the commands about strings: whole ones, their ranges,
// bits and counters, and HyperLogLogs, which are strings too.
package values

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of strings, bitmaps and HyperLogLogs.
func Commands() []command.Command {
	return slices.Concat(stringCommands, bitmapCommands, hyperLogLogCommands, lcsCommands)
}
