package hashes

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of hashes and of the lifetimes of their fields.
func Commands() []command.Command {
	return slices.Concat(hashCommands, lifetimeCommands)
}
