package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
)

// exactState is where every exact query begins.
var exactState = []string{
	"SET s abc", "HSET h a 1 b 22 c 3 d 4", "HPEXPIRE h 900000 FIELDS 1 d", "SADD t a b c d",
	"ZADD z 1 a 2 b 3 c 4 d 5 e 6 f", "ZADD y 0 a 0 b 0 c 0 d 0 e", "GEOADD g 1 1 a 2 2 b 3 3 c",
	"RPUSH l a b c d e f", "XADD x 1-1 f v", "XADD x 2-1 f v", "XADD x 3-1 f v", "XADD x 5-1 f v", "XADD x 6-1 f v",
}

// Writes beside field a, member a, and so on, for who follows only that.
var (
	besideString = []string{"SET s xyz", "SETRANGE s 1 q", "SET s abd", "SET other v"}
	besideField  = []string{"HSET h b 333", "HSET h e 5", "HDEL h c", "HPEXPIRE h 800000 FIELDS 1 b", "HPERSIST h FIELDS 1 d", "HINCRBY h b 1", "SET other v"}
	sameFields   = []string{"HSET h b 333", "HSET h a 2", "HINCRBY h b 1"}
	besideMember = []string{"SADD t e", "SREM t b", "SADD t 17", "SPOP other", "SADD other a"}
	besideScore  = []string{"ZADD z 9 g", "ZADD z 2.5 b", "ZREM z c", "ZINCRBY z 1 d", "ZADD z 0 h", "ZREMRANGEBYRANK z -1 -1"}
	besidePlace  = []string{"GEOADD g 5 5 c", "GEOADD g 4 4 d", "ZREM g d"}
	besideHead   = []string{"ZADD z 9 g", "ZREM z e", "ZADD z 4.5 h", "ZADD z 7 f", "ZREM z f", "ZADD z 5 m"}
	besideTail   = []string{"ZADD z 0 g", "ZREM z b", "ZADD z 1.5 h", "ZREM z a", "ZADD z 3 m"}
	besideMiddle = []string{"ZADD z 0 g", "ZADD z 9 h", "ZREM z a", "ZADD z 8 f", "ZADD z 1.5 b"}
	besideName   = []string{"ZADD y 0 aa", "ZADD y 0 dd", "ZREM y aa", "ZADD y 0 bzz"}
	besideFront  = []string{"RPUSH l x", "RPOP l", "LSET l 4 y", "LREM l 1 e", "RPUSH l z z z"}
	besideEntry  = []string{"XADD x 9-1 f v", "XADD x * f v", "XDEL x 9-1", "XDEL x 6-1", "XGROUP CREATE x g 0", "XREADGROUP GROUP g c COUNT 1 STREAMS x >"}
)

// exactQueries are queries for every command whose entry says what wakes it,
// and writes that do not.
var exactQueries = map[string][]struct {
	query string
	quiet []string
}{
	"hget": {{"h a", besideField}, {"h none", besideField}}, "hmget": {{"h a none", besideField}}, "hexists": {{"h a", besideField}},
	"hstrlen": {{"h a", besideField}}, "hexpiretime": {{"h FIELDS 1 a", besideField}}, "hpexpiretime": {{"h FIELDS 2 a none", besideField}},
	"hlen":      {{"h", sameFields}},
	"sismember": {{"t a", besideMember}, {"t none", besideMember}}, "smismember": {{"t a none", besideMember}},
	"scard":  {{"t", []string{"SADD t a", "SADD other b"}}},
	"zscore": {{"z a", besideScore}, {"z none", besideScore}}, "zmscore": {{"z a none", besideScore}},
	"zcard":  {{"z", []string{"ZADD z 7 a", "ZINCRBY z 1 b", "ZADD other 1 a"}}},
	"zcount": {{"z 3 4", besideMiddle}}, "zrangebyscore": {{"z 3 4", besideMiddle}, {"z 1 9 LIMIT 0 2", besideHead}},
	"zrevrangebyscore": {{"z 4 3 WITHSCORES", besideMiddle}, {"z 9 1 LIMIT 0 2", besideTail}},
	"zlexcount":        {{"y [b [bb", besideName}}, "zrangebylex": {{"y [b [bb", besideName}}, "zrevrangebylex": {{"y [bb [b", besideName}},
	"zrank":     {{"z c", besideHead}},
	"zrevrank":  {{"z d", besideTail}},
	"zrange":    {{"z 0 1", besideHead}, {"z 1 2 WITHSCORES", besideHead}, {"z 3 4 BYSCORE", besideMiddle}, {"z 0 1 REV", besideTail}, {"y [b [bb BYLEX", besideName}},
	"zrevrange": {{"z 0 1", besideTail}},
	"geopos":    {{"g a", besidePlace}}, "geohash": {{"g a b", besidePlace}}, "geodist": {{"g a b", besidePlace}},
	"exists": {{"s h none", append(slices.Clone(besideString), "HSET h z 1", "HDEL h b")}}, "touch": {{"z", besideScore}},
	"type": {{"l", besideFront}, {"s", besideString}}, "expiretime": {{"s", []string{"SETRANGE s 0 q", "APPEND s x"}}}, "pexpiretime": {{"z", besideScore}},
	"strlen": {{"s", besideString}}, "llen": {{"l", []string{"LSET l 0 x", "LSET l -1 y"}}}, "xlen": {{"x", []string{"XGROUP CREATE x g 0", "XSETID x 99-1"}}},
	"lrange": {{"l 0 2", besideFront}, {"l 1 1", besideFront}}, "lindex": {{"l 0", besideFront}, {"l 2", besideFront}},
	"xrange":    {{"x 2-0 5-1", besideEntry}, {"x - + COUNT 2", besideEntry}},
	"xrevrange": {{"x 5-1 2-0", besideEntry}, {"x 5-1 - COUNT 1", besideEntry}},
}

func TestExactCommandsAreNotWokenByOtherElements(t *testing.T) {
	r := newFollowRig(t, 0)
	drawn := seed.Fresh(t).Rand(1)
	for _, e := range followable(r.srv) {
		queries := exactQueries[e.Full]
		if (e.Live.On != keyspace.AspectWhole) != (len(queries) > 0) {
			t.Errorf("%s: its entry and exactQueries do not agree on whether it is exact", e.Full)
		}
		for _, tt := range queries {
			for range 3 {
				r.tell(t, []byte("FLUSHALL"))
				for _, text := range exactState {
					r.tell(t, SplitWords(t, text)...)
				}
				r.matched(t)
				q := r.follow(t, 0, strings.ToUpper(e.Full)+" "+tt.query)
				quiet := slices.Clone(tt.quiet)
				drawn.Shuffle(len(quiet), func(i, j int) { quiet[i], quiet[j] = quiet[j], quiet[i] })
				for _, text := range quiet {
					r.tell(t, SplitWords(t, text)...)
					r.matched(t)
					if now := q.now(t); now != q.reply {
						t.Fatalf("%s: %s changes the reply, which shows nothing:\n was %q\n  is %q", q.text, text, q.reply, now)
					}
					if q.stale.Load() {
						t.Errorf("%s: woken by %s (in %q)", q.text, text, quiet)
						break
					}
				}
				q.stop()
			}
		}
	}
}
