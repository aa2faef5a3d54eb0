// Package streams has the commands about streams and their groups.
//
// add.go and trim.go change entries, read.go reads and waits
// for them; xgroup.go and the files beside it have groups, what is
// delivered to their consumers, acknowledged and claimed. Commands is all
// entries. How entries, groups and the ledger of what is pending are kept is in
// package keyspace.
package streams

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of streams.
func Commands() []command.Command {
	return slices.Clone(streamCommands)
}
