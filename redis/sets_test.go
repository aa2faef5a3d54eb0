package redis

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/sets"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// What a set costs, and what chance does with it: the conversations say the
// rest.

// coldOptions are stores that have little or nothing in memory.
var coldOptions = map[string]firn.Options{
	"memory=-1": {Durability: firn.None, Memory: -1},
	"memory=1M": {Durability: firn.None, Memory: 1 << 20},
	"tail=1":    {Durability: firn.None, TailEntries: 1},
	"both":      {Durability: firn.None, Memory: -1, TailEntries: 1},
}

// newCold is a session of a store that keeps nothing in memory.
func newCold(t testing.TB) *ours {
	return newOurs(t, New(openStore(t, coldOptions["memory=-1"]), Options{}))
}

// members is the texts of an array or a set.
func (o *ours) members(t testing.TB, command string) []string {
	t.Helper()
	v, _, err := parseValue(o.tell(t, SplitWords(t, command)...))
	if err != nil || v.mark != '*' && v.mark != '~' {
		t.Fatalf("%s: got %q, want members", command, v.text)
	}
	var texts []string
	for _, e := range v.elements {
		texts = append(texts, e.text)
	}
	return texts
}

// fillSet adds n members called member:<i> to a set.
func (o *ours) fillSet(t testing.TB, key string, n int) {
	t.Helper()
	for from := 0; from < n; from += 1000 {
		words := [][]byte{[]byte("SADD"), []byte(key)}
		for i := from; i < min(n, from+1000); i++ {
			words = append(words, fmt.Appendf(nil, "member:%d", i))
		}
		o.tell(t, words...)
	}
}

func TestEveryMemberComesByChanceAndOnce(t *testing.T) {
	for name, o := range map[string]*ours{"hot": newPlain(t), "cold": newCold(t)} {
		t.Run(name, func(t *testing.T) {
			o.ask(t, "SADD s a b c d e f g h")
			all := o.members(t, "SMEMBERS s")
			seen := map[string]bool{}
			for range 500 {
				got := o.members(t, "SRANDMEMBER s 3")
				slices.Sort(got)
				if len(slices.Compact(got)) != 3 {
					t.Fatalf("SRANDMEMBER s 3: got %q, want three different members", got)
				}
				many := o.members(t, "SRANDMEMBER s -20")
				if len(many) != 20 {
					t.Fatalf("SRANDMEMBER s -20: got %d members", len(many))
				}
				for _, m := range append(got, many...) {
					if !slices.Contains(all, m) {
						t.Fatalf("got %q, no member", m)
					}
				}
				seen[strings.Trim(o.ask(t, "SRANDMEMBER s"), `"`)] = true
			}
			if len(seen) != len(all) {
				t.Errorf("of %d members only %d came", len(all), len(seen))
			}
			popped := append(o.members(t, "SPOP s 3"), strings.Trim(o.ask(t, "SPOP s"), `"`))
			o.expect(t, "SCARD s", "(integer) 4", "SISMEMBER s "+popped[0], "(integer) 0")
			popped = append(popped, o.members(t, "SPOP s 100")...)
			slices.Sort(popped)
			if !slices.Equal(popped, all) {
				t.Errorf("popped %q, want %q", popped, all)
			}
			o.expect(t, "EXISTS s", "(integer) 0")
		})
	}
}

