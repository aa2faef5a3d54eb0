package redis

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// A live query's client hears of each change of its reply, with a timestamp at
// which that reply can be read again, until the query or the client ends.

// runLive has a server evaluate what is live until the test ends.
func runLive(t testing.TB, srv *Server) {
	t.Helper()
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- srv.RunLive(ctx) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// newLivePair is a server that evaluates what is live, and two clients of it, of
// which the first speaks protocol 3.
func newLivePair(t testing.TB) (srv *Server, l *liveOurs, w *ours) {
	t.Helper()
	srv = New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	runLive(t, srv)
	l, w = &liveOurs{ours: newOurs(t, srv)}, newOurs(t, srv)
	l.Run(t, "HELLO 3")
	return srv, l, w
}

// liveOurs is a client that has queries live.
type liveOurs struct {
	*ours
	heard [][]byte // and not looked at yet
}

// livePush is a push of LIVE.
type livePush struct {
	id, ts, token, reply string
}

// oneLine renders a value on one line.
func oneLine(v value) string {
	switch {
	case v.null || v.mark == '_':
		return "nil"
	case v.mark == '-':
		return "(error) " + v.text
	case v.mark != '*' && v.mark != '%':
		return v.text
	}
	var parts []string
	for _, e := range v.elements {
		parts = append(parts, oneLine(e))
	}
	return string(v.mark) + "[" + strings.Join(parts, " ") + "]"
}

// nextPush waits for the next push of a reply, and passes over bookmarks.
func (o *liveOurs) nextPush(t testing.TB) livePush {
	t.Helper()
	for {
		for len(o.heard) > 0 {
			frame := o.heard[0]
			o.heard = o.heard[1:]
			v, _, err := parseValue(frame)
			if err != nil || v.mark != '>' {
				t.Fatalf("got %q, want a push", frame)
			}
			if v.elements[0].text == "live" {
				e := v.elements
				return livePush{e[1].text, e[2].text, e[3].text, oneLine(e[4])}
			}
		}
		o.heard = frames(t, o.later(t))
	}
}

// expectPush waits for a push, and compares all but its moment, which it
// returns.
func (o *liveOurs) expectPush(t testing.TB, id, reply string) livePush {
	t.Helper()
	p := o.nextPush(t)
	if p.id != id || p.reply != reply {
		t.Errorf("pushed: got %s %s, want %s %s", p.id, p.reply, id, reply)
	}
	return p
}

func TestChangesArePushedToTheirClients(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "SET k 0", "HSET h f 1 g 2")
	Check(t, "first replies", l.Run(t, "LIVE a GET k", "LIVE b HGETALL h", "LIVE none GET none"), "$1\r\n0\r\n%2\r\n$1\r\nf\r\n$1\r\n1\r\n$1\r\ng\r\n$1\r\n2\r\n_\r\n")
	for i := range 20 {
		w.Run(t, fmt.Sprintf("SET k %d", i+1))
		p := l.expectPush(t, "a", fmt.Sprint(i+1))
		if last := w.lastTS(t); p.ts != last || p.token != tokenOf(t, w, last) {
			t.Errorf("pushed with %s and %s, want %s and its token", p.ts, p.token, last)
		}
	}
	w.Run(t, "HSET h f 3")
	l.expectPush(t, "b", "%[f 3 g 2]")
	w.Run(t, "DEL h")
	l.expectPush(t, "b", "%[]")
	w.Run(t, "RENAME k none")
	both := []livePush{l.nextPush(t), l.nextPush(t)}
	if both[0].ts != both[1].ts || both[0].id == both[1].id {
		t.Errorf("two ids that one commit has changed: got %v, want one timestamp", both)
	}
	Check(t, "UNLIVE", l.Run(t, "UNLIVE a", "UNLIVE none"), ":1\r\n:1\r\n")
	w.Run(t, "SET k x", "HSET h f 4")
	l.expectPush(t, "b", "%[f 4]")
}

