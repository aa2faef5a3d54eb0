package redis

// access is what a command does to a key, as ACL patterns see it.
type access uint8

const (
	accessRead  access = 1 << iota // its content may be told
	accessWrite                    // it may change
)

// Commands that need less, or other, access to their keys than their flags
// say. Those that tell a key's type or size alone need none, as in Redis.
const (
	accessNothing = " exists hexists hlen hstrlen llen memory|usage object|encoding object|freq object|idletime object|refcount " +
		"scard sismember strlen touch type watch xlen zcard "
	accessWriteOnly = " msetnx setnx mset psetex restore setex del unlink hdel lrem ltrim srem xautoclaim xdel xgroup|delconsumer " +
		"xgroup|destroy xtrim zrem zremrangebylex zremrangebyrank zremrangebyscore append hsetnx linsert lpush lpushx pfadd rpush " +
		"rpushx sadd xgroup|create xgroup|createconsumer expire expireat geoadd hmset hset lset persist pexpire pexpireat setrange " +
		"xack xadd xclaim xgroup|setid xsetid zadd hexpire hpexpire hexpireat hpexpireat hpersist "
	accessReadOnly = " xreadgroup " // of what its flags call a write

	// The first key is written, the others are read.
	accessStores = " bitop geosearchstore sdiffstore sinterstore sunionstore zdiffstore zinterstore zrangestore zunionstore "
	// The first key is read, the others are written.
	accessCopies = " copy georadius georadiusbymember sort "
	// The first key is read and written, the others are written.
	accessMoves = " rename renamenx blmove brpoplpush lmove rpoplpush smove "
	// The first key is read and written, the others are read.
	accessMerges = " pfmerge "
)

// access is what the command does to the i-th of its keys.
func (e *entry) access(args [][]byte, i int) access {
	first := i == 0
	switch {
	case e.Flags&Writes == 0, listed(accessReadOnly, e.full):
		if listed(accessNothing, e.full) {
			return 0
		}
		return accessRead
	case listed(accessNothing, e.full):
		return 0
	case listed(accessWriteOnly, e.full):
		return accessWrite
	case listed(accessStores, e.full):
		return either(first, accessWrite, accessRead)
	case listed(accessCopies, e.full):
		return either(first, accessRead, accessWrite)
	case listed(accessMoves, e.full):
		return either(first, accessRead|accessWrite, accessWrite)
	case listed(accessMerges, e.full):
		return either(first, accessRead|accessWrite, accessRead)
	}
	return e.variableAccess(args)
}

// hasKeys says whether any of the command's arguments can be a key.
func (e *entry) hasKeys() bool {
	return e.Keys.First > 0 || e.KeyCount > 0 || e.KeysAfter != "" || e.StoreAfter != ""
}

func either(first bool, a, b access) access {
	if first {
		return a
	}
	return b
}

// variableAccess is that of commands which depends on their options.
func (e *entry) variableAccess(args [][]byte) access {
	switch e.Name {
	case "SET":
		for _, arg := range args[2:] {
			if is(arg, "GET") {
				return accessRead | accessWrite
			}
		}
		return accessWrite
	case "BITFIELD":
		for _, arg := range args[1:] {
			if is(arg, "SET") || is(arg, "INCRBY") {
				return accessRead | accessWrite
			}
		}
		return accessRead
	}
	return accessRead | accessWrite
}

// listens is what a command does with the channels in its arguments.
type listens uint8

const (
	listensNot      listens = iota
	listensChannels         // names of channels
	listensPatterns         // patterns, which must be allowed as they are
)

// channels are the channels in a command's arguments that permission is
// needed for. Nobody needs any to unsubscribe.
func (e *entry) channels(args [][]byte) ([][]byte, listens) {
	switch e.Name {
	case "SUBSCRIBE", "SSUBSCRIBE":
		return args, listensChannels
	case "PUBLISH", "SPUBLISH":
		return args[:1], listensChannels
	case "PSUBSCRIBE":
		return args, listensPatterns
	}
	return nil, listensNot
}
