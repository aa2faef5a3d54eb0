package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// Who waits for a key is served as soon as there is something for him, in the
// order of coming, and before any other command sees it.

// newSessions is n sessions of one server that knows the queue commands.
func newSessions(t *testing.T, n int, o firn.Options) []*ours {
	t.Helper()
	srv := New(openStore(t, o), Options{})
	AddQueueCommands(srv)
	all := make([]*ours, n)
	for i := range all {
		all[i] = newOurs(t, srv)
	}
	return all
}

// waits sends a command and makes sure that it waits.
func (o *ours) waits(t testing.TB, command string) {
	t.Helper()
	Check(t, command, o.Run(t, command), "")
	if !o.session.Waits() {
		t.Fatalf("%s: does not wait", command)
	}
}

// still makes sure that the session has nothing to say, and waits.
func (o *ours) still(t testing.TB) {
	t.Helper()
	Check(t, "who waits", string(o.take(t)), "")
	if !o.session.Waits() {
		t.Error("does not wait any more")
	}
}

func (o *ours) id() string { return fmt.Sprint(o.session.id) }

func pair(key, item string) string {
	return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(item), item)
}

func TestWaitersAreServedInTheOrderOfTheirComing(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		t.Run(fmt.Sprintf("memory=%d", memory), func(t *testing.T) {
			all := newSessions(t, 5, firn.Options{Memory: memory})
			pusher, waiters := all[0], all[1:]
			for _, w := range waiters {
				w.waits(t, "QPOP k 0")
			}
			Check(t, "one item", pusher.Run(t, "QPUSH k a", "EXISTS k"), ":1\r\n:0\r\n")
			Check(t, "first", string(waiters[0].take(t)), pair("k", "a"))
			waiters[1].still(t)
			Check(t, "two items", pusher.Run(t, "QPUSH k b c"), ":2\r\n")
			Check(t, "second", string(waiters[1].take(t)), pair("k", "b"))
			Check(t, "third", string(waiters[2].take(t)), pair("k", "c"))
			waiters[3].still(t)
			waiters[0].waits(t, "QPOP k 0")
			Check(t, "three items", pusher.Run(t, "QPUSH k d e f", "QPOP k 0"), ":3\r\n"+pair("k", "f"))
			Check(t, "fourth", string(waiters[3].take(t)), pair("k", "d"))
			Check(t, "first again", string(waiters[0].take(t)), pair("k", "e"))
			if n := pusher.session.srv.blockedClients(); n != 0 || len(pusher.session.srv.blocked.queues) != 0 {
				t.Errorf("afterwards: got %d waiting and %d queues, want none", n, len(pusher.session.srv.blocked.queues))
			}
		})
	}
}