// TestHugeColdSetsAreNotLoaded: a question about a few members of a huge set
// costs a few seeks.
func TestHugeColdSetsAreNotLoaded(t *testing.T) {
	const size = sets.MaxLoadedMembers + 1000
	o := newCold(t)
	o.fillSet(t, "huge", size)
	o.ask(t, "SADD small member:1 member:70 nosuch")
	for _, command := range []string{
		"SRANDMEMBER huge", "SRANDMEMBER huge 2", "SRANDMEMBER huge -2", "SPOP huge", "SPOP huge 2", "SISMEMBER huge member:5",
		"SINTER huge small", "SINTERCARD 2 huge small", "SDIFF small huge", "SMOVE huge small member:9", "SADD huge new", "SREM huge new",
		"SSCAN huge 0",
	} {
		input := resp.AppendCommand(nil, SplitWords(t, command)...)
		if got := testing.AllocsPerRun(1, func() { o.exchange(t, input) }); got > size/10 {
			t.Errorf("%s: got %v allocations, want a few", command, got)
		}
	}
	drawn := map[string]bool{}
	for range 100 {
		two := o.members(t, "SRANDMEMBER huge 2")
		if len(two) != 2 || two[0] == two[1] {
			t.Fatalf("SRANDMEMBER huge 2: got %q", two)
		}
		drawn[two[0]] = true
	}
	if len(drawn) < 50 {
		t.Errorf("100 draws gave only %d members", len(drawn))
	}
	popped := o.members(t, "SPOP huge 500")
	slices.Sort(popped)
	if n := len(slices.Compact(popped)); n != 500 {
		t.Errorf("SPOP huge 500: got %d members", n)
	}
}

func TestHotSetsGiveEveryMemberEquallyOften(t *testing.T) {
	o := newPlain(t)
	o.fillSet(t, "huge", sets.MaxLoadedMembers+1000)
	// One far from all others, which drawing by bytes would give half the time.
	o.ask(t, "SADD huge zzz")
	o.ask(t, "SINTERCARD 1 huge") // reads it all
	came := 0
	for _, m := range o.members(t, "SRANDMEMBER huge -1000") {
		if m == "zzz" {
			came++
		}
	}
	if came > 5 {
		t.Errorf("one of %d members came %d times in 1,000", sets.MaxLoadedMembers+1001, came)
	}
}

