package redis

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Who waits for a commit is told of it, costs nothing meanwhile, and gets a token
// in any case.

// feedPage takes a reply of CHANGES apart.
func feedPage(t testing.TB, reply []byte) (token string, commits []value) {
	t.Helper()
	v, rest, err := parseValue(reply)
	if err != nil || len(rest) > 0 || len(v.elements) != 2 {
		t.Fatalf("got %q, which is no page", reply)
	}
	return v.elements[0].text, v.elements[1].elements
}

// shortFeed is the keys that a page tells of.
func shortFeed(t testing.TB, reply []byte) string {
	t.Helper()
	_, commits := feedPage(t, reply)
	var keys []string
	for _, c := range commits {
		for _, ch := range c.elements[1].elements {
			if !ch.elements[1].null {
				keys = append(keys, ch.elements[1].text)
			}
		}
	}
	return strings.Join(keys, " ")
}

func TestFollowersWaitForCommits(t *testing.T) {
	all := newSessions(t, 3, firn.Options{Durability: firn.None})
	a, b, writer := all[0], all[1], all[2]
	a.waits(t, "CHANGES $ BLOCK 0")
	b.waits(t, "CHANGES $ BLOCK 0 MATCH b*")
	if n := a.session.srv.blockedClients(); n != 2 {
		t.Errorf("got %d blocked clients, want 2", n)
	}
	if info := writer.Run(t, "CLIENT LIST"); strings.Count(info, "flags=b") != 2 {
		t.Errorf("got %s, want two that wait", info)
	}
	writer.Run(t, "SET a 1")
	Check(t, "a", shortFeed(t, a.later(t)), "a")
	writer.Run(t, "SET b 1")
	reply := b.later(t)
	for len(reply) == 0 { // woken by a as well
		reply = b.later(t)
	}
	Check(t, "b", shortFeed(t, reply), "b")
	if n := a.session.srv.blockedClients(); n != 0 {
		t.Errorf("got %d blocked clients, want none", n)
	}
}

func TestWhatIsThereAlreadyIsNotWaitedFor(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	b.Run(t, "SET a 1")
	token := b.Run(t, "LASTTS TOKEN")[5:38]
	b.Run(t, "SET b 1")
	Check(t, "page", shortFeed(t, []byte(a.Run(t, "CHANGES "+token+" BLOCK 0"))), "b")
	Check(t, "in a transaction", a.Run(t, "MULTI", "CHANGES $ BLOCK 0", "EXEC")[:18], "+OK\r\n+QUEUED\r\n*1\r\n")
}

func TestFollowersStopWaiting(t *testing.T) {
	t.Run("at their timeout", func(t *testing.T) {
		a, _ := NewPair(t, firn.Options{})
		a.waits(t, "CHANGES $ BLOCK 5")
		Check(t, "page", shortFeed(t, a.later(t)), "")
	})
	t.Run("unblocked", func(t *testing.T) {
		a, b := NewPair(t, firn.Options{})
		a.waits(t, "CHANGES $ BLOCK 0")
		Check(t, "unblock", b.Run(t, "CLIENT UNBLOCK "+a.id()), ":1\r\n")
		Check(t, "page", shortFeed(t, a.later(t)), "")
		a.waits(t, "CHANGES $ BLOCK 0")
		Check(t, "unblock", b.Run(t, "CLIENT UNBLOCK "+a.id()+" ERROR"), ":1\r\n")
		Check(t, "error", string(a.later(t)), "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")
		Check(t, "nobody waits", b.Run(t, "CLIENT UNBLOCK "+a.id()), ":0\r\n")
		a.waits(t, "CHANGES $ BLOCK 0")
		b.Run(t, "SET k 1")
		Check(t, "again", shortFeed(t, a.later(t)), "k")
	})
	t.Run("gone", func(t *testing.T) {
		a, b := NewPair(t, firn.Options{})
		a.waits(t, "CHANGES $ BLOCK 0")
		srv := a.session.srv
		a.session.Close()
		b.Run(t, "SET k 1")
		if n, followers := srv.blockedClients(), srv.store.Journal().Stats().Followers; n != 0 || followers != 0 {
			t.Errorf("got %d blocked clients and %d followers, want none", n, followers)
		}
	})
	t.Run("reset", func(t *testing.T) {
		a, _ := NewPair(t, firn.Options{})
		a.tell(t, SplitWords(t, "CHANGES $ BLOCK 1")...)
		if n := a.Store.Journal().Stats().Followers; n != 1 {
			t.Errorf("got %d followers, want 1", n)
		}
		a.Run(t, "RESET")
		if n := a.Store.Journal().Stats().Followers; n != 0 {
			t.Errorf("after RESET: got %d followers, want none", n)
		}
	})
}