// tokenOf is a timestamp's token.
func tokenOf(t testing.TB, o *ours, ts string) string {
	n, err := strconv.ParseInt(ts, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return o.Store.Token(firn.Timestamp(n))
}

func TestExpiryWakesLikeAWrite(t *testing.T) {
	_, l, w := newLivePair(t) // nobody sweeps
	w.Run(t, "SET k v PX 60", "HSET h f 1 g 2", "HPEXPIRE h 90 FIELDS 1 f")
	l.Run(t, "LIVE a GET k", "LIVE b HLEN h", "LIVE c KEYS *")
	first := []livePush{l.nextPush(t), l.nextPush(t)}
	got := map[string]livePush{first[0].id: first[0], first[1].id: first[1]}
	if got["a"].reply != "nil" || got["c"].reply != "*[h]" || got["a"].ts != got["c"].ts {
		t.Errorf("when the key had expired: got %v, want a nil and c without k, with one timestamp", first)
	}
	p := l.expectPush(t, "b", "1")
	for _, at := range []struct{ command, want string }{
		{"AT " + got["a"].ts + " GET k", "$-1\r\n"}, {"AT " + p.ts + " HLEN h", ":1\r\n"}, {"AT " + p.token + " HLEN h", ":1\r\n"},
	} {
		Check(t, at.command, w.Run(t, at.command), at.want)
	}
}

// TestResumeAfterARestart: a token of a push goes on where it stood, and one
// of another history does not.
func TestResumeAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.db")
	open := func(path string) *firn.Store {
		store, err := firn.Open(path, firn.Options{Tables: keyspace.Tables(), Durability: firn.None, CompactByHand: true})
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open(path)
	var token string
	t.Run("before", func(t *testing.T) {
		srv := New(store, Options{})
		runLive(t, srv)
		l, w := &liveOurs{ours: newOurs(t, srv)}, newOurs(t, srv)
		l.Run(t, "HELLO 3", "LIVE a GET k", "LIVE b GET other")
		w.Run(t, "SET k 1")
		token = l.expectPush(t, "a", "1").token
		w.Run(t, "SET other x")
	})
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := store.Restore(t.Context(), backup, store.Bounds().Newest, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, path, a, b string }{
		{"after a restart", path, "+UNCHANGED\r\n", "$1\r\nx\r\n"},
		{"after a restore", backup, "-FORKED the token is from another history of this store\r\n", "-FORKED the token is from another history of this store\r\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := open(tt.path)
			t.Cleanup(func() { store.Close() })
			srv := New(store, Options{})
			runLive(t, srv)
			l, w := &liveOurs{ours: newOurs(t, srv)}, newOurs(t, srv)
			l.Run(t, "HELLO 3")
			Check(t, "a", l.Run(t, "LIVE a RESUME "+token+" GET k"), tt.a)
			Check(t, "b", l.Run(t, "LIVE b RESUME "+token+" GET other"), tt.b)
			if tt.a[0] == '-' {
				return
			}
			w.Run(t, "SET k 2")
			l.expectPush(t, "a", "2")
			w.Run(t, "COMPACT BEFORE now", "SET k 3")
			l.expectPush(t, "a", "3")
		})
	}
}

func TestResumeBelowTheHorizonIsRefused(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "SET k 1")
	token := tokenOf(t, w, w.lastTS(t))
	w.Run(t, "SET k 2")
	if _, err := w.Store.Prune(t.Context(), w.Store.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	if got := l.Run(t, "LIVE a RESUME "+token+" GET k"); !strings.HasPrefix(got, "-COMPACTED oldest readable timestamp is ") {
		t.Errorf("got %q, want COMPACTED", got)
	}
	Check(t, "LIVE LIST", l.Run(t, "LIVE LIST"), "*0\r\n")
	Check(t, "anew", l.Run(t, "LIVE a GET k"), "$1\r\n2\r\n")
}

