package redis

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// What lists cost and how they are stored.

// listNote is the note of a list.
func (o *ours) listNote(t *testing.T, key string) (q keyspace.Sequence, note []byte) {
	t.Helper()
	err := o.Store.View(func(snap *firn.Snapshot) error {
		c := &command.Call{Client: o.session, View: o.session.call.At(snap)}
		k, _, err := c.FindKind([]byte(key), keyspace.KindList)
		if err != nil {
			return err
		}
		note = k.Value
		q, err = keyspace.SequenceOf(&k)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return q, note
}

func TestNotesOfListsTellWhereTheyAre(t *testing.T) {
	o := newPlain(t)
	for _, tt := range []struct{ command, note string }{
		{"RPUSH l a", "28"},
		{"RPUSH l b c", "28"},
		{"LPUSH l z", "25f0bdbf"},
		{"RPOP l", "25f0bdbf"},
		{"LPOP l", "28"},
		{"RPUSH l c d e", "28"},
		{"LREM l 1 c", "282b3d0900"},
		{"LPUSH l z", "25f0bdbf2b3d0900"},
		{"LINSERT l AFTER b m", "25f0bdbf"}, // where c was
		{"LREM l 1 m", "25f0bdbf2b3d0900"},
		{"RPOP l 2", "25f0bdbf"}, // even again
		{"LINSERT l AFTER a m", "25f0bdbf2b0f424028282b0f4240"},
		{"LREM l 1 m", "25f0bdbf2b0f42402901282b0f4240"},
		{"RPUSH l c d", "25f0bdbf2b2dc6c02901282b0f4240"},
		{"LPOP l", "282b2dc6c02901282b0f4240"},
		{"LPOP l", "2b0f4240"},
		{"RPOP l 2", "2b0f4240"},
		{"LINSERT l AFTER b c", "2b0f4240"},
		{"LTRIM l 1 1", "2b1e8480"},
	} {
		o.ask(t, tt.command)
		if _, note := o.listNote(t, "l"); fmt.Sprintf("%x", note) != tt.note {
			t.Errorf("%s\n got %x\nwant %s", tt.command, note, tt.note)
		}
	}
}

func TestAnItemInAGapBesideLooseOnesIsLooseToo(t *testing.T) {
	o := newPlain(t)
	o.ask(t, "RPUSH l a b c d e f")
	for _, command := range []string{"LINSERT l AFTER a m", "LREM l 1 b", "LREM l 1 c", "LINSERT l AFTER m n"} {
		o.ask(t, command)
	}
	if q, _ := o.listNote(t, "l"); q.From != 0 || q.To != 3*keyspace.ItemGap {
		t.Errorf("got a list loose from %d to %d, want from 0 to %d", q.From, q.To, 3*keyspace.ItemGap)
	}
}

func TestListsOfThePastAreRead(t *testing.T) {
	c := newClocked(t)
	c.ask(t, "RPUSH l a b c d")
	c.advance(time.Minute)
	c.expect(t, "LREM l 1 b", "(integer) 1", "LINSERT l AFTER a x", "(integer) 4")
	c.advance(time.Minute)
	c.expect(t,
		"RPOPLPUSH l m", `"d"`, "LTRIM l 2 2", "OK", "LRANGE l 0 -1", `1) "c"`,
		"AT -90s LRANGE l 0 -1", "1) \"a\"\n2) \"b\"\n3) \"c\"\n4) \"d\"",
		"AT -30s LRANGE l 0 -1", "1) \"a\"\n2) \"x\"\n3) \"c\"\n4) \"d\"",
		"AT -30s LINDEX l 1", `"x"`, "AT -30s LLEN m", "(integer) 0", "AT -30s LPOS l d", "(integer) 3",
		"HISTORY GETAT l -30s", "1) \"a\"\n2) \"x\"\n3) \"c\"\n4) \"d\"")
}

func TestDamagedNotesOfListsAreErrors(t *testing.T) {
	o := newPlain(t)
	for _, note := range []string{"", "x", "\x28\x28\x28\x28", "\x28\x27\xfe", "\x28\x29\x05\x27\xfe\x28\x28", "\x28\x29\x05\x28\x29\x05\x28", "\x28\x29\x05\x28", "\x28\x00"} {
		k := keyspace.KeyDoc{Kind: keyspace.KindList, Version: 1, Length: 2, UID: keyspace.UID{TS: 1, N: 1}, Value: []byte(note)}
		if q, err := keyspace.SequenceOf(&k); err == nil {
			t.Errorf("note %q\n got %+v\nwant an error", note, q)
		}
	}
	o.putList(t, &keyspace.KeyDoc{Kind: keyspace.KindList, Version: 1, Length: 2, UID: keyspace.UID{TS: 1, N: 1}, Value: []byte{0x28}})
	for _, command := range []string{
		"LRANGE l 0 -1", "LINDEX l 0", "LPOP l", "RPOP l 1", "LREM l 0 a", "LPOS l a", "LINSERT l AFTER a b", "LTRIM l 1 1", "RPOPLPUSH l l", "LMOVE l x LEFT LEFT",
	} {
		if got, want := o.ask(t, command), "(error) ERR internal error"; got != want {
			t.Errorf("%s of a list without its items\n got %s\nwant %s", command, got, want)
		}
	}
}

// putList stores the key document of the list l, and an item at each position.
func (o *ours) putList(t *testing.T, k *keyspace.KeyDoc, positions ...int64) {
	t.Helper()
	_, err := o.Store.Update(t.Context(), func(tx *firn.Tx) error {
		for _, position := range positions {
			id := tuple.AppendInt(keyspace.AppendUID(nil, k.UID), position)
			if err := tx.Put(o.Store.Table(keyspace.ElementsTable), id, []byte("x")); err != nil {
				return err
			}
		}
		return tx.Put(o.Store.Table(keyspace.KeysTable), keyspace.AppendKeyID(nil, keyspace.UID{}, []byte("l")), keyspace.NewKeyDoc("RPUSH", k))
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAListThatComesToTheLastPositionIsWrittenAnew(t *testing.T) {
	for _, tt := range []struct {
		position int64
		push     string
	}{{keyspace.MaxPosition - 5, "RPUSH"}, {5 - keyspace.MaxPosition, "LPUSH"}} {
		o := newPlain(t)
		o.putList(t, &keyspace.KeyDoc{Kind: keyspace.KindList, Version: 1, Length: 1, UID: keyspace.UID{TS: 1, N: 1}, Value: tuple.AppendInt(nil, tt.position)}, tt.position)
		o.expect(t, tt.push+" l a b", "(integer) 3", "LLEN l", "(integer) 3", "LPOS l x", map[string]string{"RPUSH": "(integer) 0", "LPUSH": "(integer) 2"}[tt.push])
		if q, _ := o.listNote(t, "l"); q.UID == (keyspace.UID{TS: 1, N: 1}) || q.Last-q.First != 2*keyspace.ItemGap || q.First < -2*keyspace.ItemGap {
			t.Errorf("%s: got %+v, want positions around 0 in a new collection", tt.push, q)
		}
	}
}

// rows is how many rows f makes the store write.
func (o *ours) rows(f func()) int64 {
	before := o.Store.Stats().Rows
	f()
	return o.Store.Stats().Rows - before
}

func TestInsertingAtOnePlaceMovesFewItems(t *testing.T) {
	if race.Enabled {
		t.Skip("it counts, in one goroutine")
	}
	const n = 1500
	for _, tt := range []struct {
		name, before, insert string
	}{
		{"at the start", "RPUSH l x y", "LINSERT l AFTER x v"},
		{"in a long list", "RPUSH l x " + strings.Repeat("y ", 5000), "LINSERT l AFTER x v"},
		{"before the end", "RPUSH l x y", "LINSERT l BEFORE y v"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newPlain(t)
			o.ask(t, tt.before)
			input := pipeline(tt.insert, 500)
			written := o.rows(func() {
				for range n / 500 {
					o.exchange(t, input)
				}
			})
			perInsert := float64(written)/n - 2 // the item and the key
			t.Logf("%.1f rows besides the item and the key", perInsert)
			if perInsert > 4 {
				t.Errorf("got %.1f rows for an insertion besides the item and the key, want at most 4", perInsert)
			}
		})
	}
}

// pipeline is a command, n times.
func pipeline(command string, n int) []byte {
	var words [][]byte
	for _, word := range strings.Fields(command) {
		words = append(words, []byte(word))
	}
	return []byte(strings.Repeat(string(resp.AppendCommand(nil, words...)), n))
}

func TestListsWriteWhatIsLess(t *testing.T) {
	o := newPlain(t)
	fill := func() { o.ask(t, "DEL l"); o.ask(t, "RPUSH l"+strings.Repeat(" a b", 500)) }
	for _, tt := range []struct {
		command string
		most    int64 // rows, with the key's
	}{
		{"LTRIM l 0 9", 11}, // ten are copied
		{"LTRIM l 10 -1", 11},
		{"LTRIM l 5 -6", 11},
		{"LTRIM l 1000 -1", 1},
		{"LPOP l 1000", 1},
		{"LMPOP 1 l LEFT COUNT 2000", 1},
		{"LREM l 0 a", 501},
		{"LREM l 3 b", 4},
		{"LTRIM l 0 -1", 0},
		{"LREM l 0 c", 0},
		{"DEL l", 1},
	} {
		fill()
		if got := o.rows(func() { o.ask(t, tt.command) }); got > tt.most {
			t.Errorf("%s of 1000 items\n got %d rows\nwant at most %d", tt.command, got, tt.most)
		}
	}
}

// reopened is a session on a store with a list of n items that was closed
// since, so that nothing of it is in memory.
func reopened(t *testing.T, o firn.Options, n int) *ours {
	t.Helper()
	o.Tables, o.Durability, o.CompactByHand = keyspace.Tables(), firn.None, true
	path := filepath.Join(t.TempDir(), "firn.db")
	for i := range 2 {
		store, err := firn.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		s := newOurs(t, New(store, Options{}))
		if i == 1 {
			t.Cleanup(func() {
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
			return s
		}
		for range n / 1000 {
			s.ask(t, "RPUSH l"+strings.Repeat(" v", 1000))
		}
		s.ask(t, "LSET l 5000 m")
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return nil
}

func TestAColdListIsNotLoadedForItsEnds(t *testing.T) {
	const n = 12_000 // not so many that its counts come into memory by themselves
	o := reopened(t, firn.Options{}, n)
	for _, command := range []string{
		"LINDEX l 0", "LINDEX l -1", "LINDEX l 10000", "LRANGE l 100 110", "LRANGE l -10 -1", "LRANGE l 5000 7000", "LSET l 7777 v",
		"RPUSH l v", "LPUSH l v", "LPOP l", "RPOP l 10", "RPOPLPUSH l l", "LTRIM l 1 -2", "LPOS l v", "LREM l 1 m", // and now there is a hole
		"LINDEX l 0", "LINDEX l -1", "LINDEX l 100", "LRANGE l 100 110", "LRANGE l -10 -1", "RPUSH l v", "LPOP l", "RPOP l 10", "LMOVE l l LEFT RIGHT",
		"LINSERT l AFTER v v", // and now one stands anywhere
		"LINDEX l 0", "LINDEX l -500", "LRANGE l 0 1", "LSET l -2 v", "LPUSH l v", "LPOP l", "RPOP l 10", "LMOVE l l LEFT RIGHT", "LTRIM l 1 -2", "LREM l -1 v",
	} {
		if got := o.ask(t, command); strings.HasPrefix(got, "(error)") {
			t.Errorf("%s\n got %s", command, got)
		}
		if got := o.Store.Stats().HeadRanges; got != 0 {
			t.Fatalf("%s\n got %d ranges in memory\nwant none", command, got)
		}
	}
	o.expect(t, "LINDEX l 10000", `"v"`)
	if got := o.Store.Stats().HeadRanges; got != 1 {
		t.Errorf("after a look at the middle\n got %d ranges in memory\nwant 1", got)
	}
}

// quickest is the least time that f takes of several.
func quickest(of int, f func()) time.Duration {
	least := time.Duration(1 << 62)
	for range of {
		began := time.Now()
		f()
		least = min(least, time.Since(began))
	}
	return least
}

// TestAQueueIsAsFastAtTheEndAsAtTheBeginning moves items through a queue that
// is never empty. FIRN_SOAK is how many.
func TestAQueueIsAsFastAtTheEndAsAtTheBeginning(t *testing.T) {
	if race.Enabled {
		t.Skip("it is about time")
	}
	for _, tt := range []struct {
		name string
		o    firn.Options
		n    int
		prep string
	}{
		{"in memory", firn.Options{}, 40_000, "RPUSH l a b c"},
		{"with a hole", firn.Options{}, 10_000, "LREM l 1 b"},
		{"at any position", firn.Options{}, 10_000, "LINSERT l AFTER b m"},
		{"cold", firn.Options{Memory: -1, TailEntries: 4096}, 10_000, "RPUSH l a b c"},
		{"cold, at any position", firn.Options{Memory: -1, TailEntries: 4096}, 5_000, "LINSERT l AFTER b m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Durability = firn.None
			o := newOurs(t, New(openStore(t, tt.o), Options{}))
			o.ask(t, "RPUSH l a b c d")
			o.ask(t, tt.prep)
			input := slices.Concat(pipeline("RPUSH l "+strings.Repeat("x", 64), 250), pipeline("LPOP l", 250))
			turn := func() { o.exchange(t, input) }
			first := quickest(10, turn)
			for range seed.Steps(t, tt.n) / 250 {
				turn()
			}
			last := quickest(10, turn)
			t.Logf("first %s, last %s for 250 pushes and 250 pops", first, last)
			if last > 3*first+2*time.Millisecond {
				t.Errorf("got %s at the end, want about %s as at the beginning", last, first)
			}
		})
	}
}

func TestAQueueWithItemsThatStayIsWalkedInTheTimeOfItsLength(t *testing.T) {
	o := newPlain(t)
	o.ask(t, "RPUSH l stuck b")
	for i := range 300 {
		if i%100 == 99 {
			o.ask(t, "LINSERT l AFTER stuck b") // items stand anywhere
		}
		for _, command := range []string{"RPUSH l a b", "LREM l 1 a", "LREM l 1 b"} {
			o.ask(t, command)
		}
		if q, _ := o.listNote(t, "l"); q.Removed() > q.Length+keyspace.MinHoles {
			t.Fatalf("got %d items removed between the ends of a list of %d", q.Removed(), q.Length)
		}
	}
	o.expect(t, "LINDEX l 0", `"stuck"`)
}

func TestHotListsDoNotAllocateToBeRead(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	o := newPlain(t)
	o.ask(t, "RPUSH l a b c d")
	for command, most := range map[string]float64{"LLEN l": 0, "LINDEX l 2": 0, "LINDEX l -1": 0, "LRANGE l 0 2": 3} {
		input := pipeline(command, 1)
		if allocs := testing.AllocsPerRun(200, func() { o.exchange(t, input) }); allocs > most {
			t.Errorf("%s\n got %v allocations\nwant at most %v", command, allocs, most)
		}
	}
}

func BenchmarkList(b *testing.B) {
	for _, tt := range []struct{ name, prepare, command string }{
		{"LPUSH", "PING", "LPUSH l " + strings.Repeat("x", 64)},
		{"RPUSH+LPOP", "RPUSH l a b c", "RPUSH l x;LPOP l"},
		{"LRANGE_100", "RPUSH l" + strings.Repeat(" xxx", 100), "LRANGE l 0 99"},
		{"LINDEX", "RPUSH l" + strings.Repeat(" xxx", 100), "LINDEX l 50"},
		{"LMOVE", "RPUSH l a b c", "LMOVE l l LEFT RIGHT"},
	} {
		b.Run("command="+tt.name, func(b *testing.B) {
			o := newOurs(b, New(openStore(b, firn.Options{Durability: firn.None}), Options{}))
			o.ask(b, tt.prepare)
			commands := strings.Split(tt.command, ";")
			var input []byte
			for range 100 {
				for _, command := range commands {
					input = append(input, pipeline(command, 1)...)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				o.exchange(b, input)
			}
			b.ReportMetric(100*float64(len(commands))*float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
}
