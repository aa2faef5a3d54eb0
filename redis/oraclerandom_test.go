package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// Random commands get the same replies from us and from a real Redis.
//
// FIRN_SOAK is how many to send instead of 3,000; FIRN_SEED repeats a run.

func TestRandomCommandsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for _, proto := range []string{"2", "3"} {
		t.Run("proto="+proto, func(t *testing.T) { testRandom(t, connect(), []byte(proto)) })
	}
}

// testRandom compares random commands in one version of the protocol.
func testRandom(t *testing.T, redis *theirs, proto []byte) {
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, who := range []talker{mine, redis} {
		who.tell(t, []byte("FLUSHALL"))
		who.tell(t, []byte("HELLO"), proto)
	}
	g := newGenerator(t)
	var script []string
	inMulti := false
	for i := range envNumber(t, "FIRN_SOAK", 3000) {
		words := g.command()
		for inMulti && isUnordered(words) {
			words = g.command() // its reply would be inside EXEC's
		}
		script = append(script, quoteWords(words))
		got, want := mine.tell(t, words...), redis.tell(t, words...)
		switch name := string(words[0]); name {
		case "MULTI":
			inMulti = true
		case "EXEC", "DISCARD":
			inMulti = inMulti && len(words) > 1 // with an argument it is refused
		case "HGETALL", "HSCAN":
			got, want = []byte(inOneOrder(got, 2)), []byte(inOneOrder(want, 2))
		case "KEYS", "SCAN", "HKEYS", "HVALS":
			got, want = []byte(inOneOrder(got, 1)), []byte(inOneOrder(want, 1))
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d, command %d\n got %q\nwant %q\nafter\n%s", g.seed, i, got, want,
				strings.Join(script[max(0, len(script)-40):], "\n"))
		}
	}
	if len(script) < 1000 {
		t.Errorf("only %d commands: too few to say anything", len(script))
	}
}

// isUnordered says whether the elements of a reply have no order of their own.
func isUnordered(words [][]byte) bool {
	return slices.Contains([]string{"KEYS", "SCAN", "HKEYS", "HVALS", "HGETALL", "HSCAN"}, string(words[0]))
}

