package redis

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/rdb"
)

// A value that one server dumps the other restores as the same value.

// dumpedValues are commands that make the key k, one a line, and questions
// about it. The first line is repeated n times, # standing for the numbers from
// 1 to n.
var dumpedValues = []struct {
	name  string
	n     int
	setup string
	ask   string
	pairs int // elements of the reply that belong together, 0: in order
}{
	{"string", 1, "SET k hello", "GET k", 0},
	{"string/empty", 1, `SET k ""`, "GET k", 0},
	{"string/int8", 1, "SET k -128", "GET k", 0},
	{"string/int16", 1, "SET k 32767", "GET k", 0},
	{"string/int32", 1, "SET k -2147483648", "GET k", 0},
	{"string/int64", 1, "SET k 9223372036854775807", "GET k", 0},
	{"string/compressed", 400, "APPEND k abcabcabd#", "GET k", 0},
	{"string/long", 1, "SETRANGE k 100000 x", "GET k", 0},
	{"string/bits", 1, `SET k "\x00\xff\x80\r\n"`, "GET k", 0},
	{"list", 3, "RPUSH k # x#", "LRANGE k 0 -1", 0},
	{"list/nodes", 3000, "RPUSH k value-# # -#", "LRANGE k 0 -1", 0},
	{"list/long", 1, "RPUSH k " + strings.Repeat("y", 9000) + " " + strings.Repeat("ab", 100), "LRANGE k 0 -1", 0},
	{"set/intset16", 5, "SADD k # -#", "SMEMBERS k", 1},
	{"set/intset32", 5, "SADD k #00000 -#", "SMEMBERS k", 1},
	{"set/intset64", 5, "SADD k #0000000000 -#", "SMEMBERS k", 1},
	{"set/ints", 600, "SADD k #", "SMEMBERS k", 1},
	{"set", 700, "SADD k m# # " + `""`, "SMEMBERS k", 1},
	{"hash/listpack", 20, "HSET k f# # #g v#", "HGETALL k", 2},
	{"hash/wide", 1, "HSET k f " + strings.Repeat("z", 65) + ` "" ""`, "HGETALL k", 2},
	{"hash", 600, "HSET k f# #", "HGETALL k", 2},
	{"zset/listpack", 20, "ZADD k # a# -#.5 b# 1e300 c inf d -inf e 0.1 f", "ZRANGE k 0 -1 WITHSCORES", 0},
	{"zset", 200, "ZADD k # a# -#.25 b# inf c -inf d 0.1 e", "ZRANGE k 0 -1 WITHSCORES", 0},
	{"stream", 3, "XADD k #-1 f # g x\nXADD k 9-9 other v f 1", "XRANGE k - +\nXLEN k", 0},
	{"stream/nodes", 350, "XADD k #-# f v# g w\nXDEL k 5-5 350-350\nXADD k 1000-* f # g w", "XRANGE k - +\nXLEN k\nXADD k 350-350 f v", 0},
	{"stream/cut", 300, "XADD k 1-# f v#\nXTRIM k MAXLEN 250", "XTRIM k MAXLEN ~ 151\nXRANGE k - + COUNT 1", 0},
	{"stream/empty", 1, "XADD k 5-5 f v\nXDEL k 5-5", "XRANGE k - +\nXADD k 5-5 f v\nXINFO STREAM k FULL", 0},
	{
		"stream/groups", 8, "XADD k #-1 f #\nXGROUP CREATE k g 0\nXGROUP CREATE k none $\nXGROUP CREATECONSUMER k g idle\n" +
			"XREADGROUP GROUP g a COUNT 3 STREAMS k >\nXREADGROUP GROUP g b COUNT 2 STREAMS k >\nXACK k g 2-1\nXDEL k 3-1\n" +
			"XCLAIM k g b 0 1-1 TIME 1700000000000 RETRYCOUNT 7\nXTRIM k MAXLEN 6\nXSETID k 20-5 ENTRIESADDED 100",
		"XRANGE k - +\nXINFO GROUPS k\nXPENDING k g\nXREADGROUP GROUP g b STREAMS k 0\nXACK k g 1-1\nXINFO GROUPS k", 0,
	},
	{"zset/wide", 1, "ZADD k 1 " + strings.Repeat("m", 65), "ZRANGE k 0 -1 WITHSCORES", 0},
}

// fillKey runs a setup on a server.
func fillKey(t *testing.T, who talker, setup string, n int) {
	t.Helper()
	who.tell(t, []byte("FLUSHALL"))
	first, rest, _ := strings.Cut(setup, "\n")
	if race.Enabled {
		n = min(n, 700) // still more than any small encoding holds
	}
	var commands []string
	for i := range n {
		commands = append(commands, strings.ReplaceAll(first, "#", fmt.Sprint(i+1)))
	}
	if rest != "" {
		commands = append(commands, strings.Split(rest, "\n")...)
	}
	for _, command := range commands {
		if reply := who.tell(t, SplitWords(t, command)...); reply[0] == '-' {
			t.Fatalf("%s: %s", command, reply)
		}
	}
}

