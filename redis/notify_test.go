package redis

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/schema"
)

// Keyspace notifications come as Redis sends them, after the commit, in order;
// and of what was undone nothing is told.

// eventScripts are commands, by the type that they need. Each type begins on
// an empty server; what is heard after each command is compared.
var eventScripts = map[string][]string{
	"string": {
		"SET k v", "SET k v", "SET k w EX 100", "SET k w KEEPTTL", "SET k w NX", "SET new w XX", "SET k x GET", "SET none x GET", "SET none y XX GET",
		"SETEX k 100 v", "PSETEX k 100000 v", "SETNX k v", "SETNX fresh v", "GETSET k v", "GETSET gs v", "GETDEL gs", "GETDEL gs",
		"GETEX k", "GETEX k EX 100", "GETEX k PERSIST", "GETEX k PERSIST", "GETEX k EXAT 1", "GETEX k", "SET k 1",
		"MSET a 1 b 2 a 3", "MSETNX a 1 c 2", "MSETNX c 1 d 2", "APPEND c x", "APPEND e x", "SETRANGE e 3 abc", "SETRANGE e 3 \"\"", "SETRANGE f 0 \"\"", "SETRANGE f 2 z",
		"INCR k", "DECR k", "INCRBY k 5", "DECRBY k 5", "INCR fresh", "INCRBYFLOAT k 1.5", "INCRBYFLOAT none2 1.5", "INCR h2",
		"GET nosuch", "MGET a nosuch b none3", "STRLEN nosuch", "GETRANGE nosuch 0 1", "GET k", "SUBSTR nosuch 0 1",
		"SET k v PX 0", "GET", "MULTI", "SET m 1", "INCR m", "LPUSHX", "DEL m", "EXEC", "MULTI", "SET m 1", "APPEND m x", "INCR m", "GET nosuch", "DEL m", "EXEC",
	},
	"generic": {
		"SET k v", "DEL k", "DEL k", "SET a 1", "SET b 1", "DEL a b none a", "SET a 1", "UNLINK a",
		"SET k v", "EXPIRE k 100", "PEXPIRE k 100000", "EXPIREAT k 9999999999", "PEXPIREAT k 9999999999000", "EXPIRE k 5 NX", "EXPIRE none 5",
		"PERSIST k", "PERSIST k", "PERSIST none", "EXPIRE k -1", "SET k v", "EXPIREAT k 1", "SET k v", "PEXPIRE k 0",
		"SET k v", "RENAME k l", "SET k w", "RENAME k l", "RENAME l l", "RENAME none l", "SET k v", "RENAMENX k l", "RENAMENX k new",
		"COPY l copy", "COPY l copy", "COPY l copy REPLACE", "COPY none copy", "COPY l copy DB 1", "MOVE l 1", "MOVE l 1", "SET l 1", "MOVE l 1", "SELECT 1", "SET one 1", "DEL l", "SELECT 0",
		"EXISTS none new", "TYPE none", "TTL none", "PTTL none", "EXPIRETIME none", "TOUCH none new", "OBJECT ENCODING none", "OBJECT REFCOUNT none", "OBJECT IDLETIME none",
		"WATCH none", "UNWATCH", "SCAN 0", "KEYS *", "RANDOMKEY", "DBSIZE", "SWAPDB 0 1", "FLUSHDB", "FLUSHALL",
	},
	"hash": {
		"HSET h a 1 b 2", "HSET h a 2", "HMSET h c 3", "HSETNX h a 1", "HSETNX h d 1", "HINCRBY h n 1", "HINCRBYFLOAT h n 1.5", "HDEL h a b", "HDEL h none", "HDEL none a",
		"HDEL h c d n", "HGET h a", "HGETALL none", "HLEN none", "HKEYS none", "HMGET none a", "HEXISTS none a", "HSTRLEN none a", "HRANDFIELD none", "HSCAN none 0", "HSET h a 1", "SET h v", "DEL h",
	},
	"list": {
		"RPUSH l a b c", "LPUSH l x", "LPUSHX l y", "RPUSHX l z", "LPUSHX none y", "LPOP l", "RPOP l", "LPOP l 2", "LPOP l 0", "RPUSH l a b c d a", "LSET l 0 q", "LINSERT l BEFORE a p", "LINSERT l AFTER none p", "LREM l 1 a",
		"LREM l 0 none", "LTRIM l 0 -2", "LTRIM l 5 1", "RPUSH l a b", "LMOVE l m LEFT RIGHT", "RPOPLPUSH l m", "LMOVE none m LEFT LEFT", "LMOVE m m LEFT RIGHT", "LMPOP 2 none m LEFT COUNT 1", "BLPOP m 1", "RPUSH m a b c",
		"BRPOP m 1", "BLMOVE m n LEFT LEFT 1", "BRPOPLPUSH m n 1", "BLMPOP 1 1 n LEFT", "LPOP n", "LPOP none", "LRANGE none 0 1", "LLEN none", "LINDEX none 0", "LPOS none x", "RPUSH l a", "LREM l 0 a", "RPUSH l a", "RPOP l 5",
	},
	"set": {
		"SADD s a b c", "SADD s a", "SADD s d", "SREM s a none", "SREM s none", "SREM none a", "SMOVE s t b", "SMOVE s t none", "SMOVE s s c", "SADD u a c", "SINTERSTORE d s u", "SINTERSTORE d s none", "SUNIONSTORE d s u", "SDIFFSTORE d s u",
		"SDIFFSTORE d none s", "SINTERSTORE d none s", "SADD p a", "SPOP p", "SPOP p", "SADD p a b", "SPOP p 5", "SPOP p 0", "SMEMBERS none", "SCARD none", "SISMEMBER none a", "SMISMEMBER none a", "SRANDMEMBER none",
		"SINTER none s", "SUNION none s", "SDIFF none s", "SINTERCARD 2 none s", "SREM s c d", "SMOVE t w b", "SSCAN none 0",
	},
	"zset": {
		"ZADD z 1 a 2 b", "ZADD z 1 a", "ZADD z 3 a", "ZADD z INCR 2 a", "ZADD z XX 1 none", "ZADD z NX 1 a", "ZINCRBY z 1 a", "ZREM z a none", "ZREM z none", "ZADD z 1 a 2 b 3 c 4 d", "ZREMRANGEBYSCORE z 1 1", "ZREMRANGEBYRANK z 0 0", "ZREMRANGEBYLEX z - +",
		"ZADD z 1 a 2 b 3 c", "ZPOPMIN z", "ZPOPMAX z", "ZPOPMIN z 5", "ZPOPMIN z", "ZADD z 1 a 2 b", "ZADD y 1 a 3 c", "ZUNIONSTORE d 2 z y", "ZINTERSTORE d 2 z y", "ZDIFFSTORE d 2 z y", "ZDIFFSTORE d 1 none", "ZRANGESTORE d z 0 -1", "ZRANGESTORE d z 5 6", "ZMPOP 1 z MIN",
		"BZPOPMIN z 1", "ZADD z 1 a", "BZPOPMAX z 1", "ZADD z 1 a", "BZMPOP 1 1 z MAX", "ZSCORE none a", "ZRANK none a", "ZCARD none", "ZRANGE none 0 -1", "ZRANDMEMBER none", "GEOADD g 13 38 p", "GEOSEARCHSTORE gd g FROMMEMBER p BYRADIUS 1 km ASC", "GEOSEARCHSTORE gd none FROMLONLAT 1 1 BYRADIUS 1 km",
	},
	"stream": {
		"XADD s 1-1 f v", "XADD s NOMKSTREAM 1-2 f v", "XADD none NOMKSTREAM 1-2 f v", "XADD s MAXLEN 1 1-3 f v", "XTRIM s MAXLEN 0", "XTRIM s MAXLEN 0", "XADD s 2-1 f v", "XDEL s 2-1", "XDEL s 2-1", "XSETID s 9-1", "XGROUP CREATE s g 0", "XGROUP CREATE n g 0 MKSTREAM",
		"XGROUP CREATECONSUMER s g c", "XGROUP CREATECONSUMER s g c", "XADD s 10-1 f v", "XREADGROUP GROUP g c2 STREAMS s >", "XACK s g 10-1", "XCLAIM s g c3 0 10-1", "XAUTOCLAIM s g c4 0 0", "XGROUP SETID s g 0", "XGROUP DELCONSUMER s g c", "XGROUP DESTROY s g", "XGROUP DESTROY s g", "XLEN none", "XRANGE none - +", "XREAD STREAMS none 0",
	},
	"bitmap": {
		"SETBIT b 7 1", "SETBIT b 7 1", "SET i 1", "SETBIT i 7 1", "SETBIT i 7 1", "SETBIT i 7 0", "SETBIT i 7 0", "SET i 1", "BITFIELD i SET u8 0 49", "BITFIELD i SET u8 0 49", "BITFIELD i INCRBY u8 0 0", "BITOP NOT d b", "BITOP AND d none none2", "BITFIELD b SET u8 0 5", "BITFIELD b GET u8 0", "GETBIT none 1", "BITCOUNT none", "BITPOS none 1", "PFADD h a b", "PFADD h a", "PFMERGE m h", "PFCOUNT none", "PFADD e",
	},
	"dump": {
		"DUMP none", "RESTORE k 0 \"\\x00\\xc0\\x05\\n\\x00c/_f\\x83/\\xb3Q\"", "DUMP k",
	},
	"sort": {
		"RPUSH l 2 1 3", "SORT l STORE d", "SORT none STORE d", "SORT l", "SORT none",
	},
}

