package redis

import (
	"cmp"
	"slices"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/hashes"
	"github.com/firndb/firn/redis/history"
	"github.com/firndb/firn/redis/keys"
	"github.com/firndb/firn/redis/lists"
	"github.com/firndb/firn/redis/sets"
	"github.com/firndb/firn/redis/streams"
	"github.com/firndb/firn/redis/values"
	"github.com/firndb/firn/redis/zsets"
)

// Commands is the table of all commands, sorted by name.
func Commands() []command.Command {
	all := slices.Concat(
		values.StringCommands, keys.KeyCommands, keys.ExpiryCommands, keys.ScanCommands, hashes.HashCommands, keys.DatabaseCommands,
		connectionCommands, clientCommands, transactionCommands, watchCommands,
		serverCommands, configCommands, commandCommands,
		atCommands, history.HistoryCommands, history.CompactCommands, history.HoldCommands, backupCommands,
		values.BitmapCommands, values.HyperLogLogCommands, values.LCSCommands,
		lists.ListCommands, sets.SetCommands, zsets.ZSetCommands, zsets.GeoCommands, streams.StreamCommands,
		hashes.LifetimeCommands, keys.SortCommands, keys.DumpCommands,
		pubsubCommands, monitorCommands,
		aclCommands, slowlogCommands, latencyCommands, memoryCommands, debugCommands, saveCommands, maintenanceCommands,
	)
	slices.SortFunc(all, func(a, b command.Command) int { return cmp.Compare(a.Name, b.Name) })
	return all
}
