package redis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// A client that comes back with copies learns of each that has changed, and
// need not forget the others.

// token is the one in HELLO's answer.
func (o *ours) token(t testing.TB) string {
	t.Helper()
	return tokenIn(t, []byte(o.Run(t, "HELLO 3")))
}

func tokenIn(t testing.TB, reply []byte) string {
	t.Helper()
	_, token, ok := strings.Cut(string(reply), "$5\r\ntoken\r\n$33\r\n")
	if !ok {
		t.Fatalf("HELLO: got %q, want a token in it", reply)
	}
	return token[:33]
}

// comeBack is a new client with copies as of a token.
func comeBack(t testing.TB, srv *Server, token, options string) (c *ours, told string) {
	t.Helper()
	c = newOurs(t, srv)
	c.Run(t, "HELLO 3")
	return c, c.Run(t, "CLIENT TRACKING ON "+options+" SINCE "+token)
}

const stale = ">2\r\n$10\r\ninvalidate\r\n"

func TestClientsThatComeBackAreToldOfTheKeysThatTheyName(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	srv := a.session.srv
	b.Run(t, "MSET k1 1 k2 2 k3 3 k4 4", "HSET h f v", "SET gone 1")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "MGET k1 k2 k3 k4 gone never", "HGETALL h")
	token := a.token(t)
	a.session.Close()
	b.Run(t, "SET k1 x", "HSET h f w", "DEL gone", "GET k2")
	c, told := comeBack(t, srv, token, "")
	Check(t, "the answer", told, "+OK\r\n")
	Check(t, "what has changed comes first", c.Run(t, "EXISTS k1 k2 gone never h"), stale+"*3\r\n$2\r\nk1\r\n$4\r\ngone\r\n$1\r\nh\r\n:3\r\n")
	Check(t, "once", c.Run(t, "EXISTS k1 k2 gone never h"), ":3\r\n")
	b.Run(t, "SET k2 x")
	Check(t, "named keys are tracked", c.Run(t, "PING"), stale+"*1\r\n$2\r\nk2\r\n+PONG\r\n")
	Check(t, "nobody is told twice", c.Run(t, "GET k2", "GET k1"), "$1\r\nx\r\n$1\r\nx\r\n")
	b.Run(t, "SET k3 x")
	Check(t, "a key that is not named yet", c.Run(t, "PING", "MULTI", "PING", "GET k3", "EXEC"),
		"+PONG\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n"+stale+"*1\r\n$2\r\nk3\r\n*2\r\n+PONG\r\n$1\r\nx\r\n")
	Check(t, "behind a write", string(c.send(t, []byte("SET w 1\r\nGET k4\r\n"))), "+OK\r\n$1\r\n4\r\n")
	b.Run(t, "FLUSHALL")
	Check(t, "flush", c.Run(t, "PING", "GET k4"), stale+"_\r\n+PONG\r\n_\r\n")
}

func TestClientsThatComeBackToPrefixesAreTold(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	srv := a.session.srv
	b.Run(t, "MSET a1 1 a2 2 b1 3 b2 4 c 5", "SET a:ends 1 PX 1")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST PREFIX a PREFIX b")
	token := a.token(t)
	a.session.Close()
	b.Run(t, "SET b2 x", "SET a2 x", "DEL a1", "SET c x", "SELECT 3", "SET b3 x", "SET a2 y")
	c, told := comeBack(t, srv, token, "BCAST PREFIX a PREFIX b")
	told = strings.Replace(told, "*3\r\n$2\r\na1\r\n$2\r\na2\r\n$6\r\na:ends\r\n", "*2\r\n$2\r\na1\r\n$2\r\na2\r\n", 1) // it may have ended
	Check(t, "a push for each prefix, in order", told, stale+"*2\r\n$2\r\na1\r\n$2\r\na2\r\n"+stale+"*2\r\n$2\r\nb2\r\n$2\r\nb3\r\n+OK\r\n")
	token = c.token(t)
	_, told = comeBack(t, srv, token, "BCAST PREFIX b")
	Check(t, "nothing has changed", told, "+OK\r\n")
	b.Run(t, "SELECT 5", "SET x 1", "FLUSHDB")
	_, told = comeBack(t, srv, token, "BCAST PREFIX b")
	Check(t, "FLUSHDB", told, stale+"_\r\n+OK\r\n")
}