// listenToAll makes a client hear all events of the databases.
func listenToAll(t *testing.T, h hearer) {
	h.say(t, []byte("PSUBSCRIBE"), []byte("__key*__:*"))
	h.hear(t)
}

func TestEventsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for name, script := range eventScripts {
		t.Run(name, func(t *testing.T) {
			srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
			real, ours := newPeer(t, connect()), &sessionHearer{ours: newOurs(t, srv)}
			real.tell(t, []byte("FLUSHALL"))
			heardReal, heardOurs := newPeer(t, connect()), &sessionHearer{ours: newOurs(t, srv)}
			for _, h := range []hearer{real, ours} {
				h.say(t, SplitWords(t, "CONFIG SET notify-keyspace-events KEAmn")...)
				h.hear(t)
			}
			listenToAll(t, heardReal)
			listenToAll(t, heardOurs)
			events := 0
			for _, command := range script {
				for _, h := range []hearer{real, ours} {
					h.say(t, SplitWords(t, command)...)
				}
				real.hear(t)
				ours.hear(t)
				want, got := heardReal.hear(t), heardOurs.hear(t)
				events += len(want)
				if !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
					t.Errorf("%s\n got %s\nwant %s", command, names(got), names(want))
				}
			}
			if events < len(script)/2 {
				t.Errorf("events: got %d from %d commands, which is too few to prove anything", events, len(script))
			}
		})
	}
}

