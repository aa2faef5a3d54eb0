package redis

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// How sorted sets are stored, and what that costs.

// zsetConversations are the files about sorted sets.
var zsetConversations = []string{"testdata/zsets.txt", "testdata/geo.txt"}

func TestColdSortedSetsReplyTheSame(t *testing.T) {
	for _, o := range []firn.Options{{Memory: -1}, {TailEntries: 1}, {Memory: -1, TailEntries: 1}} {
		o.Durability = firn.None
		for _, name := range zsetConversations {
			for _, s := range parseConversations(t, name) {
				t.Run(fmt.Sprintf("memory=%d,tail=%d/%s/%s", o.Memory, o.TailEntries, filepath.Base(name), s.name), func(t *testing.T) {
					converse(t, s, newOurs(t, New(openStore(t, o), Options{})), func(byte) bool { return true })
				})
			}
		}
	}
}

// newZSets is a session on a store of its own.
func newZSets(t testing.TB, o firn.Options) *ours {
	o.Durability = firn.None
	return newOurs(t, New(openStore(t, o), Options{}))
}

// addRange adds the members m<from> to m<to-1>, each with its number for a
// score.
func (o *ours) addRange(t testing.TB, key string, from, to int) {
	t.Helper()
	for from < to {
		next := min(from+1000, to)
		words := [][]byte{[]byte("ZADD"), []byte(key)}
		for ; from < next; from++ {
			words = append(words, strconv.AppendInt(nil, int64(from), 10), fmt.Appendf(nil, "m%07d", from))
		}
		if reply := o.tell(t, words...); reply[0] != ':' {
			t.Fatalf("ZADD: %s", reply)
		}
	}
}

func TestScoresSortAsTheirEntries(t *testing.T) {
	u := appendUID(nil, uid{7, 1})
	var last string
	for _, m := range []struct {
		score  float64
		member string
	}{
		{math.Inf(-1), "z"}, {-2.5, "b"}, {-1, ""}, {-1, "a"}, {math.Copysign(0, -1), "a"}, {0, "a\x00"}, {math.Copysign(0, -1), "a\x00b"},
		{0, "ab"}, {1e-300, "a"}, {1, "a"}, {1, "a\xff"}, {1, "\xff"}, {math.Inf(1), ""},
	} {
		id := string(tuple.AppendString(bytes.Clone(u), m.member))
		var keys []string
		scoreKeys(id, appendScore(nil, m.score), func(key []byte) { keys = append(keys, string(key)) })
		if len(keys) != 1 || keys[0] <= last {
			t.Fatalf("entries of %v %q:\n got %q\nwant one behind %q", m.score, m.member, keys, last)
		}
		last = keys[0]
		got, err := parseEntry(last, len(u))
		if err != nil || got.member != m.member || math.Float64bits(got.score) != math.Float64bits(m.score) {
			t.Errorf("entry of %v %q:\n got %+v, %v\nwant the same", m.score, m.member, got, err)
		}
	}
}

func TestDamagedScoresAreErrors(t *testing.T) {
	scoreKeys("\x10", appendScore(nil, 1), func(key []byte) { t.Errorf("entry of a damaged id:\n got %q\nwant none", key) })
	scoreKeys(string(appendUID(nil, uid{1, 1})), []byte("x"), func(key []byte) { t.Errorf("entry of a damaged score:\n got %q\nwant none", key) })
	for _, value := range [][]byte{nil, {1}, make([]byte, 9), appendScore(nil, math.NaN())} {
		if _, ok := parseScore(value); ok {
			t.Errorf("score %x:\n got one\nwant none", value)
		}
	}
	for _, key := range []string{"", "\x10a\x00", string(tuple.AppendFloat(nil, 1)), string(tuple.AppendString(tuple.AppendFloat(nil, 1), "a")) + "x"} {
		if m, err := parseEntry(key, 0); err == nil {
			t.Errorf("entry %q:\n got %v\nwant an error", key, m)
		}
	}
	for _, note := range []string{"", "\x92", "\x92\xc4\x00\xc0", "\x92\xc4\x00\xc4\x00x", "\x93"} {
		if e, err := parseZSetEnds(&keyDoc{Value: []byte(note)}); err == nil {
			t.Errorf("note %x:\n got %v\nwant an error", note, e)
		}
	}
}

