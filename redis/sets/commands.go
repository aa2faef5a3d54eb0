// Package sets has the commands about sets.
//
// sets.go has those on one set, combine.go unions, intersections and
// differences, and random.go what depends on chance; Commands is all
// entries. Where members are kept is in package keyspace.
package sets

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of sets.
func Commands() []command.Command {
	return slices.Clone(setCommands)
}