// envNumber is a number from the environment.
func envNumber(t testing.TB, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// quoteWords shows a command as it can be typed.
func quoteWords(words [][]byte) string {
	var out []string
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return strings.Join(out, " ")
}

// generator makes commands over few keys and fields, so that they meet.
type generator struct {
	*rand.Rand
	seed uint64
}

func newGenerator(t testing.TB) *generator {
	seed := uint64(envNumber(t, "FIRN_SEED", int(rand.Uint32())))
	t.Logf("seed %d", seed)
	return &generator{rand.New(rand.NewPCG(seed, 0)), seed}
}

// template is a command's words; those with a leading $ are drawn by word, and
// a + at the end repeats what follows the key.
var templates = strings.Split(strings.TrimSpace(`
GET $key
SET $key $value
SET $key $value
SET $key $value $setopt
SET $key $value $setopt $setopt
SET $key $value $setopt $setopt $setopt
SETEX $key $seconds $value
PSETEX $key $millis $value
SETNX $key $value
GETSET $key $value
GETDEL $key
GETEX $key
GETEX $key $getexopt
GETEX $key $getexopt $getexopt
MGET $key $key $key
MSET $key $value $key $value
MSETNX $key $value $key $value
STRLEN $key
APPEND $key $value
GETRANGE $key $small $small
SUBSTR $key $small $small
SETRANGE $key $small $value
INCR $key
DECR $key
INCRBY $key $number
DECRBY $key $number
INCRBYFLOAT $key $float
DEL $key
DEL $key $key
UNLINK $key
EXISTS $key $key
TOUCH $key
TYPE $key
TYPE $key
RENAME $key $key
RENAMENX $key $key
COPY $key $key
COPY $key $key REPLACE
COPY $key $key DB $db
COPY $key $key DB $db REPLACE
MOVE $key $db
SELECT $db
DBSIZE
KEYS $pattern
SCAN 0 COUNT 1000 MATCH $pattern
SCAN 0 COUNT 1000 TYPE $type
SWAPDB $db $db
FLUSHDB
EXPIREAT $key $moment
EXPIREAT $key $moment $expireopt
PEXPIREAT $key $momentms $expireopt
PEXPIREAT $key $momentms
EXPIREAT $key $moment $expireopt $expireopt
EXPIRE $key $seconds
PEXPIRE $key $millis
PERSIST $key
EXPIRETIME $key
PEXPIRETIME $key
OBJECT ENCODING $key
HSET $key $field $value
HSET $key $field $value $field $value
HMSET $key $field $value $field $value
HSETNX $key $field $value
HGET $key $field
HMGET $key $field $field
HGETALL $key
HKEYS $key
HVALS $key
HLEN $key
HSTRLEN $key $field
HEXISTS $key $field
HDEL $key $field
HDEL $key $field $field $field
HINCRBY $key $field $number
HINCRBYFLOAT $key $field $float
HSCAN $key 0
HSCAN $key 0 MATCH $pattern COUNT 1000
HRANDFIELD $key 0
MULTI
EXEC
DISCARD
`), "\n")

// choices are what the words of templates are drawn from. Expiries are fixed
// moments, because the two servers do not run a command at the same one,
// and SET takes none that has passed, because Redis counts such a key in DBSIZE.
var choices = map[string][]string{
	"$key":       {"a", "b", "c", "d", "", "\x00", "a\x00b", "k\r\n\xff"},
	"$field":     {"f", "g", "h", "", "f\x00", "\xff\xfe", strings.Repeat("x", 65)},
	"$value":     {"", "v", "w w", "1", "10", "-5", "9999", "10000", "3.5", "1e3", "\x00\x01\xff", " 1", "9223372036854775807", "-9223372036854775808", strings.Repeat("y", 44), strings.Repeat("z", 70)},
	"$number":    {"1", "-1", "5", "100", "0", "9223372036854775807", "-9223372036854775808", "x", "1.5", "", "+1", " 1"},
	"$float":     {"1", "-1.5", "0.1", "1e3", "3.0e-3", "x", "", "inf", "nan", "1e400", "100000000000000000000"},
	"$small":     {"0", "1", "3", "-1", "-3", "10", "100", "-100", "x"},
	"$seconds":   {"0", "-1", "x", "9223372036854775807"},
	"$millis":    {"0", "-1", "x", "9223372036854775807"},
	"$moment":    {"4102444800", "4102444801", "4102444799", "1", "0", "-1", "x", "9223372036854775807"},
	"$momentms":  {"4102444800123", "4102444800500", "4102444799000", "1", "x", "9223372036854775807"},
	"$setopt":    {"NX", "XX", "GET", "KEEPTTL", "EXAT 4102444800", "PXAT 4102444800123", "EX 0", "EX x", "EX", "nx", "FOO", ""},
	"$getexopt":  {"PERSIST", "EXAT 4102444800", "PXAT 4102444800123", "PXAT 1", "EX 0", "EX x", "EX", "NX"},
	"$expireopt": {"NX", "XX", "GT", "LT", "gt", "FOO"},
	"$db":        {"0", "1", "2", "0", "1", "2", "15", "16", "-1", "x"},
	"$pattern":   {"*", "a*", "?", "[a-c]", "", "a\x00*", "*\xff", "f*", "nosuch"},
	"$type":      {"string", "hash", "HASH", "list", "foo"},
}

// command draws a command, in one case of thirty with an argument too few or
// too many.
func (g *generator) command() [][]byte {
	template := templates[g.IntN(len(templates))]
	if strings.HasPrefix(template, "FLUSHDB") && g.IntN(10) > 0 {
		template = "DBSIZE" // so that something gathers between two of them
	}
	var words [][]byte
	for i, word := range strings.Fields(template) {
		drawn := word
		if from, ok := choices[word]; ok {
			drawn = from[g.IntN(len(from))]
		}
		if strings.HasSuffix(word, "opt") && i > 0 {
			for _, part := range strings.Split(drawn, " ") {
				words = append(words, []byte(part))
			}
			continue
		}
		words = append(words, []byte(drawn))
	}
	if template == "EXEC" || string(words[0]) == "HRANDFIELD" {
		return words
	}
	switch g.IntN(60) {
	case 0:
		words = words[:max(1, len(words)-1)]
	case 1:
		words = append(words, []byte("extra"))
	}
	return words
}
