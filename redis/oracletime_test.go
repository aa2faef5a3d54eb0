package redis

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
)

// What a read command replied at a moment, it replies at every later one when
// it is asked AT that moment: what we replied then, and what a real Redis did.

// fakeClock is a clock that tests move, while the store looks at it.
type fakeClock struct{ at atomic.Pointer[time.Time] }

func (c *fakeClock) now() time.Time { return *c.at.Load() }

func (c *fakeClock) set(at time.Time) { c.at.Store(&at) }

func (c *fakeClock) advance(d time.Duration) { c.set(c.now().Add(d)) }

func newFakeClock() *fakeClock {
	c := new(fakeClock)
	c.set(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return c
}

// question is a read command in a database, and what was replied when.
type question struct {
	db     []byte
	words  [][]byte
	moment []byte
	reply  []byte
}

// inDB has the session select the question's database.
func (q *question) inDB(t *testing.T, who talker) {
	t.Helper()
	who.tell(t, []byte("SELECT"), q.db)
}

// agree asks all questions again, in the two ways that there are.
func (g *generator) agree(t *testing.T, asked []question, mine *ours) {
	t.Helper()
	unlike := func(q question, got []byte) bool {
		if step := g.unordered[string(q.words[0])]; step > 0 {
			return inOneOrder(got, step) != inOneOrder(q.reply, step)
		}
		return !bytes.Equal(got, q.reply)
	}
	for i, q := range asked {
		q.inDB(t, mine)
		at := append([][]byte{[]byte("AT"), q.moment}, q.words...)
		if got := mine.tell(t, at...); unlike(q, got) {
			t.Fatalf("seed %d, question %d: %s\n got %.2000q\nwant %.2000q", g.seed, i, quoteWords(at), got, q.reply)
		}
		mine.tell(t, []byte("CLIENT"), []byte("ASOF"), q.moment)
		if got := mine.tell(t, q.words...); unlike(q, got) {
			t.Fatalf("seed %d, question %d as of %s: %s\n got %.2000q\nwant %.2000q", g.seed, i, q.moment, quoteWords(q.words), got, q.reply)
		}
		mine.tell(t, []byte("CLIENT"), []byte("ASOF"), []byte("OFF"))
	}
}

// randomQuestion draws a read command and a database to ask it in.
func (g *generator) randomQuestion(templates []string, moment int64) question {
	return question{
		db:     []byte{"0001"[g.IntN(4)]},
		words:  g.fill(templates[g.IntN(len(templates))]),
		moment: strconv.AppendInt(nil, moment, 10),
	}
}

func TestRandomReadsAtAMomentReplyWhatTheyRepliedThen(t *testing.T) {
	for name, o := range coldOptions {
		t.Run(name, func(t *testing.T) { testTime(t, o, seed.Steps(t, 2400)/6) })
	}
	t.Run("memory=0", func(t *testing.T) { testTime(t, firn.Options{Durability: firn.None}, 400) })
}

// restarted is a store that is closed and opened again.
type restarted struct {
	options firn.Options
	path    string
	store   *firn.Store
	server  *Server
}

func (r *restarted) open(t *testing.T) *ours {
	t.Helper()
	r.close(t)
	r.options.Tables, r.options.CompactByHand = keyspace.Tables(), true
	var err error
	if r.store, err = firn.Open(r.path, r.options); err != nil {
		t.Fatal(err)
	}
	r.server = New(r.store, Options{Now: r.options.Now})
	return newOurs(t, r.server)
}

func (r *restarted) close(t *testing.T) {
	if r.store == nil {
		return
	}
	if err := r.store.Close(); err != nil {
		t.Error(err)
	}
	r.store = nil
}

// testTime sends steps random commands, asks something after each, and asks
// it all again at the end. In the middle the store is opened anew.
func testTime(t *testing.T, o firn.Options, steps int) {
	clock, g := newFakeClock(), newGenerator(t)
	templates := strings.Split(g.reads+"\n"+g.ownReads, "\n")
	o.Now = clock.now
	r := &restarted{options: o, path: filepath.Join(t.TempDir(), "firn.db")}
	mine := r.open(t)
	t.Cleanup(func() { r.close(t) })
	asker := newOurs(t, r.server)
	var asked []question
	for i := range steps {
		clock.advance(time.Duration(g.IntN(900)+1) * time.Millisecond)
		mine.tell(t, g.timedWrite()...)
		if g.IntN(4) == 0 {
			if err := keyspace.NewSweeper(r.store).Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 3 {
			q := g.randomQuestion(templates, clock.now().UnixMicro())
			q.inDB(t, asker)
			q.reply = asker.tell(t, q.words...)
			asked = append(asked, q)
		}
		if i == steps/2 {
			mine.session.Close()
			asker.session.Close()
			mine = r.open(t)
			asker = newOurs(t, r.server)
		}
	}
	clock.advance(time.Hour)
	mine.tell(t, []byte("SET"), []byte("end"), []byte("1"))
	g.agree(t, asked, asker)
}

// timedWrite draws a write, often one with an end that will come soon.
func (g *generator) timedWrite() [][]byte {
	switch g.IntN(8) {
	case 0:
		return [][]byte{[]byte("PEXPIRE"), g.draw("$anykey"), strconv.AppendInt(nil, int64(g.IntN(3000)), 10)}
	case 1:
		newer := strings.Split(g.newer, "\n")
		return g.fill(newer[g.IntN(len(newer))])
	}
	for {
		words := g.command()
		if name := string(words[0]); name != "MULTI" && name != "SELECT" {
			return words
		}
	}
}

// TestRandomMomentsAreThoseOfRealRedis: what a real Redis replied while
// commands came is what we reply AT that moment, when all is over.
func TestRandomMomentsAreThoseOfRealRedis(t *testing.T) {
	connect := startRedis(t)
	for name, o := range coldOptions {
		t.Run(name, func(t *testing.T) {
			p := newCouple(t, connect(), "3", o)
			p.g.agree(t, p.remember(t, connect(), seed.Steps(t, 10_000)/10), newThird(t, p))
		})
	}
}

// newThird is one more session of a couple's server.
func newThird(t *testing.T, p *couple) *ours {
	t.Helper()
	third := newOurs(t, p.mine.session.Server())
	third.tell(t, []byte("HELLO"), []byte("3"))
	return third
}

// remember takes steps, and asks a real Redis something after each.
func (p *couple) remember(t *testing.T, redis *theirs, steps int) (asked []question) {
	t.Helper()
	redis.tell(t, []byte("HELLO"), []byte("3"))
	templates := strings.Split(p.g.reads, "\n")
	for range steps {
		p.step(t)
		for range 2 {
			asked = append(asked, p.inquire(t, redis, templates))
		}
	}
	p.finish(t)
	return asked
}

// inquire asks a real Redis something now.
func (p *couple) inquire(t *testing.T, redis *theirs, templates []string) question {
	t.Helper()
	q := p.g.randomQuestion(templates, max(time.Now().UnixMicro(), int64(p.mine.session.last)))
	q.inDB(t, redis)
	q.reply = redis.tell(t, q.words...)
	return q
}

// finish commits what is under way, and something after it.
func (p *couple) finish(t *testing.T) {
	t.Helper()
	for range 2 { // the first may end a transaction
		p.mine.tell(t, []byte("EXEC"))
		p.mine.tell(t, []byte("SET"), []byte("end"), []byte("1"))
	}
}
