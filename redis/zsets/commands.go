// Package zsets has the commands about sorted sets, and about places, which are
// members of sorted sets.
//
// add.go and pop.go write, range.go reads by rank, score and
// member, and algebra.go combines; geo.go and geosearch.go turn places
// into scores and back, with internal/geohash. Commands is all entries. Where
// members and scores are kept, and how a rank is found, is in package keyspace.
package zsets

import (
	"slices"

	"github.com/firndb/firn/redis/command"
)

// Commands are the commands of sorted sets, and of places in them.
func Commands() []command.Command {
	return slices.Concat(zsetCommands, geoCommands)
}