func TestKeysThatEndedWhileAClientWasAwayHaveChanged(t *testing.T) {
	w, _ := newListened(t, "\"\"")
	srv := w.session.srv
	a := newOurs(t, srv)
	w.Run(t, "SET swept 1 PX 10", "SET over 1 PX 10", "SET stays 1 PX 100000", "HSET h f v", "HSET h g v", "HPEXPIRE h 10 FIELDS 1 f")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	token := a.token(t)
	w.advance(time.Second)
	bcast, told := comeBack(t, srv, token, "BCAST")
	Check(t, "by prefix", told, stale+"*3\r\n$1\r\nh\r\n$4\r\nover\r\n$5\r\nswept\r\n+OK\r\n")
	c, _ := comeBack(t, srv, token, "")
	Check(t, "named", c.Run(t, "EXISTS over stays h"), stale+"*2\r\n$4\r\nover\r\n$1\r\nh\r\n:2\r\n")
	if err := srv.Sweeper().Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	Check(t, "swept", c.Run(t, "EXISTS swept"), stale+"*1\r\n$1\r\nh\r\n"+stale+"*1\r\n$4\r\nover\r\n"+stale+"*1\r\n$5\r\nswept\r\n:0\r\n")
	bcast.take(t)
}

// TestWhatIsNotKnownEmptiesTheCache: and what cannot be is an error.
func TestWhatIsNotKnownEmptiesTheCache(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None, Retention: time.Nanosecond})
	srv := a.session.srv
	b.Run(t, "MSET kept 1 changed 1 gone 1")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	token := a.token(t)
	b.Run(t, "SET changed 2", "DEL gone", "SET z 1")
	<-time.After(time.Millisecond)
	if _, err := srv.store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Run(t, "SET z 2")
	if _, err := srv.store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, told := comeBack(t, srv, token, "BCAST")
	Check(t, "compacted, by prefix", told, stale+"_\r\n+OK\r\n")
	c, told := comeBack(t, srv, token, "OPTOUT")
	Check(t, "compacted", told, "+OK\r\n")
	Check(t, "a key that is there is as old as it is", c.Run(t, "EXISTS kept changed gone"), stale+"*2\r\n$7\r\nchanged\r\n$4\r\ngone\r\n:2\r\n")

	forked := New(openStore(t, firn.Options{}), Options{})
	for _, mode := range []string{"", "BCAST"} {
		f, told := comeBack(t, forked, token, mode)
		Check(t, "another store's token "+mode, told, stale+"_\r\n+OK\r\n")
		Check(t, "afterwards", f.Run(t, "EXISTS kept"), ":0\r\n")
	}
	d := newOurs(t, srv)
	d.Run(t, "HELLO 3")
	for when, want := range map[string]string{
		"9000000000000000": "-FUTURE ", "nonsense": "-ERR ", "@x": "-ERR ", "": "-ERR ",
	} {
		if got := string(d.tell(t, []byte("CLIENT"), []byte("TRACKING"), []byte("ON"), []byte("SINCE"), []byte(when))); !strings.HasPrefix(got, want) {
			t.Errorf("SINCE %q: got %q, want %s…", when, got, want)
		}
	}
	Check(t, "inside MULTI", strings.SplitAfter(d.Run(t, "MULTI", "CLIENT TRACKING ON SINCE "+token, "EXEC"), "*1\r\n")[1], "-"+string(errInMulti)+"\r\n")
	Check(t, "what is refused does not track", d.Run(t, "CLIENT GETREDIR"), ":-1\r\n")
}

func TestKeysOfAnotherKeyspaceHaveChanged(t *testing.T) {
	for _, command := range []string{"FLUSHDB", "SWAPDB 0 1"} {
		a, b := NewPair(t, firn.Options{Durability: firn.None})
		b.Run(t, "SET k 1")
		a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
		token := a.token(t)
		a.session.Close()
		b.Run(t, command)
		c, _ := comeBack(t, b.session.srv, token, "")
		Check(t, command, c.Run(t, "EXISTS k"), stale+"*1\r\n$1\r\nk\r\n:0\r\n")
	}
}

