// Package hashes has the commands about hashes and about the lifetimes of their
// fields.
package hashes

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of hashes and of the lifetimes of their fields.
func Commands() []command.Command {
	return slices.Concat(hashCommands, lifetimeCommands)
}
