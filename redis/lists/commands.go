// Package lists has the commands about lists.
//
// lists.go pushes, pops and reads, edit.go changes items in the middle, and
// move.go takes them to another list; Commands is all entries. Where an
// item is kept, and what inserting costs, is in package keyspace. A command
// that finds nothing says what it waits for, and package redis makes it wait.
package lists

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of lists.
func Commands() []command.Command {
	return slices.Clone(listCommands)
}