// TestClientsThatTrackAlreadyMayComeBack: what they have read before they said
// so, is not what they had copies of.
func TestClientsThatTrackAlreadyMayComeBack(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
	token := a.token(t)
	a.session.Close()
	b.Run(t, "SET k 1")
	c := newOurs(t, b.session.srv)
	c.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
	Check(t, "the answer", c.Run(t, "CLIENT TRACKING ON SINCE "+token), "+OK\r\n")
	Check(t, "the token is as of then", c.token(t), token)
	Check(t, "named", c.Run(t, "STRLEN k", "STRLEN k"), stale+"*1\r\n$1\r\nk\r\n:1\r\n:1\r\n")
	Check(t, "it has named all", c.Run(t, "CLIENT TRACKING ON", "GET j"), "+OK\r\n_\r\n")
	if later := c.token(t); later == token {
		t.Error("the token is that of before")
	}
}

func TestCopiesOfAnotherDatabaseAreNotGood(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	c, _ := comeBack(t, b.session.srv, a.token(t), "")
	Check(t, "the same", c.Run(t, "SELECT 0"), "+OK\r\n")
	Check(t, "another", c.Run(t, "SELECT 1"), stale+"_\r\n+OK\r\n")
	Check(t, "then there are none", c.Run(t, "SELECT 0"), "+OK\r\n")
	d, _ := comeBack(t, b.session.srv, a.token(t), "")
	Check(t, "inside MULTI", d.Run(t, "MULTI", "SELECT 1", "EXEC"), "+OK\r\n+QUEUED\r\n"+stale+"_\r\n*1\r\n+OK\r\n")
}

// TestWhatOneClientIsToldOfIsBounded: names of keys that changed are kept.
func TestWhatOneClientIsToldOfIsBounded(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	token := a.token(t)
	c, _ := comeBack(t, b.session.srv, token, "")
	long := strings.Repeat("k", 10_000)
	flushed := false
	for i := 0; i < 1000 && !flushed; i++ {
		c.Run(t, fmt.Sprintf("EXISTS %s%d", long, i))
		b.Run(t, fmt.Sprintf("SET %s%d 1", long, i))
		flushed = strings.Contains(string(c.take(t)), stale+"_\r\n")
	}
	if !flushed {
		t.Error("10 MB of names are kept for one client")
	}
	for i := range 20 {
		args := []string{"MSET"}
		for j := range maxSinceKeys / 10 {
			args = append(args, fmt.Sprintf("m%d-%d", i, j), "1")
		}
		b.Run(t, strings.Join(args, " "))
	}
	_, told := comeBack(t, b.session.srv, token, "BCAST")
	Check(t, "too many keys", told, stale+"_\r\n+OK\r\n")
}

func TestOnlyClientsThatTrackAreGivenTokens(t *testing.T) {
	a, _ := NewPair(t, firn.Options{Durability: firn.None})
	for _, commands := range []string{"HELLO 3", "HELLO 2"} {
		if got := a.Run(t, commands); strings.Contains(got, "token") {
			t.Errorf("%s: got %q, want no token", commands, got)
		}
	}
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON")
	a.token(t)
	a.Run(t, "RESET")
	if got := a.Run(t, "HELLO 3"); strings.Contains(got, "token") {
		t.Errorf("after RESET: got %q, want no token", got)
	}
}

// during is a group of which something happens while it runs, or when it is
// committed and nobody has heard of it yet.
type during struct {
	*Group
	runs, committed func()
}

func (d during) Transact(i int, tx *firn.Tx) error {
	err := d.Group.Transact(i, tx)
	if d.runs != nil {
		d.runs()
	}
	return err
}

func (d during) Done(last firn.Timestamp, err error) {
	if d.committed != nil {
		d.committed()
	}
	d.Group.Done(last, err)
}

// write commits a command of o in a group of which something happens.
func (d during) write(t *testing.T, o *ours, line string) {
	t.Helper()
	line += "\r\n"
	o.session.Fill(copy(o.session.Space(len(line)), line))
	if need := o.session.Run(); need != NeedCommit {
		t.Fatalf("got %v, want NeedCommit", need)
	}
	done := make(chan struct{})
	d.Group = &Group{Decided: func() { close(done) }}
	d.Add(o.session)
	o.submit(t, d, done)
	o.take(t)
}