func TestLosingRightsEndsSubscriptionsOnce(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "ACL SETUSER u on nopass ~k ~j +get +live +unlive +auth +hello +set", "ACL SETUSER free on nopass ~* +@all")
	Check(t, "first replies", l.Run(t, "AUTH u x", "LIVE a GET k", "LIVE b GET j", "LIVE c GET other"),
		"+OK\r\n_\r\n_\r\n-NOPERM this user has no permissions to access one of the keys used as arguments\r\n")
	w.Run(t, "ACL SETUSER u resetkeys ~j")
	l.expectPush(t, "a", "(error) NOPERM this user has no permissions to access one of the keys used as arguments")
	w.Run(t, "SET k 1", "SET j 1")
	l.expectPush(t, "b", "1")
	l.Run(t, "AUTH free x")
	w.Run(t, "SET j 2")
	l.expectPush(t, "b", "2")
	Check(t, "another user", l.Run(t, "LIVE a GET k"), "$1\r\n1\r\n")
	w.Run(t, "SET k 2")
	l.expectPush(t, "a", "2")
	Check(t, "AUTH", l.Run(t, "AUTH u x"), "+OK\r\n")
	l.expectPush(t, "a", "(error) NOPERM this user has no permissions to access one of the keys used as arguments")
	hung := false
	l.session.Hang = func() { hung = true }
	w.Run(t, "ACL DELUSER u")
	if need := l.session.Run(); !hung || need != NeedClose {
		t.Errorf("its user deleted: got hung=%t and %d, want true and NeedClose", hung, need)
	}
}

// TestAQueryKeepsItsDatabase, whatever the client selects later.
func TestAQueryKeepsItsDatabase(t *testing.T) {
	_, l, w := newLivePair(t)
	l.Run(t, "SELECT 1", "LIVE a GET k", "SELECT 2", "LIVE b DBSIZE", "SELECT 0")
	w.Run(t, "SET k zero", "SELECT 1", "SET k one")
	l.expectPush(t, "a", "one")
	w.Run(t, "SELECT 2", "SET k two")
	l.expectPush(t, "b", "1")
	w.Run(t, "SWAPDB 0 1")
	l.expectPush(t, "a", "zero")
	w.Run(t, "FLUSHALL")
	both := []livePush{l.nextPush(t), l.nextPush(t)}
	if both[0].ts != both[1].ts || both[0].id == both[1].id {
		t.Errorf("FLUSHALL: got %v, want both ids with one timestamp", both)
	}
}

func TestReadsOfOneTimestamp(t *testing.T) {
	_, l, w := newLivePair(t)
	Check(t, "replies", l.Run(t, "LIVE m MULTI", "GET a", "GET b", "HGET a f", "EXEC"), "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n_\r\n_\r\n_\r\n")
	w.Run(t, "MULTI", "SET a 1", "SET b 1", "EXEC")
	l.expectPush(t, "m", "*[1 1 (error) WRONGTYPE Operation against a key holding the wrong kind of value]")
	w.Run(t, "MULTI", "DEL a", "INCR b", "EXEC")
	l.expectPush(t, "m", "*[nil 2 nil]")
}

// TestWhatEndsSubscriptions: RESET, HELLO 2, and the end of the session leave
// nothing behind.
func TestWhatEndsSubscriptions(t *testing.T) {
	srv, l, w := newLivePair(t)
	for _, how := range []string{"RESET", "HELLO 2", "close"} {
		l.Run(t, "HELLO 3", "LIVE a GET k", "LIVE b MULTI", "GET k", "GET j", "EXEC")
		if st := srv.LiveStats(); st.Subscriptions != 2 || st.Queries != 2 || !l.session.Listens() {
			t.Fatalf("before %s: got %+v, listens=%t, want two subscriptions", how, st, l.session.Listens())
		}
		if how == "close" {
			l.session.Close()
		} else {
			l.Run(t, how)
		}
		w.Run(t, "INCR k")
		st := srv.LiveStats()
		if st.Subscriptions != 0 || st.Queries != 0 || l.session.Listens() {
			t.Errorf("after %s: got %+v want none", how, st)
		}
	}
}