func TestWhatServesAWaiterAndWhatDoesNot(t *testing.T) {
	for name, tt := range map[string]struct{ wait, other, want string }{
		"a push":                        {"QPOP k 0", "QPUSH k x", pair("k", "x")},
		"another key":                   {"QPOP k 0", "QPUSH j x", ""},
		"another database":              {"QPOP k 0", "SELECT 1|QPUSH k x", ""},
		"another type":                  {"QPOP k 0", "SET k x", ""},
		"another type, and then":        {"QPOP k 0", "SET k x|DEL k|QPUSH k x", pair("k", "x")},
		"another of its keys":           {"QPOP j k 0", "QPUSH k x", pair("k", "x")},
		"another type in front":         {"QPOP j k 0", "SET j 1|QPUSH k x", pair("k", "x")},
		"keys in a transaction":         {"QPOP j k 0", "MULTI|QPUSH k x|QPUSH j y|EXEC", pair("k", "x")},
		"one of them without any":       {"QPOP j k 0", "MULTI|QPUSH k x|QPUSH j y|DEL k|EXEC", pair("j", "y")},
		"the same key twice":            {"QPOP k k 0", "QPUSH k x y", pair("k", "x")},
		"a push that is undone":         {"QPOP k 0", "QFAIL k x", ""},
		"a push in a transaction":       {"QPOP k 0", "MULTI|QPUSH k x|QPUSH k y|EXEC", pair("k", "x")},
		"a push that is taken back":     {"QPOP k 0", "MULTI|QPUSH k x|QPOP k 0|EXEC", ""},
		"a push that is deleted":        {"QPOP k 0", "MULTI|QPUSH k x|DEL k|EXEC", ""},
		"a push that is replaced":       {"QPOP k 0", "MULTI|QPUSH k x|DEL k|SET k y|EXEC", ""},
		"a discarded push":              {"QPOP k 0", "MULTI|QPUSH k x|DISCARD", ""},
		"a rename":                      {"QPOP k 0", "QPUSH j x|RENAME j k", pair("k", "x")},
		"a copy":                        {"QPOP k 0", "QPUSH j x|COPY j k", pair("k", "x")},
		"a move":                        {"QPOP k 0", "SELECT 1|QPUSH k x|MOVE k 0", pair("k", "x")},
		"a swap":                        {"QPOP k 0", "SELECT 1|QPUSH k x|SWAPDB 0 1", pair("k", "x")},
		"a swap of others":              {"QPOP k 0", "SELECT 1|QPUSH k x|SWAPDB 2 1", ""},
		"a flush":                       {"QPOP k 0", "SET j 1|FLUSHALL", ""},
		"a restored state":              {"QPOP k 0", "QPUSH j x|QPOP j 0|QPUSH k x", pair("k", "x")},
		"a chain":                       {"QMOVE k j 0", "QPUSH k x", "$1\r\nx\r\n"},
		"a rotation":                    {"QMOVE k k 0", "QPUSH k x", "$1\r\nx\r\n"},
		"a destination of another type": {"QMOVE k j 0", "SET j 1|QPUSH k x", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n"},
		"a stream":                      {"QREAD k $ 0", "QADD k x", "*1\r\n$1\r\nx\r\n"},
		"a stream that ends":            {"QREAD k 5 0", "QADD k x|DEL k", "-UNBLOCKED the stream key no longer exists\r\n"},
		"a stream that is flushed":      {"QREAD k 5 0", "QADD k x|FLUSHALL", "-UNBLOCKED the stream key no longer exists\r\n"},
		"a stream that is replaced":     {"QREAD k 5 0", "QADD k x|SET k x", "-UNBLOCKED the stream key no longer exists\r\n"},
		"a stream that is read up to":   {"QREAD k 2 0", "QADD k x|QADD k y", ""},
		"a stream that is read behind":  {"QREAD k 1 0", "QADD k x|QADD k y", "*1\r\n$1\r\ny\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			all := newSessions(t, 2, firn.Options{})
			a, b := all[0], all[1]
			a.waits(t, tt.wait)
			b.Run(t, strings.Split(tt.other, "|")...)
			Check(t, tt.wait, string(a.take(t)), tt.want)
			if got, want := a.session.Waits(), tt.want == ""; got != want {
				t.Errorf("waits: got %t, want %t", got, want)
			}
			Check(t, "CLIENT UNBLOCK", b.Run(t, "CLIENT UNBLOCK "+a.id()), map[bool]string{true: ":1\r\n", false: ":0\r\n"}[tt.want == ""])
			a.take(t)
			Check(t, "afterwards", a.Run(t, "PING"), "+PONG\r\n")
		})
	}
}

// TestWaitersServeEachOther: an item goes through a chain of clients that
// move it on, and to the one who waits at its end.
func TestWaitersServeEachOther(t *testing.T) {
	all := newSessions(t, 4, firn.Options{})
	all[0].waits(t, "QPOP d 0")
	all[1].waits(t, "QMOVE c d 0")
	all[2].waits(t, "QMOVE b c 0")
	Check(t, "the push, and what it left", all[3].Run(t, "QPUSH b x", "EXISTS b c d"), ":1\r\n:0\r\n")
	Check(t, "who moved it last", string(all[1].take(t)), "$1\r\nx\r\n")
	Check(t, "who moved it first", string(all[2].take(t)), "$1\r\nx\r\n")
	Check(t, "who waits at the end", string(all[0].take(t)), pair("d", "x"))

	// Each client's commit is its own: the past shows every step.
	var steps []string
	for _, o := range []*ours{all[2], all[1], all[0]} {
		steps = append(steps, o.lastTS(t))
	}
	for i, key := range []string{"b", "c", "d"} {
		Check(t, "AT, before step "+key, all[3].Run(t, "AT "+fmt.Sprint(all[3].session.last)+" EXISTS b"), ":1\r\n")
		Check(t, "AT, after step "+key, all[3].Run(t, "AT "+steps[i]+" EXISTS "+key), ":0\r\n")
	}
}