// TestWritesUnderWayAreNotMissedByTheFirstWhoTracks: when such a write ran,
// nobody tracked.
func TestWritesUnderWayAreNotMissedByTheFirstWhoTracks(t *testing.T) {
	for _, mode := range []string{"", "BCAST"} {
		a, b := NewPair(t, firn.Options{Durability: firn.None})
		b.Run(t, "SET k old")
		a.Run(t, "HELLO 3")
		during{runs: func() {
			a.Run(t, "CLIENT TRACKING ON "+mode)
			Check(t, "before the commit", a.Run(t, "GET k"), "$3\r\nold\r\n")
		}}.write(t, b, "SET k new")
		if told := invalidated(t, a.take(t)); len(told) != 1 {
			t.Errorf("mode %q: got %q, want one invalidation", mode, told)
		}
	}
}

// TestWritesUnderWayAreNotMissedByWhoComesBack: it is looked when they are done.
func TestWritesUnderWayAreNotMissedByWhoComesBack(t *testing.T) {
	for _, mode := range []string{"", "BCAST"} {
		a, b := NewPair(t, firn.Options{Durability: firn.None})
		b.Run(t, "SET k old")
		a.Run(t, "HELLO 3", "CLIENT TRACKING ON "+mode)
		token := a.token(t)
		a.session.Close()
		c, told := newOurs(t, a.session.srv), make(chan string, 1)
		c.Run(t, "HELLO 3")
		during{runs: func() {
			go func() { told <- c.Run(t, "CLIENT TRACKING ON "+mode+" SINCE "+token) }()
			select {
			case early := <-told:
				t.Errorf("mode %q: got %q before the commit", mode, early)
				told <- early
			case <-time.After(50 * time.Millisecond): // it waits
			}
		}}.write(t, b, "SET k new")
		if told := invalidated(t, []byte(<-told+c.Run(t, "EXISTS k"))); len(told) != 1 {
			t.Errorf("mode %q: got %q, want one invalidation", mode, told)
		}
	}
}

// TestWhoComesBackIsRegisteredBeforeItIsLooked: there are so many changes that
// it takes long to look them up, and all the while keys are written. Each is
// in what was looked up, or told of when it is written.
func TestWhoComesBackIsRegisteredBeforeItIsLooked(t *testing.T) {
	const keys, batch = 40_000, 1000
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST")
	token := a.token(t)
	a.session.Close()
	for i := 0; i < keys; i += batch {
		line := "MSET"
		for k := range batch {
			line += fmt.Sprintf(" k%d v", i+k)
		}
		b.Run(t, line)
	}
	c, answer := newOurs(t, a.session.srv), make(chan string, 1)
	c.Run(t, "HELLO 3")
	go func() { answer <- c.Run(t, "CLIENT TRACKING ON BCAST SINCE "+token) }()
	written, told := 0, ""
	for told == "" {
		b.Run(t, fmt.Sprintf("SET w%d v", written))
		written++
		select {
		case told = <-answer:
		default:
		}
	}
	heard := map[string]bool{}
	for _, key := range invalidated(t, []byte(told+c.Run(t, "PING"))) {
		heard[key] = true
	}
	for i := range written {
		if key := fmt.Sprintf("w%d", i); !heard[key] {
			t.Errorf("%s, of %d that were written meanwhile: not told", key, written)
		}
	}
	t.Logf("%d keys were written meanwhile", written)
}

// TestATokenIsNotAheadOfWhatWasTold: a commit is seen before those who track
// hear of it.
func TestATokenIsNotAheadOfWhatWasTold(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	b.Run(t, "SET k old")
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
	var token string
	during{committed: func() { token = a.token(t) }}.write(t, b, "SET k new")
	c, _ := comeBack(t, a.session.srv, token, "")
	Check(t, "named", c.Run(t, "EXISTS k"), stale+"*1\r\n$1\r\nk\r\n:1\r\n")
	bcast, told := comeBack(t, a.session.srv, token, "BCAST")
	Check(t, "by prefix", told, stale+"*1\r\n$1\r\nk\r\n+OK\r\n")
	Check(t, "a later token", strings.SplitAfter(a.Run(t, "HELLO 3"), "%8\r\n")[0], stale+"*1\r\n$1\r\nk\r\n%8\r\n")
	_, told = comeBack(t, a.session.srv, bcast.token(t), "BCAST")
	Check(t, "which is as of then", told, "+OK\r\n")
}

