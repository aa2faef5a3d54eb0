// Package keys has the commands about keys of every type, their lifetimes, and
// databases.
//
// A command here moves, copies, ends, dumps or walks keys and does not know
// what is in them: package keyspace has a way for each type. Only SORT, which
// reads other keys than it names, and DUMP and RESTORE, in Redis's format of
// internal/rdb, look inside. Commands is all entries.
package keys

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of keys of every type and of databases.
func Commands() []command.Command {
	return slices.Concat(keyCommands, expiryCommands, scanCommands, databaseCommands, sortCommands, dumpCommands)
}
