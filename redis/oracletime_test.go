package redis

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
)

// What a read command replied at a moment, it replies at every later one when
// it is asked AT that moment.

// fakeClock is a clock that tests move.
type fakeClock struct{ time.Time }

func (c *fakeClock) now() time.Time { return c.Time }

func (c *fakeClock) advance(d time.Duration) { c.Time = c.Add(d) }

func newFakeClock() *fakeClock {
	return &fakeClock{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// question is a read command, and what it replied when.
type question struct {
	words  [][]byte
	moment firn.Timestamp
	reply  []byte
}

func TestReadsAtAMomentReplyWhatTheyRepliedThen(t *testing.T) {
	for _, o := range []firn.Options{
		{Durability: firn.None},
		{Durability: firn.None, Memory: -1},
		{Durability: firn.None, TailEntries: 1},
	} {
		t.Run("memory="+strconv.FormatInt(o.Memory, 10)+",tail="+strconv.Itoa(o.TailEntries), func(t *testing.T) {
			testTime(t, o, 400)
		})
	}
}

// testTime sends steps random commands, asks something after each, and asks
// it all again at the end.
func testTime(t *testing.T, o firn.Options, steps int) {
	clock, g := newFakeClock(), newGenerator(t)
	timedReads := strings.Split(g.reads, "\n")
	o.Now = clock.now
	store := openStore(t, o)
	mine := newOurs(t, New(store, Options{Now: clock.now}))
	sweeper := NewSweeper(store)
	var asked []question
	for range steps {
		clock.advance(time.Duration(g.IntN(900)+1) * time.Millisecond)
		mine.tell(t, g.timedWrite()...)
		if g.IntN(4) == 0 {
			if err := sweeper.sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			words := g.fill(timedReads[g.IntN(len(timedReads))])
			asked = append(asked, question{words, firn.Timestamp(clock.UnixMicro()), mine.tell(t, words...)})
		}
	}
	clock.advance(time.Hour)
	mine.tell(t, []byte("SET"), []byte("end"), []byte("1"))
	for i, q := range asked {
		at := append([][]byte{[]byte("AT"), strconv.AppendInt(nil, int64(q.moment), 10)}, q.words...)
		if got := mine.tell(t, at...); !bytes.Equal(got, q.reply) {
			t.Fatalf("seed %d, question %d: %s\n got %q\nwant %q", g.seed, i, quoteWords(at), got, q.reply)
		}
	}
}

// timedWrite draws a write, often one with an expiry that will come soon.
func (g *generator) timedWrite() [][]byte {
	if g.IntN(4) == 0 {
		return [][]byte{[]byte("PEXPIRE"), g.draw("$key"), strconv.AppendInt(nil, int64(g.IntN(3000)), 10)}
	}
	for {
		words := g.command()
		if name := string(words[0]); name != "MULTI" && name != "SELECT" && name != "SWAPDB" {
			return words
		}
	}
}