// returning is a client that keeps copies and loses its connection.
type returning struct {
	*cache
	srv   *Server
	mode  string
	token string
	rng   *rand.Rand
	kept  int // copies that were not lost with a connection
	lost  int // copies that had changed meanwhile
}

// cut loses the connection, and a part of what was on its way.
func (r *returning) cut(t testing.TB) {
	all := frames(t, r.take(t))
	for _, frame := range all[:r.rng.IntN(len(all)+1)] {
		r.apply(t, frame, "")
	}
	r.session.Close()
	r.ours = newOurs(t, r.srv)
	r.Run(t, "HELLO 3")
	before := len(r.copies)
	r.apply(t, []byte(r.Run(t, "CLIENT TRACKING ON "+r.mode+" SINCE "+r.token)), "")
	if r.mode != "BCAST" {
		names := "EXISTS none"
		for key := range r.copies {
			names += " " + key
		}
		r.apply(t, []byte(r.Run(t, names)), "")
	}
	r.kept += len(r.copies)
	r.lost += before - len(r.copies)
}

// TestCopiesAreKeptThroughCutConnections has clients keep what they read, while
// others write, and lose their connections. When all is quiet, what they have kept is what is
// there.
func TestCopiesAreKeptThroughCutConnections(t *testing.T) {
	seed := seed.Fresh(t)
	kept, lost := 0, 0
	for round := range 12 {
		o := firn.Options{Durability: firn.None, Memory: []int64{0, -1}[round%2]}
		srv := New(openStore(t, o), Options{})
		var writing atomic.Int64
		var wg sync.WaitGroup
		writing.Store(2)
		for i := range 2 {
			rng, w := seed.Rand(uint64(100*round+i)), newOurs(t, srv)
			wg.Go(func() {
				defer writing.Add(-1)
				for n := range 400 {
					w.Run(t, randomWrite(rng, n))
				}
			})
		}
		clients := make([]*returning, 6)
		for i := range clients {
			r := &returning{cache: &cache{newOurs(t, srv), map[string]string{}}, srv: srv, rng: seed.Rand(uint64(100*round + 50 + i))}
			r.mode = []string{"", "BCAST", "OPTOUT"}[i%3]
			clients[i] = r
			r.Run(t, "HELLO 3", "CLIENT TRACKING ON "+r.mode)
			r.token = r.ours.token(t)
			wg.Go(func() {
				for writing.Load() > 0 {
					r.step(t)
				}
				r.cut(t) // with what was on its way
			})
		}
		wg.Wait()
		reader := newOurs(t, srv)
		reader.Run(t, "HELLO 3")
		for i, r := range clients {
			r.apply(t, r.take(t), "")
			kept, lost = kept+r.kept, lost+r.lost
			for key, got := range r.copies {
				if v, _, _ := parseValue([]byte(reader.Run(t, "GET "+key))); got != v.text {
					t.Errorf("round %d, client %d %s: got %s = %q, want %q", round, i, r.mode, key, got, v.text)
				}
			}
		}
	}
	t.Logf("%d copies outlived their connection, %d did not", kept, lost)
	if kept < 100 || lost < 100 {
		t.Error("that proves nothing")
	}
}

// step reads, asks for a token or is cut off.
func (r *returning) step(t testing.TB) {
	switch n := r.rng.IntN(20); {
	case n == 0:
		r.cut(t)
	case n < 5:
		reply := []byte(r.Run(t, "HELLO 3"))
		r.apply(t, reply, "")
		r.token = tokenIn(t, reply)
	default:
		key := fmt.Sprintf("k%d", r.rng.IntN(12))
		r.apply(t, []byte(r.Run(t, "GET "+key)), key)
	}
}

func randomWrite(rng *rand.Rand, n int) string {
	key := fmt.Sprintf("k%d", rng.IntN(12))
	switch rng.IntN(150) {
	case 0:
		return "FLUSHALL"
	case 1:
		return "SWAPDB 0 1"
	case 2, 3:
		return "MSET k1 x k2 y k3 z"
	case 4, 5, 6, 7:
		return "DEL " + key
	case 8, 9:
		return "RENAMENX k1 " + key
	}
	return fmt.Sprintf("SET %s %d", key, n)
}
