package redis

// The rule: whatever changes the reply of a read command wakes who follows it,
// a write or time; and for the commands whose entries say what does, a write to
// other elements does not.

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// followed is a query that is followed, without a client.
type followed struct {
	rig   *followRig
	text  string
	entry *command.Entry
	args  [][]byte
	db    int

	reply string
	stale atomic.Bool
	stop  func()
}

// followRig is a server whose clock the test moves, and queries on it.
type followRig struct {
	*ours
	clock *followClock
	srv   *Server
	store *firn.Store
	call  command.Call
}

// followClock is a clock that the test moves, and others read meanwhile.
type followClock struct{ ns atomic.Int64 }

func (c *followClock) now() time.Time { return time.Unix(0, c.ns.Load()) }

func newFollowRig(t testing.TB, memory int64) *followRig {
	clock := new(followClock)
	clock.ns.Store(newFakeClock().now().UnixNano())
	store := openStore(t, firn.Options{Durability: firn.None, Now: clock.now, Memory: memory})
	srv := New(store, Options{Now: clock.now})
	o := newOurs(t, srv)
	r := &followRig{ours: o, clock: clock, srv: srv, store: store}
	r.call = command.Call{View: keyspace.NewView(srv.catalog, nil), Client: o.session}
	r.loadFollowed(t)
	return r
}

// run is the query's reply on a snapshot.
func (q *followed) run(snap *firn.Snapshot) (string, error) {
	c := q.rig.call
	c.View.DB, q.rig.session.db = q.db, q.db // scripts run in the session's
	c.View.Begin()
	c.Reply = resp.Writer{Proto: 3}
	c.Cmd, c.Args, c.R, c.Aspect = q.entry, q.args, snap, q.entry.Live.On
	if err := q.entry.Run(&c); errors.Is(err, firn.ErrClosed) {
		return "", err
	} else if err != nil {
		return err.Error(), nil // that is a reply, too
	}
	return string(c.Reply.Buf), nil
}