// TestWhatOthersSee: CLIENT LIST, INFO and MONITOR.
func TestWhatOthersSee(t *testing.T) {
	_, l, w := newLivePair(t)
	monitor := newOurs(t, l.session.Server())
	monitor.Run(t, "MONITOR")
	l.Run(t, "LIVE a GET k", "LIVE b GET k", "LIVE c AUTH secret")
	w.Run(t, "SET k 1")
	l.expectPush(t, "a", "1")
	l.expectPush(t, "b", "1")
	if list := w.Run(t, "CLIENT LIST"); !strings.Contains(list, " live=2\n") || !strings.Contains(list, " live=0\n") {
		t.Errorf("CLIENT LIST: got %q, want live=2 and live=0", list)
	}
	info := w.Run(t, "INFO firn")
	for _, want := range []string{"live_subscriptions:2", "live_queries:1", "live_evaluations:1", "live_pushes:2", "live_false_wakes:0"} {
		if !strings.Contains(info, want+"\r\n") {
			t.Errorf("INFO: got no %s in %q", want, info)
		}
	}
	if shown := string(monitor.take(t)); strings.Contains(shown, "secret") || !strings.Contains(shown, `"LIVE" "b" "GET" "k"`) {
		t.Errorf("MONITOR: got %q, want LIVE b, and no secret", shown)
	}
}

// TestPushesComeWithRepliesOff: only what was asked for is kept back.
func TestPushesComeWithRepliesOff(t *testing.T) {
	_, l, w := newLivePair(t)
	Check(t, "replies", l.Run(t, "CLIENT REPLY OFF", "LIVE a GET k", "PING"), "")
	w.Run(t, "SET k 1")
	l.expectPush(t, "a", "1")
}

// TestPushesComeWhileClientsArePaused: a pause holds back commands, and time
// goes on.
func TestPushesComeWhileClientsArePaused(t *testing.T) {
	_, l, w := newLivePair(t)
	w.Run(t, "SET k v PX 80")
	Check(t, "first reply", l.Run(t, "LIVE a GET k"), "$1\r\nv\r\n")
	w.Run(t, "CLIENT PAUSE 100000")
	l.expectPush(t, "a", "nil")
	Check(t, "LIVE while it lasts", l.Run(t, "LIVE b GET k"), "")
	w.Run(t, "CLIENT UNPAUSE")
	Check(t, "LIVE afterwards", string(l.later(t)), "_\r\n")
}

// TestOutputOfASlowClientIsBounded: what it does not take is not made.
func TestOutputOfASlowClientIsBounded(t *testing.T) {
	srv, l, w := newLivePair(t)
	value := strings.Repeat("x", 40<<10)
	for i := range 8 {
		l.Run(t, fmt.Sprintf("LIVE %d GET k%d", i, i))
	}
	for round := range 20 {
		for i := range 8 {
			w.Run(t, fmt.Sprintf("SET k%d %d-%s", i, round, value))
		}
		waitFor(t, func() bool { return srv.live.Stats().Evaluations >= int64(8*(round+1)) })
		l.pump(t)
	}
	if n, most := len(l.session.Output()), 64<<10+len(value); n > most+200 { // a socket's fill, and one more
		t.Errorf("output: got %d bytes, want at most about %d", n, most)
	}
	newest := map[string]string{}
	waitFor(t, func() bool {
		for _, frame := range frames(t, l.take(t)) {
			if v, _, _ := parseValue(frame); v.elements[0].text == "live" {
				newest[v.elements[1].text], _, _ = strings.Cut(v.elements[4].text, "-")
			}
		}
		current := 0
		for _, round := range newest {
			if round == "19" {
				current++
			}
		}
		return current == 8
	})
}

// waitFor polls until something holds.
func waitFor(t testing.TB, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !holds(); {
		if time.Now().After(deadline) {
			t.Fatal("waited for 30 s")
		}
		runtime.Gosched()
	}
}

// TestAClosedStoreEndsQuietly.
func TestAClosedStoreEndsQuietly(t *testing.T) {
	store, err := firn.Open(filepath.Join(t.TempDir(), "firn.db"), firn.Options{Tables: keyspace.Tables(), Durability: firn.None})
	if err != nil {
		t.Fatal(err)
	}
	srv := New(store, Options{})
	runLive(t, srv)
	l := newOurs(t, srv)
	l.Run(t, "HELLO 3", "LIVE a GET k")
	if err := store.Close(); err != nil && !errors.Is(err, firn.ErrClosed) {
		t.Fatal(err)
	}
	if got := l.Run(t, "LIVE b GET k"); !strings.HasPrefix(got, "-ERR the server is shutting down") {
		t.Errorf("LIVE on a closed store: got %q", got)
	}
}