// TestItemsRotateToTheNext: who moves an item within one list leaves it to
// those behind.
func TestItemsRotateToTheNext(t *testing.T) {
	all := newSessions(t, 4, firn.Options{})
	all[0].waits(t, "QMOVE k k 0")
	all[1].waits(t, "QMOVE k k 0")
	all[2].waits(t, "QPOP k 0")
	all[3].Run(t, "QPUSH k x")
	Check(t, "first", string(all[0].take(t)), "$1\r\nx\r\n")
	Check(t, "second", string(all[1].take(t)), "$1\r\nx\r\n")
	Check(t, "third", string(all[2].take(t)), pair("k", "x"))
}

// TestAWaiterThatFailsLeavesTheItemToTheNext, as its transaction is undone.
func TestAWaiterThatFailsLeavesTheItemToTheNext(t *testing.T) {
	all := newSessions(t, 3, firn.Options{})
	all[0].waits(t, "QMOVE k j 0")
	all[1].waits(t, "QPOP k 0")
	all[2].Run(t, "SET j 1", "QPUSH k x")
	Check(t, "the first", string(all[0].take(t)), "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n")
	Check(t, "the second", string(all[1].take(t)), pair("k", "x"))
}

// TestReadersOfAStreamAreAllServed, whichever of them have nothing yet.
func TestReadersOfAStreamAreAllServed(t *testing.T) {
	all := newSessions(t, 5, firn.Options{})
	all[0].waits(t, "QREAD k 3 0")
	all[1].waits(t, "QREAD k $ 0")
	all[2].waits(t, "QPOP k 0")
	all[3].waits(t, "QREAD k $ 0")
	all[4].Run(t, "QADD k x")
	all[0].still(t)
	all[2].still(t)
	for _, i := range []int{1, 3} {
		Check(t, "a reader", string(all[i].take(t)), "*1\r\n$1\r\nx\r\n")
	}
}

func TestCommandsThatFindSomethingDoNotWait(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		all := newSessions(t, 1, firn.Options{Memory: memory})
		a := all[0]
		got := a.Run(t, "QADD s x", "QPUSH l a b", "QREAD s 0 0", "QPOP l 0", "QREAD s 0 0", "PING")
		Check(t, "in a batch", got, ":1\r\n:2\r\n*1\r\n$1\r\nx\r\n"+pair("l", "a")+"*1\r\n$1\r\nx\r\n+PONG\r\n")
		Check(t, "as a read", a.Run(t, "GET k", "QREAD s 0 0", "GET k"), "$-1\r\n*1\r\n$1\r\nx\r\n$-1\r\n")
	}
}

// TestWhereNobodyMayWait the reply is that of the timeout, at once.
func TestWhereNobodyMayWait(t *testing.T) {
	all := newSessions(t, 1, firn.Options{})
	a := all[0]
	Check(t, "in a transaction", a.Run(t, "MULTI", "QPOP k 0", "QREAD s 0 0", "EXEC"), "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n*-1\r\n*-1\r\n")
	Check(t, "in one that reads", a.Run(t, "MULTI", "QREAD s 0 0", "EXEC"), "+OK\r\n+QUEUED\r\n*1\r\n*-1\r\n")
	Check(t, "in the past", a.Run(t, "AT now QREAD s 0 0"), "*-1\r\n")
	Check(t, "in a past connection", a.Run(t, "CLIENT ASOF now", "QREAD s 0 0", "CLIENT ASOF OFF"), "+OK\r\n*-1\r\n+OK\r\n")
	a.waits(t, "QREAD s 0 0")
}

// TestCommandsBehindOneThatWaits run after it, and only then.
func TestCommandsBehindOneThatWaits(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	Check(t, "until it waits", a.Run(t, "SET j 1", "QPOP k 0", "GET j", "QPOP k 0", "QPUSH k y", "PING"), "+OK\r\n")
	Check(t, "more input", a.Run(t, "ECHO more"), "")
	b.Run(t, "INCR j", "QPUSH k x")
	Check(t, "until it waits again", string(a.take(t)), pair("k", "x")+"$1\r\n2\r\n")
	a.still(t)
	b.Run(t, "QPUSH k z")
	Check(t, "to the end", string(a.take(t)), pair("k", "z")+":1\r\n+PONG\r\n$4\r\nmore\r\n")
}