// TestPopsBringLargeCollectionsIntoMemory: of what is popped from the counts are
// in memory, those that the file has.
func TestPopsBringLargeCollectionsIntoMemory(t *testing.T) {
	const size = sets.MaxLoadedMembers + 1000
	path := filepath.Join(t.TempDir(), "firn.db")
	open := func() (*ours, *firn.Store) {
		store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables(), Durability: firn.None, CompactByHand: true})
		if err != nil {
			t.Fatal(err)
		}
		return newOurs(t, New(store, Options{})), store
	}
	o, store := open()
	o.fillSet(t, "huge", size)
	if err := store.Close(); err != nil { // what began since it was opened is in memory
		t.Fatal(err)
	}
	o, store = open()
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	srv := o.session.srv
	for range 3 { // the second finds the counts that the file has
		o.ask(t, "SPOP huge")
	}
	members := srv.catalog.Elements.ByID()
	err := srv.store.View(func(s *firn.Snapshot) error {
		for item, err := range s.Scan(firn.Range{Index: members, Limit: 1}) {
			n, _ := tuple.PrefixLen(item.Key, 2)
			if !s.InMemory(members, []byte(item.Key[:n])) {
				t.Error("the set is not in memory")
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before := o.ask(t, "SCARD huge")
	popped := o.members(t, "SPOP huge 10")
	slices.Sort(popped)
	if n := len(slices.Compact(popped)); n != 10 {
		t.Errorf("SPOP huge 10: got %d members", n)
	}
	if after := o.ask(t, "SCARD huge"); after == before {
		t.Errorf("SCARD stays at %s", after)
	}
}

func TestWritesThatChangeNothingWriteNothing(t *testing.T) {
	o := newPlain(t)
	o.ask(t, "SADD s a b")
	o.ask(t, "PFADD h a b")
	then := o.lastTS(t)
	for _, command := range []string{
		"SADD s a b", "SREM s x", "SMOVE s s a", "SMOVE s t x", "SPOP s 0", "SPOP nosuch", "SINTERSTORE nosuch s nosuch",
		"PFADD h a", "PFDEBUG ENCODING h",
	} {
		o.ask(t, command)
		Check(t, "the newest commit after "+command, o.lastTS(t), then)
	}
}

// TestIntsetsEndWhereRedisEndsThem: with the 513th member, and then for good.
func TestIntsetsEndWhereRedisEndsThem(t *testing.T) {
	redis, o := startRedis(t)(), newPlain(t)
	for _, n := range []int{keyspace.DefaultIntsetEntries, keyspace.DefaultIntsetEntries + 1} {
		words := [][]byte{[]byte("SADD"), []byte("s")}
		for i := range n {
			words = append(words, fmt.Append(nil, i))
		}
		for _, who := range []talker{o, redis} {
			who.tell(t, words...)
		}
		for _, command := range []string{
			"OBJECT ENCODING s", "SUNIONSTORE d s", "OBJECT ENCODING d", "SINTERSTORE d s s", "OBJECT ENCODING d",
			"SDIFFSTORE d s nosuch", "OBJECT ENCODING d", "SADD few 0 1", "SDIFFSTORE d s few few few few", "OBJECT ENCODING d",
			"SREM s 5", "OBJECT ENCODING s",
		} {
			got, want := o.ask(t, command), show(redis.tell(t, SplitWords(t, command)...), ' ')
			Check(t, fmt.Sprintf("%s with %d members", command, n), got, want)
		}
	}
}

func TestHistoryOfSetsSaysWhatHappened(t *testing.T) {
	o := newPlain(t)
	for _, command := range []string{"SADD s a b c", "SPOP s", "SREM s a b c nosuch", "SADD s 1 2", "SPOP s 9", "SADD s x", "SUNIONSTORE s s s"} {
		o.ask(t, command)
	}
	text := o.ask(t, "HISTORY GET s VALUES")
	for _, operation := range []string{"SADD", "SPOP", "SREM", "SUNIONSTORE"} {
		if !strings.Contains(text, `"`+operation+`"`) {
			t.Errorf("no %s in the history:\n%s", operation, text)
		}
	}
}

func TestHotQuestionsAboutSetsDoNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	o := newPlain(t)
	o.ask(t, "SADD s m n")
	o.ask(t, "SMEMBERS s")
	for _, command := range []string{"SISMEMBER s m", "SISMEMBER s x", "SMISMEMBER s m x", "SCARD s", "SCARD nosuch"} {
		input := resp.AppendCommand(nil, SplitWords(t, command)...)
		if allocs := testing.AllocsPerRun(200, func() { o.exchange(t, input) }); allocs != 0 {
			t.Errorf("%s\n got %v allocations\nwant none", command, allocs)
		}
	}
}

// TestRandomSetsAgreeWithASimpleModel compares sets of random members, larger
// than those of the random conversations, with maps, hot and cold.
func TestRandomSetsAgreeWithASimpleModel(t *testing.T) {
	seed := seed.Fresh(t)
	for name, o := range map[string]*ours{"hot": newPlain(t), "cold": newCold(t)} {
		rng := seed.Rand(0)
		sets := map[string]map[string]bool{}
		for _, key := range []string{"a", "b", "c"} {
			sets[key] = map[string]bool{}
			words := [][]byte{[]byte("SADD"), []byte(key)}
			for range 700 {
				member := fmt.Sprint(rng.IntN(1000))
				sets[key][member] = true
				words = append(words, []byte(member))
			}
			o.tell(t, words...)
		}
		var inter, union, diff []string
		for i := range 1000 {
			m := fmt.Sprint(i)
			a, b, c := sets["a"][m], sets["b"][m], sets["c"][m]
			if a && b && c {
				inter = append(inter, m)
			}
			if a || b || c {
				union = append(union, m)
			}
			if a && !b && !c {
				diff = append(diff, m)
			}
		}
		for _, tt := range []struct {
			command string
			want    []string
		}{{"SINTER a b c", inter}, {"SUNION a b c", union}, {"SDIFF a b c", diff}} {
			got := o.members(t, tt.command)
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s: %s (seed %d)\n got %q\nwant %q", name, tt.command, seed, got, tt.want)
			}
		}
	}
}