// names are the channels and messages of frames of a pattern's listener.
func names(frames [][]byte) string {
	var all []string
	for _, frame := range frames {
		v, _, _ := parseValue(frame)
		all = append(all, v.elements[len(v.elements)-2].text+" "+v.elements[len(v.elements)-1].text)
	}
	return strings.Join(all, ", ")
}

// newListened is two sessions of a server with a clock of the test's own: one
// that works and one that hears all events.
func newListened(t *testing.T, events string) (worker clocked, listener *sessionHearer) {
	worker = newClocked(t)
	worker.expect(t, "CONFIG SET notify-keyspace-events "+events, "OK")
	listener = &sessionHearer{ours: newOurs(t, worker.session.srv)}
	listenToAll(t, listener)
	return worker, listener
}

func TestExpiredKeysAreToldOnce(t *testing.T) {
	w, l := newListened(t, "Exn")
	w.expect(t, "SET swept 1 PX 10", "OK", "SET over 1 PX 10", "OK", "SELECT 1", "OK", "SET \"other\\x00db\" 1 PX 10", "OK", "SELECT 2", "OK",
		"SET flushed 1 PX 10", "OK", "FLUSHDB", "OK", "SET kept 1", "OK", "SET late 1 PX 10", "OK", "SWAPDB 2 3", "OK", "SELECT 0", "OK")
	l.hear(t)
	w.advance(time.Second)
	w.expect(t, "GET swept", "(nil)", "SET over 2", "OK", "DEL swept", "(integer) 0")
	Check(t, "overwritten", names(l.hear(t)), "__keyevent@0__:expired over, __keyevent@0__:new over")
	sweeper := w.session.srv.Sweeper()
	for range 2 {
		if err := sweeper.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	Check(t, "swept", names(l.hear(t)), "__keyevent@0__:expired swept, __keyevent@1__:expired other\x00db, __keyevent@3__:expired late")
}

func TestUndoneCommandsTellNothing(t *testing.T) {
	w, l := newListened(t, "EA")
	// In one batch: those beside the one that fails are told.
	w.Run(t, "SET a 1", "HSET a f v", "INCR b", "INCR a", "APPEND a x", "INCR a")
	Check(t, "a batch", names(l.hear(t)), "__keyevent@0__:set a, __keyevent@0__:incrby b, __keyevent@0__:incrby a, __keyevent@0__:append a")
	// A command that fails half-way, which the store undoes.
	long := strings.Repeat("k", schema.MaxIDBytes)
	got := string(w.tell(t, []byte("MSET"), []byte("c"), []byte("1"), []byte(long), []byte("2")))
	Check(t, "MSET", got, "-ERR key, field or member exceeds the maximum size of 1 MiB, or the value that of 768 MiB\r\n")
	Check(t, "half a command", names(l.hear(t)), "")
	// A store that refuses the whole batch.
	s := w.session
	s.Fill(copy(s.Space(64), "SET k 1\r\nDEL a\r\n"))
	if need := s.Run(); need != NeedCommit {
		t.Fatalf("Run: got %d, want NeedCommit", need)
	}
	g, decided := groupOf(w.ours)
	w.submit(t, failing{g, firn.ErrFull}, decided)
	w.pump(t)
	Check(t, "a failed batch", names(l.hear(t)), "")
	w.Run(t, "DEL b")
	Check(t, "afterwards", names(l.hear(t)), "__keyevent@0__:del b")
}

func TestEventsAreOffByDefault(t *testing.T) {
	w, l := newListened(t, "\"\"")
	w.Run(t, "SET k 1", "DEL k", "GET k")
	Check(t, "off", names(l.hear(t)), "")
	w.Run(t, "CONFIG SET notify-keyspace-events A", "SET k 1")
	Check(t, "no channel", names(l.hear(t)), "")
	w.Run(t, "CONFIG SET notify-keyspace-events K$", "SET k 1 EX 5", "DEL k")
	Check(t, "strings alone", names(l.hear(t)), "__keyspace@0__:k set")
}

func TestReadsOfThePastMissNothing(t *testing.T) {
	w, l := newListened(t, "Em")
	w.Run(t, "AT now GET k", "CLIENT ASOF now", "GET k", "CLIENT ASOF OFF", "HISTORY GETAT k now")
	Check(t, "the past", names(l.hear(t)), "")
	w.Run(t, "GET k")
	Check(t, "the present", names(l.hear(t)), "__keyevent@0__:keymiss k")
}