// ends reads what a sorted set knows of its ends: the members there, "" where
// it knows none.
func (o *ours) ends(t *testing.T, key string) (low, high string) {
	t.Helper()
	var e zsetEnds
	err := o.store.View(func(snap *firn.Snapshot) error {
		c := newView(newCatalog(o.store, 16), nil)
		c.R = snap
		k, _, err := c.find([]byte(key))
		if err == nil {
			e, err = parseZSetEnds(&k)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !e.known {
		return "", ""
	}
	name := func(place []byte) string {
		m, err := parseEntry(string(place), 0)
		if err != nil {
			return fmt.Sprintf("%q", place)
		}
		return m.member
	}
	return name(e.low), name(e.high)
}

func TestEndsFollowTheMembers(t *testing.T) {
	o := newZSets(t, firn.Options{})
	long := strings.Repeat("l", 60)
	for _, step := range []struct{ command, low, high string }{
		{"ZADD z 1 a 2 b 3 c 4 d 5 e", "", ""},
		{"ZADD z 9 f", "", ""},
		{"ZREM z c", "a", "f"},
		{"ZREM z a", "b", "f"},
		{"ZPOPMAX z", "b", "e"},
		{"ZADD z 10 b", "d", "b"},
		{"ZADD z 0 g", "g", "b"},
		{"ZADD z 1 h 20 i 21 i", "g", "i"},
		{"ZINCRBY z 100 g", "h", "g"},
		{"ZREMRANGEBYSCORE z -inf 4", "e", "g"},
		{"ZREMRANGEBYRANK z -2 -1", "e", "b"},
		{"ZREM z e", "b", "b"},
		{"ZADD z 5 b", "b", "b"},
		{"ZADD z 5 " + long, "b", fmt.Sprintf("%q", string(tuple.AppendFloat(nil, 5))+"\x10"+long[:maxEndBytes-10])},
		{"ZREM z " + long, "b", "b"},
		{"ZREM z b", "", ""},
		{"ZADD z 1 fresh", "", ""},
	} {
		o.ask(t, step.command)
		if low, high := o.ends(t, "z"); low != step.low || high != step.high {
			t.Fatalf("ends after %s:\n got %s, %s\nwant %s, %s", step.command, low, high, step.low, step.high)
		}
	}
}

func TestTheSameScoreAgainIsNoWrite(t *testing.T) {
	o := newZSets(t, firn.Options{})
	o.ask(t, "ZADD z 1 a 0 b")
	before := o.ask(t, "KEYINFO z")
	for _, command := range []string{"ZADD z 1 a", "ZADD z CH 1 a 0 b", "ZADD z INCR 0 a", "ZINCRBY z 0 a", "ZADD z -0 b", "ZADD z GT 0 a", "ZREM z nosuch", "ZREMRANGEBYSCORE z 5 6"} {
		o.ask(t, command)
		if got := o.ask(t, "KEYINFO z"); got != before {
			t.Errorf("after %s:\n got %s\nwant %s", command, got, before)
		}
	}
}

func TestHistoryShowsSortedSets(t *testing.T) {
	o := newZSets(t, firn.Options{})
	o.ask(t, "ZADD z 2 b 1 a")
	got := render(o.tell(t, []byte("HISTORY"), []byte("GETAT"), []byte("z"), []byte("now")))
	if want := render(o.tell(t, splitWords(t, "ZRANGE z 0 -1 WITHSCORES")...)); got != want {
		t.Errorf("HISTORY GETAT:\n got %s\nwant %s", got, want)
	}
}

func TestHostileCountsAreRefused(t *testing.T) {
	o := newZSets(t, firn.Options{})
	o.ask(t, "ZADD z 1 a")
	for _, command := range []string{"ZRANDMEMBER z -10000001", "ZRANDMEMBER z -9223372036854775807"} {
		if got := o.ask(t, command); !strings.Contains(got, "out of range") {
			t.Errorf("%s:\n got %s\nwant an error", command, got)
		}
	}
	member := strings.Repeat("x", schema.MaxIDBytes)
	if got := render(o.tell(t, []byte("ZADD"), []byte("z"), []byte("1"), []byte(member))); got != "(error) "+string(errMemberLength) {
		t.Errorf("a long member:\n got %s\nwant %s", got, errMemberLength)
	}
	if got := render(o.tell(t, []byte("ZSCORE"), []byte("z"), []byte(member))); got != "(nil)" {
		t.Errorf("a long member's score:\n got %s\nwant (nil)", got)
	}
}

func TestRandomMembersOfAColdSetAreDifferent(t *testing.T) {
	o := newZSets(t, firn.Options{Memory: -1})
	o.addRange(t, "z", 0, 3*smallZSet)
	for _, count := range []int{1, 10, fewRandom, fewRandom + 1, 3 * smallZSet, 4 * smallZSet} {
		v, _, err := parseValue(o.tell(t, splitWords(t, fmt.Sprintf("ZRANDMEMBER z %d", count))...))
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[string]bool{}
		for _, e := range v.elements {
			distinct[e.text] = true
		}
		if want := min(count, 3*smallZSet); len(v.elements) != want || len(distinct) != want {
			t.Errorf("ZRANDMEMBER z %d:\n got %d members, %d different\nwant %d", count, len(v.elements), len(distinct), want)
		}
	}
	if v, _, _ := parseValue(o.tell(t, splitWords(t, "ZRANDMEMBER z -20 WITHSCORES")...)); len(v.elements) != 40 {
		t.Errorf("ZRANDMEMBER z -20 WITHSCORES:\n got %d elements\nwant 40", len(v.elements))
	}
}

// TestLargeSetsAgreeHotAndCold compares ways to read that small sets do not
// take.
func TestLargeSetsAgreeHotAndCold(t *testing.T) {
	const n = 5000
	hot, cold := newZSets(t, firn.Options{}), newZSets(t, firn.Options{Memory: -1})
	questions := []string{
		"ZRANGE z 4990 4999", "ZRANGE z 2600 2605 WITHSCORES", "ZRANGE z 10 20", "ZREVRANGE z 4000 4003", "ZRANGE z 3000 4500",
		"ZRANK z m0003333", "ZREVRANK z m0003333", "ZCOUNT z 100 (4000", "ZRANGEBYSCORE z 1000 +inf LIMIT 3000 5",
		"ZREVRANGEBYSCORE z 4000 -inf LIMIT 1000 3", "ZLEXCOUNT z - +", "ZUNION 2 z z", "ZINTERCARD 2 z z LIMIT 4000",
		"ZRANGE z 0 -1",
	}
	for _, o := range []*ours{hot, cold} {
		o.addRange(t, "z", 0, n)
		for i := 0; i < n; i += 7 {
			o.ask(t, fmt.Sprintf("ZREM z m%07d", i))
		}
		o.ask(t, "ZREMRANGEBYRANK z 0 99")
		o.ask(t, "ZINCRBY z 0.5 m0003333")
	}
	for range 2 { // the second time the set is in memory
		for _, q := range questions {
			if got, want := cold.ask(t, q), hot.ask(t, q); got != want {
				t.Errorf("%s\n got %.200s\nwant %.200s", q, got, want)
			}
		}
	}
}

func TestHotSortedSetReadsAllocateLittle(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	o := newZSets(t, firn.Options{})
	o.addRange(t, "z", 0, 100)
	for _, tt := range []struct {
		command string
		most    float64
	}{{"ZSCORE z m0000001", 0}, {"ZCARD z", 0}, {"ZSCORE nosuch a", 0}, {"ZRANK z m0000001", 20}, {"ZRANGE z 0 9", 25}} {
		input := resp.AppendCommand(nil, splitWords(t, tt.command)...)
		if got := testing.AllocsPerRun(200, func() { o.exchange(t, input) }); got > tt.most {
			t.Errorf("%s\n got %v allocations\nwant at most %v", tt.command, got, tt.most)
		}
	}
}
