// Package values has the commands about strings: whole ones, their ranges,
// bits and counters, and HyperLogLogs, which are strings too.
//
// A string is the value in its key's document, so a command opens the key,
// makes the new bytes and writes them back. Each file has the entries of a
// group of commands and, below, their functions; Commands is all entries. The
// bytes of HyperLogLogs are in internal/hll.
package values

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of strings, bitmaps and HyperLogLogs.
func Commands() []command.Command {
	return slices.Concat(stringCommands, bitmapCommands, hyperLogLogCommands, lcsCommands)
}