func TestRepliesThatNobodyWantsAreNotSent(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	a.waits(t, "CLIENT REPLY SKIP\r\nQPOP k 0\r\nPING")
	b.Run(t, "QPUSH k x")
	Check(t, "after it", string(a.take(t)), "+PONG\r\n")
	a.waits(t, "CLIENT REPLY OFF\r\nQPOP k 0\r\nCLIENT REPLY ON")
	b.Run(t, "CLIENT UNBLOCK "+a.id()+" ERROR")
	Check(t, "after it", string(a.take(t)), "+OK\r\n")
}

func TestWaitsEndByTimeout(t *testing.T) {
	all := newSessions(t, 3, firn.Options{})
	a, b, c := all[0], all[1], all[2]
	began := time.Now()
	Check(t, "QPOP", string(a.tell(t, []byte("QPOP"), []byte("k"), []byte("0.05"))), "*-1\r\n")
	if took := time.Since(began); took < 50*time.Millisecond {
		t.Errorf("timeout of 50 ms: got %s, want no less", took)
	}
	Check(t, "QMOVE, RESP3", a.Run(t, "HELLO 3")[:1], "%")
	Check(t, "QMOVE, RESP3", string(a.tell(t, []byte("QMOVE"), []byte("k"), []byte("j"), []byte("0.001"))), "_\r\n")
	a.waits(t, "QPOP k 0.02")
	c.waits(t, "QPOP k 0")
	Check(t, "the first", string(a.later(t)), "_\r\n")
	b.Run(t, "QPUSH k x")
	Check(t, "the second", string(c.take(t)), pair("k", "x"))
}

func TestClientUnblock(t *testing.T) {
	all := newSessions(t, 3, firn.Options{})
	a, b, c := all[0], all[1], all[2]
	for reason, want := range map[string]string{
		"": "*-1\r\n", " TIMEOUT": "*-1\r\n", " error": "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n",
	} {
		a.waits(t, "QPOP k 1000")
		c.waits(t, "QPOP k 0")
		Check(t, "CLIENT UNBLOCK", b.Run(t, "CLIENT UNBLOCK "+a.id()+reason, "CLIENT UNBLOCK "+a.id()), ":1\r\n:0\r\n")
		Check(t, "who waited", string(a.take(t)), want)
		b.Run(t, "QPUSH k x")
		Check(t, "who waited behind", string(c.take(t)), pair("k", "x"))
	}
	Check(t, "nobody", b.Run(t, "CLIENT UNBLOCK 999999"), ":0\r\n")
}

func TestClientsThatGoLeaveTheirPlace(t *testing.T) {
	all := newSessions(t, 4, firn.Options{})
	for _, o := range all[:3] {
		o.waits(t, "QPOP j k 0")
	}
	all[0].session.Close()
	Check(t, "CLIENT KILL", all[3].Run(t, "CLIENT KILL ID "+all[2].id()), ":1\r\n")
	if need := all[2].session.Run(); need != NeedClose {
		t.Errorf("Run of a killed one: got %d, want NeedClose", need)
	}
	all[2].session.Close()
	all[3].Run(t, "QPUSH k x y")
	Check(t, "who stayed", string(all[1].take(t)), pair("k", "x"))
	Check(t, "what is left", all[3].Run(t, "QPOP k 0"), pair("k", "y"))
}

// TestInputOfWhoWaitsIsBounded by the limit of a command.
func TestInputOfWhoWaitsIsBounded(t *testing.T) {
	all := newSessions(t, 1, firn.Options{})
	a := all[0]
	a.Run(t, "CONFIG SET client-query-buffer-limit 1mb")
	a.waits(t, "QPOP k 0")
	more := []byte(strings.Repeat("GET k\r\n", 1000))
	need := NeedInput
	for i := 0; i < 1000 && need == NeedInput; i++ {
		a.session.Fill(copy(a.session.Space(len(more)), more))
		need = a.session.Run()
	}
	if need != NeedClose || a.session.in.Buffered() > 2<<20 {
		t.Errorf("input while waiting: got %d with %d bytes, want NeedClose before 2 MiB", need, a.session.in.Buffered())
	}
}

