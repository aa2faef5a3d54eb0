package redis

import (
	"sync/atomic"

	"github.com/firndb/firn/resp"
)

// encodingLimits are where Redis's compact encodings end. A key keeps, as in
// Redis, the encoding that it has come to. It decides what OBJECT ENCODING
// says, in which order a set is replied and whether SCAN takes one step, and
// nothing of how a collection is stored. (A HyperLogLog is the string that it
// would be in Redis.)
type encodingLimits struct {
	hashEntries    atomic.Int64 // hash-max-listpack-entries
	hashValueBytes atomic.Int64 // hash-max-listpack-value
	listSize       atomic.Int64 // list-max-listpack-size: entries, or -1 to -5 for 4 to 64 KiB. Of no effect: each of 7.0's lists is a quicklist
	intsetEntries  atomic.Int64 // set-max-intset-entries
	zsetEntries    atomic.Int64 // zset-max-listpack-entries
	zsetValueBytes atomic.Int64 // zset-max-listpack-value
	sparseBytes    atomic.Int64 // hll-sparse-max-bytes
}

// The defaults of Redis 7.0.
const (
	defaultHashEntries    = 512
	defaultHashValueBytes = 64
	defaultListSize       = -2
	defaultIntsetEntries  = 512
	defaultZSetEntries    = 128
	defaultZSetValueBytes = 64
	defaultSparseBytes    = 3000
)

// init sets the defaults.
func (l *encodingLimits) init() {
	l.hashEntries.Store(defaultHashEntries)
	l.hashValueBytes.Store(defaultHashValueBytes)
	l.listSize.Store(defaultListSize)
	l.intsetEntries.Store(defaultIntsetEntries)
	l.zsetEntries.Store(defaultZSetEntries)
	l.zsetValueBytes.Store(defaultZSetValueBytes)
	l.sparseBytes.Store(defaultSparseBytes)
}

// hashFits says whether a hash may stay compact with so many fields, of which
// one is this.
func (l *encodingLimits) hashFits(fields int64, field, value []byte) bool {
	return fields <= l.hashEntries.Load() && int64(max(len(field), len(value))) <= l.hashValueBytes.Load()
}

// setFits says whether a set of so many members may stay compact if one of
// them is this.
func (l *encodingLimits) setFits(members int64, member []byte) bool {
	_, isInt := resp.ParseInt(member)
	return isInt && members <= l.intsetEntries.Load()
}

// zsetFits is setFits for a sorted set.
func (l *encodingLimits) zsetFits(members int64, member []byte) bool {
	return members <= l.zsetEntries.Load() && int64(len(member)) <= l.zsetValueBytes.Load()
}

// sparseBytes is how long a HyperLogLog may become before it is dense.
func sparseBytes(v *View) int { return int(v.encodings.sparseBytes.Load()) }
