package keyspace

import (
	"sync/atomic"

	"github.com/firndb/firn/resp"
)

// EncodingLimits are where Redis's compact encodings end. A key keeps, as in
// Redis, the encoding that it has come to. It decides what OBJECT ENCODING
// says, in which order a set is replied and whether SCAN takes one step, and
// nothing of how a collection is stored. (A HyperLogLog is the string that it
// would be in Redis.)
type EncodingLimits struct {
	HashEntries    atomic.Int64 // hash-max-listpack-entries
	HashValueBytes atomic.Int64 // hash-max-listpack-value
	ListSize       atomic.Int64 // list-max-listpack-size: entries, or -1 to -5 for 4 to 64 KiB. Of no effect: each of 7.0's lists is a quicklist
	IntsetEntries  atomic.Int64 // set-max-intset-entries
	ZSetEntries    atomic.Int64 // zset-max-listpack-entries
	ZSetValueBytes atomic.Int64 // zset-max-listpack-value
	SparseBytes    atomic.Int64 // hll-sparse-max-bytes
	NodeEntries    atomic.Int64 // stream-node-max-entries; 0: any number
	NodeBytes      atomic.Int64 // stream-node-max-bytes; 0: any number
}

// The defaults of Redis 7.0.
const (
	DefaultHashEntries    = 512
	defaultHashValueBytes = 64
	defaultListSize       = -2
	DefaultIntsetEntries  = 512
	defaultZSetEntries    = 128
	defaultZSetValueBytes = 64
	DefaultSparseBytes    = 3000
	defaultNodeEntries    = 100
	defaultNodeBytes      = 4096
)

// init sets the defaults.
func (l *EncodingLimits) init() {
	l.HashEntries.Store(DefaultHashEntries)
	l.HashValueBytes.Store(defaultHashValueBytes)
	l.ListSize.Store(defaultListSize)
	l.IntsetEntries.Store(DefaultIntsetEntries)
	l.ZSetEntries.Store(defaultZSetEntries)
	l.ZSetValueBytes.Store(defaultZSetValueBytes)
	l.SparseBytes.Store(DefaultSparseBytes)
	l.NodeEntries.Store(defaultNodeEntries)
	l.NodeBytes.Store(defaultNodeBytes)
}

// hashFits says whether a hash may stay compact with so many fields, of which
// one is this.
func (l *EncodingLimits) hashFits(fields int64, field, value []byte) bool {
	return fields <= l.HashEntries.Load() && int64(max(len(field), len(value))) <= l.HashValueBytes.Load()
}

// setFits says whether a set of so many members may stay compact if one of
// them is this.
func (l *EncodingLimits) setFits(members int64, member []byte) bool {
	_, isInt := resp.ParseInt(member)
	return isInt && members <= l.IntsetEntries.Load()
}

// zsetFits is setFits for a sorted set.
func (l *EncodingLimits) zsetFits(members int64, member []byte) bool {
	return members <= l.ZSetEntries.Load() && int64(len(member)) <= l.ZSetValueBytes.Load()
}
