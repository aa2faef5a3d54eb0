package redis

import (
	"fmt"
	"strings"
)

// largeGrammar makes collections of hundreds of elements, which Redis keeps in
// other encodings than small ones. They have keys of their own, because a scan
// that is not asked for everything gives some of a large one.
var largeGrammar = grammar{
	templates: `
SADD $bigset $manyintsopt
SADD $bigset $manyopt
SREM $bigset $manyintsopt
SREM $bigset $manyopt
SMISMEMBER $bigset $manyopt
SCARD $bigset
SMEMBERS $bigset
SSCAN $bigset 0 COUNT 100000
SINTER $bigset $bigset
SINTERCARD 2 $bigset $bigset LIMIT 200
SUNIONSTORE $bigset $bigset $bigset
SINTERSTORE $bigset $bigset $bigset
SDIFFSTORE $bigset $bigset $bigset
HSET $bighash $manyopt
HMGET $bighash $manyopt
HDEL $bighash $manyopt
HGETALL $bighash
HLEN $bighash
HSCAN $bighash 0 COUNT 100000 MATCH m1*
ZADD $bigzset $manyscoresopt
ZADD $bigzset $addopt $manyscoresopt
ZREM $bigzset $manyopt
ZCARD $bigzset
ZRANGE $bigzset 0 -1 WITHSCORES
ZRANGE $bigzset $place $place
ZRANGE $bigzset $place $place REV WITHSCORES
ZRANGEBYSCORE $bigzset $place $place LIMIT 100 50
ZRANGEBYSCORE $bigzset $score $score WITHSCORES
ZCOUNT $bigzset $place $place
ZREMRANGEBYRANK $bigzset $place $place
ZREMRANGEBYSCORE $bigzset $place $place
ZPOPMIN $bigzset $place
ZPOPMAX $bigzset $place
ZMSCORE $bigzset $manyopt
ZUNIONSTORE $bigzset 2 $bigzset $bigset WEIGHTS 1 -2
ZINTERSTORE $bigzset 2 $bigzset $bigset
ZDIFFSTORE $bigzset 2 $bigzset $bigset
ZSCAN $bigzset 0 COUNT 100000
RPUSH $biglist $manyopt
LPUSH $biglist $manyopt
RPUSH $biglist $long $long $long
LLEN $biglist
LRANGE $biglist $place $place
LINDEX $biglist $place
LSET $biglist $place $long
LINSERT $biglist BEFORE $element $long
LINSERT $biglist AFTER $element x
LREM $biglist $place $element
LTRIM $biglist $place $place
LPOS $biglist $element COUNT 0
LPOP $biglist $place
RPOP $biglist $place
LMOVE $biglist $biglist LEFT RIGHT
110* XADD $bigstream 1-* f v
XADD $bigstream 2-* f $long g v
5* XADD $bigstream 2-* g v f v
XADD $bigstream MAXLEN ~ 120 2-* f v
XTRIM $bigstream MAXLEN $place
XTRIM $bigstream MAXLEN ~ $place
XTRIM $bigstream MAXLEN ~ $place LIMIT 150
XTRIM $bigstream MINID ~ $entry
XTRIM $bigstream MINID $entry
XDEL $bigstream $entry $entry $entry
XLEN $bigstream
XRANGE $bigstream $entry $entry
XREVRANGE $bigstream + $entry COUNT $place
XGROUP CREATE $bigstream g $entry MKSTREAM
XGROUP SETID $bigstream g $entry
XREADGROUP GROUP g c COUNT $place STREAMS $bigstream >
XREADGROUP GROUP g d STREAMS $bigstream $entry
XACK $bigstream g $entry $entry $entry
XPENDING $bigstream g
XAUTOCLAIM $bigstream g e 0 $entry COUNT $place JUSTID
XINFO GROUPS $bigstream
SETRANGE $bigstring $offset $long
APPEND $bigstring $long
SETBIT $bigstring $offset 1
BITCOUNT $bigstring $place -1
BITOP XOR $bigstring $bigstring $bigstring
STRLEN $bigstring
GETRANGE $bigstring $place $offset
TYPE $big
OBJECT ENCODING $big
OBJECT ENCODING $big
OBJECT ENCODING $big
DEL $big
EXISTS $big
EXPIREAT $big $moment
PEXPIRE $big $soon
RENAME $bigset $bigset
COPY $bigzset bigzset2 REPLACE
COPY $bighash bighash2 REPLACE
COPY $biglist biglist2 REPLACE
COPY $bigstream bigstream2 REPLACE
COPY $bigset bigset2 REPLACE
COPY $big $big DB $db
MOVE $big $db
DUMP $big
DUMP $big
DUMP $big
DUMP $big
WATCH $big $big
`,
	choices: map[string][]string{
		"$bigset":        {"bigset", "bigset2"},
		"$bighash":       {"bighash", "bighash2"},
		"$bigzset":       {"bigzset", "bigzset2"},
		"$biglist":       {"biglist", "biglist2"},
		"$bigstream":     {"bigstream", "bigstream2"},
		"$bigstring":     {"bigstring", "bigstring2"},
		"$big":           {"bigset", "bighash", "bigzset", "biglist", "bigstream", "bigstring"},
		"$manyintsopt":   {many("%d", 0, 130), many("%d", 100, 300), many("%d", 0, 600), many("-%d00000", 50, 520)},
		"$manyopt":       {many("m%d m%d", 0, 65), many("m%d x%d", 0, 130), many("m%d %d", 100, 300), many("%d %d", 0, 300), many("m%d 1", 0, 600)},
		"$manyscoresopt": {many("%d m%d", 0, 65), many("%d.5 m%d", 50, 130), many("-%d %d", 0, 300), many("1 m%d", 100, 600)},
		"$addopt":        {"NX", "XX", "GT", "LT", "CH"},
		"$place":         {"0", "1", "10", "50", "99", "100", "101", "127", "128", "129", "250", "511", "512", "-1", "-30", "-200"},
		"$score":         {"-inf", "+inf", "(10", "(64", "50.5", "(100.5", "-100", "300", "1", "(1"},
		"$entry":         {"1-1", "1-50", "1-99", "1-100", "1-101", "1-149", "1-150", "1-500", "2-0", "2-1", "2-20", "2-100", "-", "+"},
		"$offset":        {"0", "1", "99", "8191", "8192", "12800", "65536", "100001", "-1"},
		"$element":       {"m1", "m64", "x100", "m250", "1", "nosuch", "x"},
		"$long":          {strings.Repeat("l", 64), strings.Repeat("l", 65), strings.Repeat("ab", 500), strings.Repeat("c", 3000), strings.Repeat("d", 9000)},
	},
	reads: `
SMEMBERS $bigset
SINTER $bigset $bigset
HGETALL $bighash
ZRANGE $bigzset 0 -1 WITHSCORES
ZRANGEBYSCORE $bigzset $place $place
LRANGE $biglist 0 -1
LRANGE $biglist $place $place
XRANGE $bigstream - +
XLEN $bigstream
GET $bigstring
OBJECT ENCODING $big
`,
}

// many is a format, once for each number from first to last; all its verbs
// are for that number.
func many(format string, first, last int) string {
	var all []string
	for i := first; i < last; i++ {
		all = append(all, strings.ReplaceAll(format, "%d", fmt.Sprint(i)))
	}
	return strings.Join(all, " ")
}
