package redis

import (
	"cmp"
	"slices"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/feed"
	"github.com/firndb/firn/redis/hashes"
	"github.com/firndb/firn/redis/history"
	"github.com/firndb/firn/redis/keys"
	"github.com/firndb/firn/redis/lists"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/redis/sets"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/redis/values"
	"github.com/firndb/firn/redis/zsets"
)

// Commands is the table of all commands, sorted by name.
func Commands() []command.Command {
	all := slices.Concat(
		values.Commands(), hashes.Commands(), lists.Commands(), sets.Commands(), zsets.Commands(), streams.Commands(),
		keys.Commands(), history.Commands(), feed.Commands(), scripting.Commands(),
		connectionCommands, clientCommands, transactionCommands, watchCommands, pubsubCommands, monitorCommands,
		serverCommands, configCommands, commandCommands, aclCommands,
		atCommands, liveCommands, backupCommands, saveCommands, maintenanceCommands,
		slowlogCommands, latencyCommands, memoryCommands, debugCommands, clusterCommands, moduleCommands,
	)
	slices.SortFunc(all, func(a, b command.Command) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
