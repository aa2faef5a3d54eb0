// Package hashes has the commands about hashes and about the lifetimes of their
// fields.
//
// hashes.go and counters.go change fields, lifetimes.go their ends, and
// scan.go walks; Commands is all entries. Where fields and lifetimes are
// kept, and when a field has ended, is in package keyspace.
package hashes

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of hashes and of the lifetimes of their fields.
func Commands() []command.Command {
	return slices.Concat(hashCommands, lifetimeCommands)
}
