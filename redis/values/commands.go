package values

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of strings, bitmaps and HyperLogLogs.
func Commands() []command.Command {
	return slices.Concat(stringCommands, bitmapCommands, hyperLogLogCommands, lcsCommands)
}
