package redis

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/zsets"
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

// ends reads what a sorted set knows of its ends: the members there, "" where
// it knows none.
func (o *ours) ends(t *testing.T, key string) (low, high string) {
	t.Helper()
	var e keyspace.ZSetEnds
	err := o.Store.View(func(snap *firn.Snapshot) error {
		c := keyspace.NewView(keyspace.NewCatalog(o.Store, 16), nil)
		c.R = snap
		k, _, err := c.Find([]byte(key))
		if err == nil {
			e, err = keyspace.ParseZSetEnds(&k)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !e.Known {
		return "", ""
	}
	name := func(place []byte) string {
		m, err := keyspace.ParseEntry(string(place), 0)
		if err != nil {
			return fmt.Sprintf("%q", place)
		}
		return m.Member
	}
	return name(e.Low), name(e.High)
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
		{"ZADD z 5 " + long, "b", fmt.Sprintf("%q", string(tuple.AppendFloat(nil, 5))+"\x10"+long[:keyspace.MaxEndBytes-10])},
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
	if want := render(o.tell(t, SplitWords(t, "ZRANGE z 0 -1 WITHSCORES")...)); got != want {
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
	if got := render(o.tell(t, []byte("ZADD"), []byte("z"), []byte("1"), []byte(member))); got != "(error) "+string(keyspace.ErrMemberLength) {
		t.Errorf("a long member:\n got %s\nwant %s", got, keyspace.ErrMemberLength)
	}
	if got := render(o.tell(t, []byte("ZSCORE"), []byte("z"), []byte(member))); got != "(nil)" {
		t.Errorf("a long member's score:\n got %s\nwant (nil)", got)
	}
}

func TestRandomMembersOfAColdSetAreDifferent(t *testing.T) {
	o := newZSets(t, firn.Options{Memory: -1})
	o.addRange(t, "z", 0, 3*keyspace.SmallZSet)
	for _, count := range []int{1, 10, zsets.FewRandom, zsets.FewRandom + 1, 3 * keyspace.SmallZSet, 4 * keyspace.SmallZSet} {
		v, _, err := parseValue(o.tell(t, SplitWords(t, fmt.Sprintf("ZRANDMEMBER z %d", count))...))
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[string]bool{}
		for _, e := range v.elements {
			distinct[e.text] = true
		}
		if want := min(count, 3*keyspace.SmallZSet); len(v.elements) != want || len(distinct) != want {
			t.Errorf("ZRANDMEMBER z %d:\n got %d members, %d different\nwant %d", count, len(v.elements), len(distinct), want)
		}
	}
	if v, _, _ := parseValue(o.tell(t, SplitWords(t, "ZRANDMEMBER z -20 WITHSCORES")...)); len(v.elements) != 40 {
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
	}{{"ZSCORE z m0000001", 0}, {"ZCARD z", 0}, {"ZSCORE nosuch a", 0}, {"ZRANK z m0000001", 20}, {"ZRANGE z 0 9", 30}} {
		input := resp.AppendCommand(nil, SplitWords(t, tt.command)...)
		if got := testing.AllocsPerRun(200, func() { o.exchange(t, input) }); got > tt.most {
			t.Errorf("%s\n got %v allocations\nwant at most %v", tt.command, got, tt.most)
		}
	}
}
