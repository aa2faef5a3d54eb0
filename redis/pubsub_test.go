package redis

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn"
)

// Messages come to all in one order, to nobody who has left, and not without
// end to those who do not read.

// messages are the last elements of the pushes in b.
func messages(t testing.TB, b []byte) []string {
	t.Helper()
	var all []string
	for _, frame := range frames(t, b) {
		if v, _, _ := parseValue(frame); v.mark == '>' || v.mark == '*' {
			all = append(all, v.elements[len(v.elements)-1].text)
		}
	}
	return all
}

func TestMessagesReachAllInOneOrder(t *testing.T) {
	const publishers, each = 4, 500
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	listeners := []*ours{newOurs(t, srv), newOurs(t, srv), newOurs(t, srv)}
	listeners[0].Run(t, "SUBSCRIBE x")
	listeners[1].Run(t, "HELLO 3", "SUBSCRIBE x")
	listeners[2].Run(t, "PSUBSCRIBE x*")
	var wg sync.WaitGroup
	for p := range publishers {
		from := newOurs(t, srv)
		wg.Go(func() {
			for i := range each {
				switch i % 3 {
				case 0:
					from.Run(t, fmt.Sprintf("PUBLISH x %d-%d", p, i))
				case 1:
					from.Run(t, "MULTI", fmt.Sprintf("PUBLISH x %d-%d", p, i), "EXEC")
				case 2:
					from.Run(t, "MULTI", "INCR n", fmt.Sprintf("PUBLISH x %d-%d", p, i), "EXEC")
				}
			}
		})
	}
	wg.Wait()
	var first []string
	for i, l := range listeners {
		l.pump(t)
		got := messages(t, l.session.Output())
		if i == 0 {
			first = got
			checkEach(t, got, publishers, each)
		}
		if strings.Join(got, " ") != strings.Join(first, " ") {
			t.Errorf("listener %d: got another order than the first", i)
		}
	}
}

// checkEach checks that the messages of each publisher are all there, in
// order.
func checkEach(t *testing.T, got []string, publishers, each int) {
	next := make([]int, publishers)
	for _, m := range got {
		p, n, _ := strings.Cut(m, "-")
		from, _ := strconv.Atoi(p)
		if n != strconv.Itoa(next[from]) {
			t.Fatalf("publisher %d: got message %s, want %d", from, n, next[from])
		}
		next[from]++
	}
	for p, n := range next {
		if n != each {
			t.Errorf("publisher %d: got %d messages, want %d", p, n, each)
		}
	}
}

func TestWhatCameBeforeUnsubscribingIsReadBefore(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "HELLO 3", "SUBSCRIBE x")
	Check(t, "UNSUBSCRIBE", a.Run(t, "PUBLISH x m", "UNSUBSCRIBE x", "PUBLISH x n"),
		":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\nm\r\n>3\r\n$11\r\nunsubscribe\r\n$1\r\nx\r\n:0\r\n:0\r\n")
	a.Run(t, "SUBSCRIBE x")
	Check(t, "RESET", a.Run(t, "PUBLISH x m", "RESET", "PING"), ":1\r\n>3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\nm\r\n+RESET\r\n+PONG\r\n")
}

func TestMessagesWaitForTheWritesBeforeThem(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "SUBSCRIBE x")
	Check(t, "replies", b.Run(t, "SET k 1", "PUBLISH x m", "GET k", "INCR k"), "+OK\r\n:1\r\n$1\r\n1\r\n:2\r\n")
	a.pump(t)
	Check(t, "message", strings.Join(messages(t, a.session.Output()), " "), "m")
}

func TestClosedSessionsLeaveNothingBehind(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	for range 10 {
		s := newOurs(t, srv)
		s.Run(t, "HELLO 3", "SUBSCRIBE a b", "PSUBSCRIBE a*", "SSUBSCRIBE s", "CLIENT TRACKING ON", "GET k", "GET j")
		m := newOurs(t, srv)
		m.Run(t, "CLIENT TRACKING ON BCAST PREFIX a PREFIX b", "MONITOR")
		s.session.Close()
		m.session.Close()
	}
	channels, patterns, shards := srv.pubsub.Counts()
	clients, keys, items, prefixes := srv.tracking.Counts()
	got := fmt.Sprint(channels, patterns, shards, srv.pubsub.Idle(), clients, keys, items, prefixes,
		srv.catalog.Trackers.Load(), srv.monitors.Count.Load())
	Check(t, "what is left", got, "0 0 0 true 0 0 0 0 0 0")
}

func TestClientListShowsWhoListens(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST", "SUBSCRIBE x y", "PSUBSCRIBE z", "SSUBSCRIBE s")
	if got := b.Run(t, "CLIENT LIST"); !strings.Contains(got, " flags=PtB db=0 sub=2 psub=1 ssub=1 ") || !strings.Contains(got, " redir=0 ") {
		t.Errorf("CLIENT LIST: got %q, want flags=PtB sub=2 psub=1 ssub=1 redir=0", got)
	}
}

