package redis

import "sync/atomic"

// encodingLimits are where Redis's compact encodings end. They decide what
// OBJECT ENCODING says, and nothing else.
type encodingLimits struct {
	hashEntries    atomic.Int64 // hash-max-listpack-entries
	hashValueBytes atomic.Int64 // hash-max-listpack-value
	listSize       atomic.Int64 // list-max-listpack-size: entries, or -1 to -5 for 4 to 64 KiB
	intsetEntries  atomic.Int64 // set-max-intset-entries
	zsetEntries    atomic.Int64 // zset-max-listpack-entries
	zsetValueBytes atomic.Int64 // zset-max-listpack-value
	sparseBytes    atomic.Int64 // hll-sparse-max-bytes
}

// init sets the defaults of Redis 7.0.
func (l *encodingLimits) init() {
	l.hashEntries.Store(listpackFields)
	l.hashValueBytes.Store(listpackValueBytes)
	l.listSize.Store(-2)
	l.intsetEntries.Store(512)
	l.zsetEntries.Store(128)
	l.zsetValueBytes.Store(64)
	l.sparseBytes.Store(3000)
}