func TestWhoWaitsIsShown(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	a.waits(t, "QPOP k 0")
	a.session.Idle() // gives back what it does not need
	for what, want := range map[string]string{"CLIENT LIST ID " + a.id(): " flags=b ", "INFO clients": "blocked_clients:1\r\n"} {
		if got := b.Run(t, what); !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q in it", what, got, want)
		}
	}
	b.Run(t, "QPUSH k x")
	Check(t, "who waited", string(a.take(t)), pair("k", "x"))
	if got := b.Run(t, "CLIENT LIST ID "+a.id()+"\r\nINFO clients"); !strings.Contains(got, " flags=N ") || !strings.Contains(got, "blocked_clients:0\r\n") {
		t.Errorf("afterwards: got %q, want flags=N and blocked_clients:0", got)
	}
}

// TestStreamsThatExpireEndWaits, when they are swept and the server is told.
func TestStreamsThatExpireEndWaits(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	b.Run(t, "SELECT 3", "QADD k x", "PEXPIRE k 1")
	a.Run(t, "SELECT 3")
	a.waits(t, "QREAD k 5 0")
	for b.Run(t, "EXISTS k") != ":0\r\n" {
		continue
	}
	a.still(t)
	if _, err := keyspace.NewSweeper(a.Store).Step(); err != nil {
		t.Fatal(err)
	}
	a.session.srv.KeyExpired(2, []byte("k"))
	a.session.srv.KeyExpired(3, []byte("j"))
	a.session.srv.KeyExpired(3, []byte("k"))
	Check(t, "who waited", string(a.later(t)), "-UNBLOCKED the stream key no longer exists\r\n")
}

// TestWaitersAreNotTriedInVain: what is undone wakes nobody, and who waits
// behind one that found nothing is left alone, unless they read streams.
func TestWaitersAreNotTriedInVain(t *testing.T) {
	for name, tt := range map[string]struct {
		wait, other string
		want        []int // runs of each waiter's command
	}{
		"another key":     {"QPOP k 0", "QPUSH j x", []int{0, 0, 0, 0}},
		"what is undone":  {"QPOP k 0", "QFAIL k x", []int{0, 0, 0, 0}},
		"another type":    {"QPOP k 0", "SET k x", []int{1, 0, 0, 0}},
		"one item":        {"QPOP k 0", "QPUSH k x", []int{1, 1, 0, 0}},
		"two at once":     {"QPOP k 0", "MULTI|QPUSH k x|QPUSH k y|EXEC", []int{1, 1, 1, 0}},
		"one entry":       {"QREAD k 0 0", "QADD k x", []int{1, 1, 1, 1}},
		"nothing new yet": {"QREAD k 9 0", "QADD k x", []int{1, 1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			all := newSessions(t, 5, firn.Options{})
			var runs []*int
			for _, o := range all[:4] {
				o.waits(t, tt.wait)
				runs = append(runs, o.countRuns())
			}
			all[4].Run(t, strings.Split(tt.other, "|")...)
			for i, want := range tt.want {
				if *runs[i] != want {
					t.Errorf("runs of the command of waiter %d: got %d, want %d", i, *runs[i], want)
				}
			}
		})
	}
}

// TestWhoEndsAWaitDecides: its timeout comes when its turn has come, and
// before it is served.
func TestWhoEndsAWaitDecides(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	a, b := all[0], all[1]
	a.waits(t, "QPOP k 0")
	blocked := &a.session.srv.blocked
	_, err := a.Store.Update(t.Context(), func(tx *firn.Tx) error {
		blocked.touch(0, []byte("k"))
		blocked.settle(true)
		w, _ := blocked.next()
		if w == nil || !w.end(w.nothing) || w.end(w.nothing) {
			t.Error("the wait was not ended once")
		}
		if came, err := w.serve("k", tx); came != attemptGone || err != nil {
			t.Errorf("serve: got %d, %v, want that it is gone", came, err)
		}
		if w, _ := blocked.next(); w != nil {
			t.Error("somebody is left")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	Check(t, "who waited", string(a.take(t)), "*-1\r\n")
	Check(t, "afterwards", b.Run(t, "QPUSH k x", "QPOP k 0"), ":1\r\n"+pair("k", "x"))
}