// newSlow is a publisher, a listener that does not read, and one that does,
// with a limit in place.
func newSlow(t *testing.T, limit string) (from, slow, reads *ours) {
	t.Helper()
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	from, slow, reads = newOurs(t, srv), newOurs(t, srv), newOurs(t, srv)
	Check(t, "CONFIG SET", from.Run(t, `CONFIG SET client-output-buffer-limit "`+limit+`"`), "+OK\r\n")
	slow.Run(t, "SUBSCRIBE x")
	reads.Run(t, "SUBSCRIBE x")
	return from, slow, reads
}

func TestListenersThatDoNotReadAreEnded(t *testing.T) {
	from, slow, reads := newSlow(t, "pubsub 10kb 0 0")
	hung := 0
	slow.session.Hang = func() { hung++ }
	message := "PUBLISH x " + strings.Repeat("m", 1000)
	for range 50 {
		from.Run(t, message)
		reads.pump(t)
		if n := len(messages(t, reads.session.Output())); n != 1 {
			t.Fatalf("the one that reads: got %d messages, want 1", n)
		}
		reads.session.Sent(len(reads.session.Output()))
	}
	if !slow.session.killed.Load() || hung != 1 || slow.session.inbox.buf != nil {
		t.Errorf("killed: got %t, %d hang-ups, %d bytes kept, want true, 1 and 0", slow.session.killed.Load(), hung, len(slow.session.inbox.buf))
	}
	if reads.session.killed.Load() || from.session.srv.overflows.Load() != 1 {
		t.Errorf("others: got killed %t and %d in all, want false and 1", reads.session.killed.Load(), from.session.srv.overflows.Load())
	}
}

// TestOutputThatIsNotSentCountsToo has a driver that takes what is pushed, but
// cannot send it.
func TestOutputThatIsNotSentCountsToo(t *testing.T) {
	from, slow, _ := newSlow(t, "pubsub 10kb 0 0")
	message := "PUBLISH x " + strings.Repeat("m", 1000)
	for range 5 {
		from.Run(t, message)
		slow.pump(t)
	}
	slow.session.Sent(len(slow.session.Output()) - 10)
	for range 9 {
		from.Run(t, message)
		slow.pump(t)
	}
	if slow.session.killed.Load() || slow.session.Overflows() {
		t.Errorf("after 9 messages: got killed, want not")
	}
	from.Run(t, message, message)
	if !slow.session.killed.Load() {
		t.Errorf("after 11 messages: got not killed, want killed")
	}
}

func TestTheSoftLimitAllowsShortPeaks(t *testing.T) {
	for _, read := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			from, slow, other := newSlow(t, "pubsub 0 2kb 10")
			other.Run(t, "RESET")
			message := "PUBLISH x " + strings.Repeat("m", 1000)
			from.Run(t, message, message, message)
			slow.pump(t)
			time.Sleep(9 * time.Second)
			if read {
				slow.session.Sent(len(slow.session.Output()))
				from.Run(t, message, message, message)
			}
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if got := slow.session.killed.Load(); got == read {
				t.Errorf("read=%t: got killed %t, want %t", read, got, !read)
			}
			slow.session.Close()
			time.Sleep(20 * time.Second) // no timer is left to fire
			if n := from.session.srv.overflows.Load(); (n == 0) != read {
				t.Errorf("read=%t: got %d ended", read, n)
			}
		})
	}
}

func TestRepliesHaveTheLimitOfTheirClass(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	b.Run(t, "SET k "+strings.Repeat("v", 1000), `CONFIG SET client-output-buffer-limit "normal 500 0 0 pubsub 5000 0 0"`)
	get := "GET k\r\n"
	a.session.Fill(copy(a.session.Space(len(get)), get))
	a.pump(t)
	if !a.session.Overflows() {
		t.Errorf("1000 unread bytes of 500: got within the limit, want over it")
	}
	a.session.Sent(len(a.session.Output()))
	if a.session.Overflows() {
		t.Errorf("no unread bytes: got over the limit")
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, listeners := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("listeners=%d", listeners), func(b *testing.B) {
			srv := New(openStore(b, firn.Options{Durability: firn.None}), Options{})
			from := newOurs(b, srv)
			var all []*ours
			for range listeners {
				l := newOurs(b, srv)
				l.Run(b, "SUBSCRIBE news")
				all = append(all, l)
			}
			input := []byte(strings.Repeat("PUBLISH news 0123456789\r\n", 100))
			b.ReportAllocs()
			for b.Loop() {
				from.exchange(b, input)
				for _, l := range all {
					l.exchange(b, nil)
				}
			}
			b.ReportMetric(100*float64(b.N)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
