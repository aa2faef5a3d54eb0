// Package keys has the commands about keys of every type, their lifetimes, and
// databases.
package keys

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of keys of every type and of databases.
func Commands() []command.Command {
	return slices.Concat(keyCommands, expiryCommands, scanCommands, databaseCommands, sortCommands, dumpCommands)
}