// dumpOf is what DUMP k says.
func dumpOf(t *testing.T, who talker) []byte {
	t.Helper()
	v, _, err := parseValue(who.tell(t, []byte("DUMP"), []byte("k")))
	if err != nil || v.mark != '$' || v.null {
		t.Fatalf("DUMP k: %+v, %v", v, err)
	}
	return []byte(v.text)
}

func TestDumpsAreRestoredOnBothSides(t *testing.T) {
	redis := startRedis(t)()
	for _, tt := range dumpedValues {
		t.Run(tt.name, func(t *testing.T) {
			mine := newPlain(t)
			for _, who := range []talker{mine, redis} {
				fillKey(t, who, tt.setup, tt.n)
			}
			ask := func(who talker) string {
				var all []string
				for _, question := range append(strings.Split(tt.ask, "\n"), "TYPE k", "OBJECT ENCODING k") {
					reply := who.tell(t, SplitWords(t, question)...)
					answer := render(reply)
					if tt.pairs > 0 {
						answer = inOneOrder(reply, tt.pairs)
					}
					all = append(all, question+"\n"+answer)
				}
				return strings.Join(all, "\n")
			}
			dumps := map[talker][]byte{redis: dumpOf(t, redis), mine: dumpOf(t, mine)}
			want := ask(redis)
			for _, way := range []struct {
				name     string
				from, to talker
			}{{"from Redis", redis, mine}, {"to Redis", mine, redis}, {"from Redis to it", redis, redis}, {"from Firn to it", mine, mine}} {
				reply := way.to.tell(t, []byte("RESTORE"), []byte("k"), []byte("0"), dumps[way.from], []byte("REPLACE"))
				if got := render(reply); got != "OK" {
					t.Fatalf("RESTORE %s\n got %s\nwant OK", way.name, got)
				}
				if got := ask(way.to); got != want {
					t.Errorf("%s\n got %.3000s\nwant %.3000s", way.name, got, want)
				}
			}
		})
	}
}

// TestRestoresCold: what is restored and dumped does not depend on what is in
// memory, nor does the moment of asking.
func TestRestoresCold(t *testing.T) {
	for _, o := range []firn.Options{{Memory: -1}, {TailEntries: 1}} {
		o.Durability = firn.None
		for _, tt := range dumpedValues {
			hot, cold := newPlain(t), newOurs(t, New(openStore(t, o), Options{}))
			fillKey(t, hot, tt.setup, tt.n)
			payload := dumpOf(t, hot)
			cold.tell(t, []byte("RESTORE"), []byte("k"), []byte("0"), payload)
			if got := dumpOf(t, cold); !bytes.Equal(got, payload) {
				t.Errorf("%s, %+v\n got %.300q\nwant %.300q", tt.name, o, got, payload)
			}
		}
	}
}

func TestRestoreRefusesWhatIsNoValue(t *testing.T) {
	o := newPlain(t)
	o.ask(t, "SET k stays")
	for _, payload := range []string{
		"\x06x", "\x02\x02\x01a\x01a", "\x01\x00", "\x00\xc3\x02\x81\x00\x00\x00\x7f\xff\xff\xff\xff\x00a", "\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f",
	} {
		reply := o.tell(t, []byte("RESTORE"), []byte("k"), []byte("0"), rdb.Seal([]byte(payload)), []byte("REPLACE"))
		if got, want := render(reply), "(error) ERR Bad data format"; got != want {
			t.Errorf("%q\n got %s\nwant %s", payload, got, want)
		}
	}
	o.expect(t, "GET k", `"stays"`)
}

// TestRestoreKeepsTheEndsOfFields: a hash from Redis 7.4.
func TestRestoreKeepsTheEndsOfFields(t *testing.T) {
	// The earliest end, 4102444800000, in 8 bytes; then for each field how
	// much later it ends, plus 1, or 0 for never.
	payload := "\x18\x00\xd8\xc3\x2c\xbb\x03\x00\x00\x03\x01\x01a\x011\x0b\x01b\x012\x00\x01c\x013"
	o := newPlain(t)
	reply := o.tell(t, []byte("RESTORE"), []byte("h"), []byte("0"), rdb.Seal([]byte(payload)))
	if got := render(reply); got != "OK" {
		t.Fatalf("got %s\nwant OK", got)
	}
	o.expect(t, "HGETALL h", "1) \"a\"\n2) \"1\"\n3) \"b\"\n4) \"2\"\n5) \"c\"\n6) \"3\"",
		"HPEXPIRETIME h FIELDS 3 a b c", "1) (integer) 4102444800000\n2) (integer) 4102444800010\n3) (integer) -1")
}