// TestQuietFollowersGetANewerToken: before the horizon moves, those who wait are
// given a token that it does not pass.
func TestQuietFollowersGetANewerToken(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	b.Run(t, "SET a 1")
	token := b.Run(t, "LASTTS TOKEN")[5:38]
	a.waits(t, "CHANGES "+token+" BLOCK 0 MATCH nosuch")
	b.Run(t, "SET a 2", "SET a 3")
	for a.session.Waits() && len(a.nudged) > 0 {
		Check(t, "nothing", string(a.later(t)), "")
	}
	began := time.Now()
	Check(t, "compact", b.Run(t, "COMPACT BEFORE now")[:1], "*")
	var reply []byte
	for len(reply) == 0 {
		reply = a.later(t)
	}
	if took := time.Since(began); took > 8*time.Second { // it comes after ten anyway
		t.Errorf("a newer token came after %v only", took)
	}
	next, commits := feedPage(t, reply)
	if len(commits) > 0 || next == token {
		t.Errorf("got %q, want a newer token than %s and nothing else", reply, token)
	}
	Check(t, "the old one", b.Run(t, "AT "+token+" GET a")[:10], "-COMPACTED")
	Check(t, "the new one", shortFeed(t, []byte(b.Run(t, "CHANGES "+next))), "")
}

// TestBehindAFollowerThatWaits: what the client sends meanwhile is answered
// afterwards, in order.
func TestBehindAFollowerThatWaits(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.waits(t, "CHANGES $ BLOCK 0")
	Check(t, "nothing", a.Run(t, "PING", "SET k 2"), "")
	b.Run(t, "SET k 1")
	reply := string(a.later(t))
	if !strings.HasSuffix(reply, "+PONG\r\n+OK\r\n") {
		t.Errorf("got %q, want a page, PONG and OK", reply)
	}
	a.waits(t, "CHANGES $ BLOCK 0")
	b.Run(t, "SET k 3", "CLIENT PAUSE 100000")
	Check(t, "paused", string(a.take(t)), "")
	b.Run(t, "CLIENT UNPAUSE")
	for reply = ""; reply == ""; {
		reply = string(a.later(t))
	}
	Check(t, "after the pause", shortFeed(t, []byte(reply)), "k")
}

// TestNobodyLearnsOfKeysThatHeMayNotRead: neither their names nor where another
// came from.
func TestNobodyLearnsOfKeysThatHeMayNotRead(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	b.Run(t, "ACL SETUSER eve on nopass +changes %R~open:* %W~*")
	Check(t, "auth", a.Run(t, "AUTH eve x"), "+OK\r\n")
	b.Run(t, "SET secret 1", "SET open:a 1", "RPUSH hidden x", "RENAME hidden open:l", "RPUSH open:l y", "COPY secret open:c", "RENAME open:l hidden", "FLUSHDB")
	for _, options := range []string{"", " WHO VALUES", " VALUES MATCH *", " MATCH secret MATCH hidden VALUES", " MATCH * DB 0"} {
		reply := a.Run(t, "CHANGES -1h"+options)
		if reply[0] == '-' || strings.Contains(reply, "secret") || strings.Contains(reply, "hidden") {
			t.Errorf("CHANGES -1h%s: got %q", options, reply)
		}
	}
	got := shortFeed(t, []byte(a.Run(t, "CHANGES -1h")))
	Check(t, "keys", got, "open:a open:l open:l open:c open:l")
	b.Run(t, "ACL SETUSER eve -changes")
	Check(t, "refused", a.Run(t, "CHANGES -1h")[:7], "-NOPERM")
}

// TestLargeCommitsAreWhole: a page ends before it becomes too large, and a commit
// that is larger is one page.
func TestLargeCommitsAreWhole(t *testing.T) {
	a, b := NewPair(t, firn.Options{Durability: firn.None})
	large := strings.Repeat("x", 3<<20)
	words := [][]byte{[]byte("MSET")}
	for i := range 4 {
		words = append(words, fmt.Appendf(nil, "k%d", i), []byte(large))
	}
	b.tell(t, words...)
	b.tell(t, []byte("SET"), []byte("a"), []byte(large))
	b.tell(t, []byte("SET"), []byte("b"), []byte(large))
	token, sizes := "-1h", ""
	for range 3 {
		reply := a.large(t, resp.AppendCommand(nil, []byte("CHANGES"), []byte(token), []byte("VALUES")))
		next, commits := feedPage(t, reply)
		for _, c := range commits {
			sizes += fmt.Sprint(len(c.elements[1].elements))
		}
		sizes += " "
		token = next
	}
	if sizes != "4 11  " && sizes != "4 1 1 " {
		t.Errorf("changes of the commits of three pages: got %q, want that of four alone", sizes)
	}
}

// large is send for replies that take several writes.
func (o *ours) large(t testing.TB, input []byte) (reply []byte) {
	t.Helper()
	copy(o.session.Space(len(input)), input)
	o.session.Fill(len(input))
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		need := o.session.Run()
		reply = append(reply, o.session.Output()...)
		o.session.Sent(len(o.session.Output()))
		switch need {
		case NeedCold:
			o.session.RunCold()
		case NeedInput:
			return reply
		}
	}
	t.Fatal("no reply")
	return nil
}
