package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// What random clients say: templates, one a line, whose words with a $ are drawn
// from choices. A word may be drawn as several. Nearly all commands are
// right, so that nearly all writes are commits.

const writes = `
SET $any $value
SET $string $value
SET $string $value PX $soon
SETEX $string 1 $value
APPEND $string $value
SETRANGE $string 3 $value
INCRBY n1 $small
INCRBYFLOAT n2 1.5
GETDEL $string
GETEX $string PX $soon
MSET s1 $value s2 $value c:1 $value
SETBIT bits $small 1
BITFIELD bits INCRBY u8 8 3
BITOP XOR $string bits s1
PFADD hll $member $member
PFMERGE hll hll2
HSET $hash $field $value
HSET $hash $field $value $field $value
HINCRBY $hash n $small
HDEL $hash $field
HPEXPIRE $hash $soon FIELDS 1 $field
HPERSIST $hash FIELDS 1 $field
RPUSH $list $value $member
LPUSH $list $member
LINSERT $list BEFORE $member new
LSET $list 0 $value
LREM $list 1 $member
LTRIM $list 0 6
LPOP $list
RPOP $list 2
LMOVE $list $list LEFT RIGHT
SADD $set $member $member $small
SREM $set $member
SMOVE $set $set $member
SUNIONSTORE $set $set $set
SINTERSTORE $set $set $set
SPOP $set
ZADD $zset $small $member $small $member
ZADD $zset GT $small $member
ZINCRBY $zset 1.5 $member
ZREM $zset $member
ZPOPMIN $zset
ZREMRANGEBYSCORE $zset -inf 2
ZRANGESTORE $zset $zset 0 3
ZUNIONSTORE $zset 2 $zset $zset
GEOADD geo 13.361389 38.115556 $member
GEOADD geo 2.35 48.86 $member
XADD $stream * $field $value
XADD $stream MAXLEN 8 * $field $value
XADD $stream MAXLEN ~ 5 * $field $value
XTRIM $stream MAXLEN 4
XGROUP CREATE $stream g 0 MKSTREAM
XGROUP DESTROY $stream g
XREADGROUP GROUP g one COUNT 2 STREAMS $stream >
XREADGROUP GROUP g two COUNT 1 NOACK STREAMS $stream >
XAUTOCLAIM $stream g two 0 0 COUNT 2
XGROUP DELCONSUMER $stream g one
XSETID $stream 99999999999999-0
SORT $set ALPHA STORE $list
DEL $any
UNLINK $any $any
RENAME $any $any
RENAMENX $any $any
COPY $any $any REPLACE
COPY $any $any DB $db REPLACE
MOVE $any $db
PEXPIRE $any $soon
EXPIRE $any 1 GT
PERSIST $any
SET $cached $value
SET $cached $value PX $soon
HSET $cachedhash $field $value
DEL $cached
RENAME $cached $cached
`

// rareWrites comes less often: it undoes the work of many.
const rareWrites = `
FLUSHDB
SWAPDB $db $db
SWAPDB $db $db
FLUSHALL
`

// reads are commands that LIVE may run.
const reads = `
GET $string
GET $any
MGET $string $string $any
STRLEN $string
GETRANGE $string 0 3
SUBSTR $string 1 -1
GETBIT bits $small
BITCOUNT bits
BITPOS bits 1
BITFIELD_RO bits GET u8 0
LCS s1 s2
PFCOUNT hll
EXISTS $any $any $string
TYPE $any
OBJECT ENCODING $any
PEXPIRETIME $any
EXPIRETIME $string
KEYS *
KEYS s*
DBSIZE
DUMP $string
HGET $hash $field
HMGET $hash $field $field
HGETALL $hash
HKEYS $hash
HVALS $hash
HLEN $hash
HEXISTS $hash $field
HSTRLEN $hash $field
HPEXPIRETIME $hash FIELDS 1 $field
LRANGE $list 0 -1
LRANGE $list 1 2
LLEN $list
LINDEX $list 0
LINDEX $list -1
LPOS $list $member
SMEMBERS $set
SCARD $set
SISMEMBER $set $member
SMISMEMBER $set $member $small
SINTER $set $set
SUNION $set $set
SDIFF $set $set
SINTERCARD 2 $set $set
ZRANGE $zset 0 -1 WITHSCORES
ZRANGE $zset 1 2
ZRANGE $zset 0 2 REV WITHSCORES
ZRANGEBYSCORE $zset 1 (5 WITHSCORES
ZRANGEBYSCORE $zset 2 +inf LIMIT 0 1
ZREVRANGEBYSCORE $zset +inf 3
ZCOUNT $zset 1 4
ZCARD $zset
ZSCORE $zset $member
ZMSCORE $zset $member $member
ZRANK $zset $member
ZREVRANK $zset $member
ZUNION 2 $zset $zset WITHSCORES
ZINTER 2 $zset $zset
ZDIFF 2 $zset $zset
GEOPOS geo $member $member
GEOSEARCH geo FROMLONLAT 13 38 BYRADIUS 300 km ASC
GEODIST geo $member $member
XLEN $stream
XRANGE $stream - +
XREVRANGE $stream + - COUNT 2
XRANGE $stream - + COUNT 1
XINFO STREAM $stream
XINFO GROUPS $stream
XPENDING $stream g
SORT_RO $set ALPHA
SORT_RO $list ALPHA LIMIT 0 2
`

var choices = map[string][]string{
	"$string":     {"s1", "s2", "s3", "n1", "a", "k\xff"},
	"$hash":       {"h1", "h2", "a"},
	"$list":       {"l1", "l2", "b"},
	"$set":        {"t1", "t2", "t3", "b"},
	"$zset":       {"z1", "z2", "a"},
	"$stream":     {"x1", "x2"},
	"$any":        {"a", "b", "s1", "s2", "h1", "h2", "l1", "t1", "t2", "z1", "z2", "x1", "geo", "c:1", "c:2"},
	"$cached":     append(numbered("c:", 30), numbered("d:", 10)...),
	"$cachedhash": numbered("c:h", 8),
	"$field":      {"f", "g", "h", "i", "\xfe"},
	"$member":     {"m", "n", "o", "p", "q", "\x00\xff"},
	"$value":      {"v", "w w", "10", "", "\x01\xff", "a longer value that is not short at all"},
	"$small":      {"1", "2", "3", "5", "7", "-1"},
	"$soon":       {"1", "30", "150", "400", "1500"},
	"$db":         {"0", "1", "2"},
}

// databases are those that writers select.
const databases = 3

// vocabulary are templates taken apart.
type vocabulary [][]string

func newVocabulary(templates string) (v vocabulary) {
	for line := range strings.Lines(strings.TrimSpace(templates)) {
		v = append(v, strings.Fields(line))
	}
	return v
}

var (
	writeWords = newVocabulary(writes)
	rareWords  = newVocabulary(rareWrites)
	readWords  = newVocabulary(reads)
)

// draw draws a command.
func (v vocabulary) draw(rng *rand.Rand) []string {
	var words []string
	for _, word := range v[rng.IntN(len(v))] {
		if choices := choices[word]; choices != nil {
			word = choices[rng.IntN(len(choices))]
		}
		words = append(words, word)
	}
	return words
}

// numbered are names: so many that copies of some grow old.
func numbered(prefix string, n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint(prefix, i+1))
	}
	return names
}