// record runs the query, and watches what it has read.
func (q *followed) record(t testing.TB) {
	t.Helper()
	q.stale.Store(false)
	reads, err := q.rig.store.Record(func(snap *firn.Snapshot) (err error) {
		q.reply, err = q.run(snap)
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	q.stop = q.rig.store.Watch(reads, func(firn.Timestamp) { q.stale.Store(true) })
}

// now is the query's reply now.
func (q *followed) now(t testing.TB) (reply string) {
	t.Helper()
	if err := q.rig.store.View(func(snap *firn.Snapshot) (err error) {
		reply, err = q.run(snap)
		return err
	}); err != nil {
		t.Fatalf("%s: %v", q.text, err)
	}
	return reply
}

// follow begins to follow a command.
func (r *followRig) follow(t testing.TB, db int, text string) *followed {
	t.Helper()
	e, args, err := r.srv.commands.Resolve(SplitWords(t, text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	q := &followed{rig: r, text: text, entry: e, args: args, db: db}
	q.record(t)
	return q
}

// matched waits until all who were concerned by a commit of now, or before, are
// told.
func (r *followRig) matched(t testing.TB) {
	t.Helper()
	ts, err := r.store.Update(t.Context(), func(tx *firn.Tx) error {
		return tx.Put(r.store.Table("ticks"), []byte("tick"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); r.store.Journal().Matched() < ts; {
		if time.Now().After(deadline) {
			t.Fatalf("commits up to %d are not matched", ts)
		}
		<-time.After(20 * time.Microsecond)
	}
}

// followable are the commands that can be followed.
func followable(srv *Server) (all []*command.Entry) {
	srv.commands.Each(func(e *command.Entry) {
		if e.ReadsKeys() && e.Live.Refused == "" {
			all = append(all, e)
		}
	})
	return all
}

func TestWhateverChangesAReplyWakes(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			w := wakes{followRig: newFollowRig(t, memory), g: &followGrammar{Rand: seed.Fresh(t).Rand(1)}, changed: map[string]int{}}
			for _, e := range followable(w.srv) {
				if followQuery(e.Full) == nil {
					t.Errorf("%s has no query: add one to followQueries", e.Full)
					continue
				}
				w.ask(t, e, 4)
			}
			if testing.Short() {
				w.disturb(t, 250)
				return
			}
			w.disturb(t, 1500)
			for range mostRounds {
				if !w.askAgain(t) {
					return
				}
				w.disturb(t, 250)
			}
			for _, e := range w.unchanged() {
				t.Errorf("%s never changed its reply: that shows nothing", e.Full)
			}
		})
	}
}

// mostRounds is how often queries are drawn anew for commands whose replies have
// not changed. Those of an unlucky draw ask about a key that has no such member:
// one draw of forty leaves a command, and hardly any leaves it twice.
const mostRounds = 20

// wakes are queries that are followed while others write.
type wakes struct {
	*followRig
	g       *followGrammar
	queries []*followed
	changed map[string]int // how often a command's reply did
	step    int
}

// ask follows n queries of a command.
func (w *wakes) ask(t *testing.T, e *command.Entry, n int) {
	t.Helper()
	for range n {
		text := strings.ToUpper(strings.ReplaceAll(e.Full, "|", " ")) + " " + followQuery(e.Full)(w.g)
		w.queries = append(w.queries, w.follow(t, w.g.IntN(2), text))
	}
}

// unchanged are the commands whose replies never changed.
func (w *wakes) unchanged() (all []*command.Entry) {
	for _, e := range followable(w.srv) {
		if w.changed[e.Full] == 0 && !constantReplies[e.Full] && followQuery(e.Full) != nil {
			all = append(all, e)
		}
	}
	return all
}

// askAgain draws other queries for them, and reports whether there are any.
func (w *wakes) askAgain(t *testing.T) bool {
	t.Helper()
	entries := w.unchanged()
	for _, e := range entries {
		w.ask(t, e, 4)
	}
	return len(entries) > 0
}

// disturb writes step by step, and compares what each query's reply is with what
// its follower was told.
func (w *wakes) disturb(t *testing.T, steps int) {
	t.Helper()
	for range steps {
		what := w.g.disturb(t, w.followRig)
		w.matched(t)
		for _, q := range w.queries {
			now, stale := q.now(t), q.stale.Load()
			if now != q.reply {
				w.changed[q.entry.Full]++
				if !stale {
					t.Fatalf("step %d: %s in %d is not told of %s:\n was %q\n  is %q", w.step, q.text, q.db, what, q.reply, now)
				}
			}
			if stale {
				q.record(t)
			}
		}
		w.step++
	}
}

// constantReplies are the commands whose replies hardly change here, or never.
var constantReplies = map[string]bool{"lolwut": true, "object|refcount": true}

// followGrammar draws queries and writes. Keys are named after their type,
// which they mostly have.
type followGrammar struct{ *rand.Rand }

func (g *followGrammar) key(kind string) string {
	if g.IntN(12) == 0 {
		kind = string("shltzgxb"[g.IntN(8)])
	}
	return kind + strconv.Itoa(g.IntN(2))
}

func (g *followGrammar) one(texts ...string) string { return texts[g.IntN(len(texts))] }

// name is a field or a member, number an integer that may be negative.
func (g *followGrammar) name() string            { return string(rune('a' + g.IntN(8))) }
func (g *followGrammar) number(below int) string { return strconv.Itoa(g.IntN(below)) }
func (g *followGrammar) index() string           { return strconv.Itoa(g.IntN(9) - 3) }
func (g *followGrammar) score() string           { return strconv.Itoa(g.IntN(10)) }

func (g *followGrammar) scores() string {
	from := g.IntN(10)
	return g.one("", "(") + strconv.Itoa(from) + " " + g.one("", "(") + strconv.Itoa(from+g.IntN(5))
}

func (g *followGrammar) downScores() string {
	from := g.IntN(10)
	return g.one("", "(") + strconv.Itoa(from+g.IntN(5)) + " " + g.one("", "(") + strconv.Itoa(from)
}

func (g *followGrammar) limit() string {
	return g.one("", "", " LIMIT "+g.number(3)+" "+g.number(4), " LIMIT 0 -1")
}

func (g *followGrammar) names(down bool) string {
	low, high := g.one("-", "["+g.name(), "("+g.name()), g.one("+", "["+g.name(), "("+g.name())
	if down {
		low, high = high, low
	}
	return low + " " + high
}

func (g *followGrammar) several(kind string) string {
	return g.key(kind) + " " + g.key(kind) + " " + g.key(kind)
}

func (g *followGrammar) counted(kind string) string { return "2 " + g.key(kind) + " " + g.key(kind) }

func (g *followGrammar) ids(down bool) string {
	low, high := g.one("-", g.number(40), "("+g.number(40)+"-1"), g.one("+", g.number(60), "("+g.number(60)+"-5")
	if down {
		low, high = high, low
	}
	return low + " " + high + g.one("", " COUNT "+strconv.Itoa(1+g.IntN(3)))
}

// followQueries are arguments for every command that can be followed.
var followQueries = map[string]func(*followGrammar) string{
	"function|list": func(g *followGrammar) string { return "LIBRARYNAME w*" + g.one("", " WITHCODE") },
	"function|dump": func(g *followGrammar) string { return "" },
	"get":           func(g *followGrammar) string { return g.key("s") }, "strlen": func(g *followGrammar) string { return g.key("s") },
	"getrange": func(g *followGrammar) string { return g.key("s") + " " + g.index() + " " + g.index() },
	"substr":   func(g *followGrammar) string { return g.key("s") + " " + g.index() + " " + g.index() },
	"mget":     func(g *followGrammar) string { return g.several("s") },
	"lcs":      func(g *followGrammar) string { return g.key("s") + " " + g.key("s") + g.one("", " LEN") },
	"getbit":   func(g *followGrammar) string { return g.key("s") + " " + g.number(30) },
	"bitcount": func(g *followGrammar) string { return g.key("s") }, "bitpos": func(g *followGrammar) string { return g.key("s") + " 1" },
	"bitfield_ro": func(g *followGrammar) string { return g.key("s") + " GET u8 " + g.number(20) },
	"pfcount":     func(g *followGrammar) string { return g.several("b") },
	"hget":        func(g *followGrammar) string { return g.key("h") + " " + g.name() },
	"hmget":       func(g *followGrammar) string { return g.key("h") + " " + g.name() + " " + g.name() },
	"hexists":     func(g *followGrammar) string { return g.key("h") + " " + g.name() },
	"hstrlen":     func(g *followGrammar) string { return g.key("h") + " " + g.name() },
	"hlen":        func(g *followGrammar) string { return g.key("h") }, "hgetall": func(g *followGrammar) string { return g.key("h") },
	"hkeys": func(g *followGrammar) string { return g.key("h") }, "hvals": func(g *followGrammar) string { return g.key("h") },
	"hexpiretime":  func(g *followGrammar) string { return g.key("h") + " FIELDS 2 " + g.name() + " " + g.name() },
	"hpexpiretime": func(g *followGrammar) string { return g.key("h") + " FIELDS 1 " + g.name() },
	"llen":         func(g *followGrammar) string { return g.key("l") },
	"lindex":       func(g *followGrammar) string { return g.key("l") + " " + g.index() },
	"lrange":       func(g *followGrammar) string { return g.key("l") + " " + g.index() + " " + g.index() },
	"lpos":         func(g *followGrammar) string { return g.key("l") + " " + g.name() },
	"scard":        func(g *followGrammar) string { return g.key("t") }, "smembers": func(g *followGrammar) string { return g.key("t") },
	"sismember":  func(g *followGrammar) string { return g.key("t") + " " + g.name() },
	"smismember": func(g *followGrammar) string { return g.key("t") + " " + g.name() + " " + g.name() },
	"sdiff":      func(g *followGrammar) string { return g.several("t") }, "sinter": func(g *followGrammar) string { return g.several("t") },
	"sunion": func(g *followGrammar) string { return g.several("t") }, "sintercard": func(g *followGrammar) string { return g.counted("t") },
	"zcard": func(g *followGrammar) string { return g.key("z") }, "zscore": func(g *followGrammar) string { return g.key("z") + " " + g.name() },
	"zmscore":          func(g *followGrammar) string { return g.key("z") + " " + g.name() + " " + g.name() },
	"zcount":           func(g *followGrammar) string { return g.key("z") + " " + g.scores() },
	"zlexcount":        func(g *followGrammar) string { return g.key("z") + " " + g.names(false) },
	"zrank":            func(g *followGrammar) string { return g.key("z") + " " + g.name() + g.one("", " WITHSCORE") },
	"zrevrank":         func(g *followGrammar) string { return g.key("z") + " " + g.name() },
	"zrangebyscore":    func(g *followGrammar) string { return g.key("z") + " " + g.scores() + g.limit() },
	"zrevrangebyscore": func(g *followGrammar) string { return g.key("z") + " " + g.downScores() + g.limit() },
	"zrangebylex":      func(g *followGrammar) string { return g.key("z") + " " + g.names(false) + g.limit() },
	"zrevrangebylex":   func(g *followGrammar) string { return g.key("z") + " " + g.names(true) + g.limit() },
	"zrevrange":        func(g *followGrammar) string { return g.key("z") + " " + g.index() + " " + g.index() + " WITHSCORES" },
	"zrange": func(g *followGrammar) string {
		return g.key("z") + " " + g.one(g.index()+" "+g.index()+g.one("", " REV")+g.one("", " WITHSCORES"),
			g.scores()+" BYSCORE"+g.limit(), g.downScores()+" BYSCORE REV", g.names(false)+" BYLEX")
	},
	"zdiff": func(g *followGrammar) string { return g.counted("z") }, "zinter": func(g *followGrammar) string { return g.counted("z") + " WITHSCORES" },
	"zunion": func(g *followGrammar) string { return g.counted("z") + " WITHSCORES" }, "zintercard": func(g *followGrammar) string { return g.counted("z") },
	"geopos":               func(g *followGrammar) string { return g.key("g") + " " + g.name() },
	"geohash":              func(g *followGrammar) string { return g.key("g") + " " + g.name() + " " + g.name() },
	"geodist":              func(g *followGrammar) string { return g.key("g") + " " + g.name() + " " + g.name() },
	"geosearch":            func(g *followGrammar) string { return g.key("g") + " FROMLONLAT 5 5 BYRADIUS 500 km ASC COUNT 3" },
	"georadius_ro":         func(g *followGrammar) string { return g.key("g") + " 5 5 300 km" },
	"georadiusbymember_ro": func(g *followGrammar) string { return g.key("g") + " " + g.name() + " 300 km" },
	"xlen":                 func(g *followGrammar) string { return g.key("x") },
	"xrange":               func(g *followGrammar) string { return g.key("x") + " " + g.ids(false) },
	"xrevrange":            func(g *followGrammar) string { return g.key("x") + " " + g.ids(true) },
	"xread": func(g *followGrammar) string {
		return "STREAMS " + g.key("x") + " " + g.key("x") + " " + g.number(60) + " " + g.number(60)
	},
	"xinfo|stream": func(g *followGrammar) string { return g.key("x") + g.one("", " FULL") },
	"xinfo|groups": func(g *followGrammar) string { return g.key("x") },
	"exists":       func(g *followGrammar) string { return g.key("s") + " " + g.key("h") }, "type": func(g *followGrammar) string { return g.key("z") },
	"touch": func(g *followGrammar) string { return g.key("l") }, "expiretime": func(g *followGrammar) string { return g.key("s") },
	"pexpiretime": func(g *followGrammar) string { return g.key("h") }, "dump": func(g *followGrammar) string { return g.key("h") },
	"memory|usage":    func(g *followGrammar) string { return g.key("z") },
	"object|encoding": func(g *followGrammar) string { return g.key("s") }, "object|refcount": func(g *followGrammar) string { return g.key("s") },
	"keys": func(g *followGrammar) string { return g.one("*", "h*", "?0") }, "dbsize": func(*followGrammar) string { return "" },
	"sort_ro": func(g *followGrammar) string { return g.key("l") + " ALPHA BY s* GET # GET h0->*" }, "lolwut": func(*followGrammar) string { return "" },
}

// followWrites are writes of all kinds.
var followWrites = []func(*followGrammar) string{
	func(g *followGrammar) string { return "SET " + g.key("s") + " " + g.one("1", "22", "abc", "abd") },
	func(g *followGrammar) string { return "SET " + g.key("s") + " v PX " + strconv.Itoa(1+g.IntN(60)) },
	func(g *followGrammar) string { return "APPEND " + g.key("s") + " x" },
	func(g *followGrammar) string { return "SETRANGE " + g.key("s") + " " + g.number(4) + " " + g.name() },
	func(g *followGrammar) string { return "SETBIT " + g.key("s") + " " + g.number(30) + " " + g.number(2) },
	func(g *followGrammar) string { return "PFADD " + g.key("b") + " " + g.number(100) },
	func(g *followGrammar) string {
		return "HSET " + g.key("h") + " " + g.name() + " " + g.one("1", "22", "333")
	},
	func(g *followGrammar) string { return "HSET " + g.key("h") + " " + g.name() + " 1 " + g.name() + " 2" },
	func(g *followGrammar) string { return "HDEL " + g.key("h") + " " + g.name() },
	func(g *followGrammar) string {
		return "HPEXPIRE " + g.key("h") + " " + strconv.Itoa(1+g.IntN(60)) + " FIELDS 1 " + g.name()
	},
	func(g *followGrammar) string { return "HPERSIST " + g.key("h") + " FIELDS 1 " + g.name() },
	func(g *followGrammar) string { return g.one("LPUSH ", "RPUSH ") + g.key("l") + " " + g.name() },
	func(g *followGrammar) string {
		return g.one("LPUSH ", "RPUSH ") + g.key("l") + " " + g.name() + " " + g.name()
	},
	func(g *followGrammar) string { return g.one("LPOP ", "RPOP ") + g.key("l") },
	func(g *followGrammar) string { return "LSET " + g.key("l") + " " + g.index() + " " + g.name() },
	func(g *followGrammar) string { return "LINSERT " + g.key("l") + " BEFORE " + g.name() + " " + g.name() },
	func(g *followGrammar) string {
		return "LREM " + g.key("l") + " " + g.one("0", "1", "-1") + " " + g.name()
	},
	func(g *followGrammar) string { return "LTRIM " + g.key("l") + " " + g.one("0 5", "1 -1", "0 -2") },
	func(g *followGrammar) string { return "SADD " + g.key("t") + " " + g.name() },
	func(g *followGrammar) string { return "SREM " + g.key("t") + " " + g.name() },
	func(g *followGrammar) string { return "SADD " + g.key("t") + " " + g.number(9) },
	func(g *followGrammar) string { return "ZADD " + g.key("z") + " " + g.score() + " " + g.name() },
	func(g *followGrammar) string { return "ZADD " + g.key("z") + " 1 " + g.name() + " 1 " + g.name() },
	func(g *followGrammar) string { return "ZINCRBY " + g.key("z") + " 1 " + g.name() },
	func(g *followGrammar) string { return "ZREM " + g.key("z") + " " + g.name() },
	func(g *followGrammar) string { return "ZREMRANGEBYRANK " + g.key("z") + " " + g.one("0 0", "-1 -1") },
	func(g *followGrammar) string {
		return "GEOADD " + g.key("g") + " " + g.number(9) + " " + g.number(9) + " " + g.name()
	},
	func(g *followGrammar) string { return "XADD " + g.key("x") + " " + g.number(60) + "-* f " + g.name() },
	func(g *followGrammar) string { return "XADD " + g.key("x") + " * f v" },
	func(g *followGrammar) string { return "XDEL " + g.key("x") + " " + g.number(60) + "-0" },
	func(g *followGrammar) string { return "XTRIM " + g.key("x") + " MAXLEN " + g.one("0", g.number(6)) },
	func(g *followGrammar) string { return "XSETID " + g.key("x") + " 59-9" },
	func(g *followGrammar) string { return "XGROUP CREATE " + g.key("x") + " g 0" },
	func(g *followGrammar) string { return "XREADGROUP GROUP g c COUNT 1 STREAMS " + g.key("x") + " >" },
	func(g *followGrammar) string { return "DEL " + g.several(g.one("s", "h", "l", "t", "z", "g", "x")) },
	func(g *followGrammar) string { return "PEXPIRE " + g.any() + " " + strconv.Itoa(1+g.IntN(60)) },
	func(g *followGrammar) string { return "PERSIST " + g.any() },
	func(g *followGrammar) string { return "RENAME " + g.any() + " " + g.any() },
	func(g *followGrammar) string { return "COPY " + g.any() + " " + g.any() + " REPLACE" },
	func(g *followGrammar) string { return "MOVE " + g.any() + " 1" },
	func(g *followGrammar) string { return g.one("SWAPDB 0 1", "FLUSHDB", "FLUSHALL", "SWAPDB 1 2") },
}

// any is a key of any type.
func (g *followGrammar) any() string { return g.key(string("shltzgxb"[g.IntN(8)])) }

// disturb writes something, moves the clock, or sweeps, and says what.
func (g *followGrammar) disturb(t testing.TB, r *followRig) string {
	t.Helper()
	switch g.IntN(20) {
	case 0, 1:
		d := time.Duration(1+g.IntN(30)) * time.Millisecond
		r.clock.ns.Add(int64(d))
		return "a moment, " + d.String() + " later"
	case 2:
		if err := keyspace.NewSweeper(r.store).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return "a sweep"
	case 3:
		from := g.any()
		if payload := r.tell(t, []byte("DUMP"), []byte(from)); payload[0] == '$' && payload[1] != '-' {
			_, body, _ := bytes.Cut(payload, []byte("\r\n"))
			to := g.any()
			r.tell(t, []byte("RESTORE"), []byte(to), []byte("0"), body[:len(body)-2], []byte("REPLACE"))
			return "RESTORE " + to + " of " + from
		}
	case 4:
		text := "FUNCTION DELETE words"
		if g.IntN(3) > 0 {
			text = loadFunction("words", "words", "return "+g.number(3))
		}
		r.tell(t, SplitWords(t, text)...)
		return text
	}
	n := len(followWrites)
	if g.IntN(4) > 0 {
		n-- // whole databases are another one less often
	}
	text := followWrites[g.IntN(n)](g)
	r.tell(t, SplitWords(t, "SELECT "+g.one("0", "0", "1"))...)
	r.tell(t, SplitWords(t, text)...)
	return text
}
