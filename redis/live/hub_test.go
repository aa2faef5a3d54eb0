package live

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/resp"
)

// A client is told whenever its reply has changed, once, in order, and never
// for nothing; and equal queries cost one evaluation.

func TestChangesArePushedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		r.do("SET", "k", "1")
		c := r.client()
		check(t, "first reply", c.live("a", "GET k"), "1")
		check(t, "a reply that fails", c.live("b", "HGET k f"), "WRONGTYPE Operation against a key holding the wrong kind of value")
		check(t, "the id again", c.live("a", "GET j"), string(errTaken))
		ts := r.do("SET", "k", "2")
		settle()
		check(t, "pushed", c.hear(), fmt.Sprintf("a@%d=2", ts))
		r.do("SET", "other", "x")
		settle()
		check(t, "pushed for another key", c.hear(), "")
		if st := r.hub.Stats(); st.FalseWakes != 1 || st.Evaluations != 2 || st.Pushes != 1 || st.Subscriptions != 1 || st.Queries != 1 {
			t.Errorf("stats: got %+v, want one subscription, two evaluations, one push, one false wake", st)
		}
		if !c.Unsubscribe("a") || c.Unsubscribe("a") || c.Count() != 0 {
			t.Error("UNLIVE: got something else than one subscription")
		}
		r.do("SET", "k", "3")
		settle()
		check(t, "pushed after UNLIVE", c.hear(), "")
		if st := r.hub.Stats(); st.Queries != 0 || len(r.watches) != 0 {
			t.Errorf("after UNLIVE: got %d queries, %d watches, want none", st.Queries, len(r.watches))
		}
	})
}

// TestEqualQueriesAreEvaluatedOnce: a thousand clients, and one evaluation for
// each commit.
func TestEqualQueriesAreEvaluatedOnce(t *testing.T) {
	const clients, commits = 1000, 5
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		all := make([]*listener, clients)
		for i := range all {
			all[i] = r.client()
			check(t, "first reply", all[i].live(fmt.Sprint("id", i), "GET k"), "nil")
		}
		if r.recorded != 1 || len(r.watches) != 1 {
			t.Errorf("to begin with: got %d recorded, %d watches, want one of each", r.recorded, len(r.watches))
		}
		for n := range commits {
			ts := r.do("SET", "k", fmt.Sprint(n))
			settle()
			for i, c := range all {
				if got, want := c.hear(), fmt.Sprintf("id%d@%d=%d", i, ts, n); got != want {
					t.Fatalf("client %d: got %s, want %s", i, got, want)
				}
				if c.nudges != n+1 {
					t.Fatalf("client %d: got %d nudges, want %d", i, c.nudges, n+1)
				}
			}
		}
		if st := r.hub.Stats(); st.Evaluations != commits || st.Pushes != clients*commits || st.Queries != 1 || st.Subscriptions != clients {
			t.Errorf("stats: got %+v, want %d evaluations for %d clients", st, commits, clients)
		}
		for _, c := range all {
			c.Close()
		}
		if st := r.hub.Stats(); st.Queries+st.Subscriptions+st.Bytes != 0 || len(r.watches)+len(r.hub.clients) != 0 {
			t.Errorf("at the end: got %+v, %d watches, %d clients, want none", st, len(r.watches), len(r.hub.clients))
		}
	})
}

// TestSlowClientsGetTheNewest: what waits for a client that does not read is
// one reply for each id, and the order of the ids stays.
func TestSlowClientsGetTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		c.live("a", "GET a")
		c.live("b", "GET b")
		r.do("SET", "b", "first")
		settle()
		for i := range 100 {
			r.do("SET", "a", fmt.Sprint(i))
			settle()
		}
		if c.nudges != 1 || len(c.ready) != 2 {
			t.Errorf("a client that does not read: got %d nudges, %d pending, want 1 and 2", c.nudges, len(c.ready))
		}
		check(t, "pushed", c.told(), "b=first a=99")
		r.do("SET", "a", "x")
		settle()
		r.do("SET", "a", "99") // as it was
		settle()
		check(t, "changed and changed back", c.hear(), "")
	})
}

// TestTakenInParts: a client whose output is full gets the rest later.
func TestTakenInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		for i := range 10 {
			c.live(fmt.Sprint(i), fmt.Sprintf("GET k%d", i))
			r.do("SET", fmt.Sprintf("k%d", i), "v")
		}
		settle()
		one := len(c.Take(nil, 1))
		if !c.Waiting() || len(c.ready) != 9 {
			t.Fatalf("after one: got waiting=%t, %d ready, want 9", c.Waiting(), len(c.ready))
		}
		c.Take(nil, 2*one)
		if len(c.ready) != 7-1 && len(c.ready) != 7 {
			t.Errorf("after about two more: got %d ready, want 7", len(c.ready))
		}
		c.Take(nil, 1<<20)
		if c.Waiting() {
			t.Error("after all: got waiting, want not")
		}
	})
}

// TestOneCommitOneTimestamp: several ids that went stale by one commit are
// pushed with one timestamp, though more was committed meanwhile.
func TestOneCommitOneTimestamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		c.live("a", "GET a")
		c.live("b", "GET b")
		c.live("c", "GET c") // there are two workers
		r.hold = make(chan struct{})
		ts := r.do("MSET", "a", "1", "b", "1", "c", "1")
		settle()
		r.write("MSET", "a", "2", "b", "2", "c", "2") // of which nobody hears yet
		close(r.hold)
		settle()
		check(t, "pushed", sorted(c.told()), "a=1 b=1 c=1")
		for _, id := range []string{"a", "b", "c"} {
			if got := c.seenAt(id); got != ts {
				t.Errorf("timestamp of %s: got %d, want %d", id, got, ts)
			}
		}
	})
}

func (c *Client) seenAt(id string) firn.Timestamp {
	at, _ := c.find(id)
	return c.subs[at].seenTS
}

// TestStaleWhileItRuns: what is committed while a query is evaluated has it
// evaluated once more after, and not twice at a time.
func TestStaleWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		c.live("a", "GET k")
		r.hold = make(chan struct{})
		r.do("SET", "k", "1")
		<-r.held
		for i := range 10 {
			r.do("SET", "k", fmt.Sprint(2+i))
		}
		time.Sleep(time.Second) // others may begin, this query may not
		settle()
		if r.recorded != 2 { // to begin with, and now
			t.Errorf("while one is under way: got %d evaluations, want 1", r.recorded-1)
		}
		close(r.hold)
		settle()
		check(t, "pushed", c.told(), "a=11")
		if r.recorded != 3 {
			t.Errorf("afterwards: got %d evaluations, want 2", r.recorded-1)
		}
	})
}

// TestSlowQueriesDoNotHoldUpOthers for longer than stragglerPatience.
func TestSlowQueriesDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		slow, c := r.client(), r.client()
		slow.live("slow", "GET s")
		hold := make(chan struct{})
		r.hold = hold
		r.do("SET", "s", "1")
		<-r.held
		r.hold = nil
		c.live("a", "GET a")
		r.do("SET", "a", "1")
		settle()
		check(t, "at once", c.told(), "")
		time.Sleep(stragglerPatience)
		settle()
		check(t, "after a while", c.told(), "a=1")
		close(hold)
		settle()
		check(t, "the slow one", slow.told(), "slow=1")
	})
}

// TestErrorsEndSubscriptionsOnce, for all who share the query.
func TestErrorsEndSubscriptionsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		a, b := r.client(), r.client()
		a.live("x", "GET k")
		b.live("y", "GET k")
		b.live("both", "GET k", "GET j")
		r.do("HSET", "k", "f", "v")
		settle()
		const wrong = "WRONGTYPE_Operation_against_a_key_holding_the_wrong_kind_of_value"
		check(t, "a", a.told(), "x="+wrong)
		check(t, "b, in a transaction it is an element", sorted(b.told()), sorted("y="+wrong+" both=["+wrong+",nil]"))
		r.do("DEL", "k")
		settle()
		check(t, "a, afterwards", a.told(), "")
		check(t, "b, afterwards", b.told(), "both=[nil,nil]")
		check(t, "the id is free", a.live("x", "GET k"), "nil")
		if a.Count() != 1 || b.Count() != 1 {
			t.Errorf("subscriptions: got %d and %d, want 1 and 1", a.Count(), b.Count())
		}
	})
}

// TestEndsAreNotToldOfANewSubscription: who has given an id away hears no more
// of the one before.
func TestEndsAreNotToldOfANewSubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		c.live("x", "GET k")
		r.do("HSET", "k", "f", "v")
		settle()
		check(t, "the id again", c.live("x", "HGET k f"), "v")
		check(t, "pushed", c.told(), "")
	})
}

func TestRightsAreCheckedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		users := acl.NewACL(r.commands, "")
		rights := func(rules ...string) *acl.Rights {
			if err := users.SetUser("u", append([]string{"reset", "on"}, rules...)); err != nil {
				t.Fatal(err)
			}
			return users.Find("u").Bounds.Load()
		}
		free, bound := r.client(), r.client()
		free.live("a", "GET k")
		bound.rights = rights("~k", "+get")
		check(t, "first reply", bound.live("a", "GET k"), "nil")
		check(t, "what is not allowed", bound.live("b", "GET other"), "NOPERM get")
		if st := r.hub.Stats(); st.Queries != 2 {
			t.Errorf("queries: got %d, want 2: their rights differ", st.Queries)
		}
		bound.rights = rights("~k", "~j", "+get")
		r.do("SET", "k", "1")
		settle()
		check(t, "with other rights that are enough", bound.told(), "a=1")
		bound.rights = rights("~j", "+get")
		bound.RightsChanged()
		settle()
		check(t, "with too few", bound.told(), "a=NOPERM_get")
		check(t, "those of others", free.told(), "a=1")
		r.do("SET", "k", "2")
		settle()
		check(t, "afterwards", bound.told()+free.told(), "a=2")
		if st := r.hub.Stats(); st.Queries != 1 || st.Subscriptions != 1 {
			t.Errorf("at the end: got %+v, want one query", st)
		}
	})
}

func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		before := r.do("SET", "k", "1")
		r.do("SET", "other", "x")
		resume := func(id, line string, since firn.Timestamp) string {
			reply, same, err := c.Subscribe(Request{ID: id, Form: r.form(line), Resume: true, Since: since})
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(same, " ", text(reply))
		}
		check(t, "nothing has changed", resume("a", "GET k", before), "true 1")
		after := r.do("SET", "k", "2")
		settle()
		check(t, "pushed", c.hear(), fmt.Sprintf("a@%d=2", after))
		check(t, "it has changed", resume("b", "GET k", before), "false 2")
		check(t, "at the newest", resume("c", "GET k", after), "true 2")
		r.do("HSET", "h", "f", "v")
		check(t, "it was of another type", resume("d", "HGET h f", after), "false v")
		later := r.do("DEL", "h")
		r.do("SET", "h", "s")
		check(t, "it is of another type", resume("e", "HGET h f", later), "WRONGTYPE Operation against a key holding the wrong kind of value")
		if got := resume("f", "GET k", r.Newest()+1_000_000); got == "" || got[:5] == "false" || got[:4] == "true" {
			t.Errorf("in the future: got %s, want an error", got)
		}
		settle()
		if c.Count() != 3 { // h is of another type again
			t.Errorf("subscriptions: got %d, want a, b and c", c.Count())
		}
	})
}

// TestLateJoiners: who subscribes to a query that others have been told more
// about is told that too.
func TestLateJoiners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		a, b := r.client(), r.client()
		a.live("a", "GET k")
		first := answer{question: question{r.form("GET k"), nil}}
		q, err := first.form.Parse(r.commands)
		if err != nil {
			t.Fatal(err)
		}
		if err := newEvaluator(r.hub).present(&q, &first); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		r.do("SET", "k", "1") // while b is about to subscribe
		settle()
		if err := b.add("b", &first); err != nil {
			t.Fatal(err)
		}
		settle()
		check(t, "a", a.told(), "a=1")
		check(t, "b", b.told(), "b=1")
	})
}

// TestNothingOlderThanTheFirstReply is pushed, although its evaluation began
// before.
func TestNothingOlderThanTheFirstReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		a, b := r.client(), r.client()
		a.live("a", "GET k")
		hold := make(chan struct{})
		r.hold = hold
		r.do("SET", "k", "1")
		<-r.held
		r.hold = nil
		ts := r.write("SET", "k", "2")
		time.Sleep(time.Millisecond)
		check(t, "first reply", b.live("b", "GET k"), "2")
		close(hold)
		settle()
		check(t, "b", b.told(), "")
		r.wake(ts)
		settle()
		check(t, "a, the newest", a.told(), "a=2")
		check(t, "b, as before", b.told(), "")
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		r.do("SET", "k", "0123456789")
		a, b := r.client(), r.client()
		l := &r.hub.Limits
		l.ClientSubscriptions.Store(2)
		l.Subscriptions.Store(3)
		check(t, "first", a.live("1", "GET k"), "0123456789")
		check(t, "second", a.live("2", "GET k"), "0123456789")
		check(t, "one client", a.live("3", "GET k"), string(errClientMax))
		check(t, "third", b.live("1", "GET k"), "0123456789")
		check(t, "all", b.live("2", "GET k"), string(errAllMax))
		b.Unsubscribe("1")
		l.ArgumentBytes.Store(20)
		check(t, "arguments", b.live("1", "GET 01234567890123456789"), string(errArguments))
		l.ReplyBytes.Store(18)
		check(t, "reply", b.live("1", "GET k GET k"[:5]), "0123456789")
		b.Unsubscribe("1")
		r.do("SET", "k", "01234567890123456789")
		settle()
		check(t, "a reply that has grown", sorted(a.told()), "1=ERR_the_reply_is_larger_than_live-max-reply-bytes 2=ERR_the_reply_is_larger_than_live-max-reply-bytes")
	})
}

// TestBookmarksComeWhileItIsQuiet, and none while nothing is committed, nor
// before what was stale is told.
func TestBookmarksComeWhileItIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		c := r.client()
		c.live("a", "GET k")
		time.Sleep(2 * bookmarkLook)
		settle()
		check(t, "the first", c.hear(), fmt.Sprintf("live-bookmark@%d", c.Client.told))
		time.Sleep(2 * bookmarkEvery)
		settle()
		check(t, "while nothing is committed", c.hear(), "")
		ts := r.do("SET", "other", "1")
		time.Sleep(bookmarkEvery)
		settle()
		check(t, "of what does not matter", c.hear(), fmt.Sprintf("live-bookmark@%d", ts))
		ts = r.do("SET", "k", "1")
		time.Sleep(3 * bookmarkLook)
		settle()
		check(t, "a push instead", c.hear(), fmt.Sprintf("a@%d=1", ts))
		ts = r.do("SET", "other", "2")
		time.Sleep(2 * bookmarkLook)
		settle()
		check(t, "too soon", c.hear(), "")
		r.passed.Add(1)
		time.Sleep(2 * bookmarkLook)
		settle()
		check(t, "when the horizon is about to move", c.hear(), fmt.Sprintf("live-bookmark@%d", ts))
		time.Sleep(bookmarkEvery + bookmarkLook/2) // between two looks: they hear of a commit when wake says so
		r.hold = make(chan struct{})
		r.do("SET", "k", "2")
		ts = r.write("SET", "other", "2")
		time.Sleep(2 * bookmarkEvery)
		settle()
		check(t, "while it is evaluated", c.hear(), "")
		close(r.hold)
		r.wake(ts)
		time.Sleep(2 * bookmarkEvery)
		settle()
		check(t, "afterwards", c.told(), "a=2")
	})
}

// TestBookmarksDoNotRunAhead of what a client has not been offered yet.
func TestBookmarksDoNotRunAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		c := r.client()
		c.live("a", "GET k")
		h, q := r.hub, c.subs[0].query
		h.mu.Lock()
		defer h.mu.Unlock()
		h.round.ts = c.Client.told + 10
		for _, tt := range []struct {
			state state
			wake  firn.Timestamp
			want  int
		}{{running, 0, 0}, {queued, h.round.ts - 1, 0}, {queued, h.round.ts, 0}, {queued, h.round.ts + 1, 1}} {
			h.round.bookmark = true
			q.state, q.wake = tt.state, tt.wake
			if got := len(h.markLocked()); got != tt.want {
				t.Errorf("with a query in state %d, stale at %d: got %d bookmarks of %d, want %d", tt.state, tt.wake, got, h.round.ts, tt.want)
			}
		}
	})
}

func TestFormsComeBack(t *testing.T) {
	r := newRig(t)
	f := NewForm(7, true)
	steps := [][]string{{"GET", "k"}, {"HMGET", "h", "", "a b", "\r\n"}, {"OBJECT", "ENCODING", "k"}, {"KEYS", "*"}}
	for _, words := range steps {
		e, args, err := r.commands.Resolve(bytesOf(words))
		if err != nil {
			t.Fatal(err)
		}
		f = f.With(e, args)
	}
	q, err := f.Parse(r.commands)
	if err != nil || q.DB != 7 || !q.Transaction || len(q.Steps) != len(steps) {
		t.Fatalf("got %+v, %v, want %d steps in database 7", q, err, len(steps))
	}
	again := NewForm(q.DB, q.Transaction)
	for _, s := range q.Steps {
		again = again.With(s.Entry, s.Args)
	}
	if again != f {
		t.Errorf("again: got %q, want %q", again, f)
	}
	for n := range len(f) {
		if q, err := f[:n].Parse(r.commands); err == nil && len(q.Steps) == len(steps) {
			t.Errorf("the first %d bytes: got all steps", n)
		}
	}
	if _, err := Form("\x00\x00\x03foo\x00").Parse(r.commands); err == nil {
		t.Error("an unknown command: got no error")
	}
}

func TestPushesAreEncodedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.run()
		a, b := r.client(), r.client()
		a.live("x", "GET k")
		b.live("y", "GET k")
		ts := r.do("SET", "k", "v")
		settle()
		if a.subs[0].pending != b.subs[0].pending || a.subs[0].pending == nil {
			t.Error("what is pending for two clients: got two results, want one")
		}
		w := resp.Writer{Proto: 3}
		w.Push(5)
		for _, s := range []string{"live", "x"} {
			w.BulkString(s)
		}
		w.Int(int64(ts))
		w.BulkString(r.store.Token(ts))
		w.BulkString("v")
		check(t, "the push", string(a.Take(nil, 1<<20)), string(w.Buf))
	})
}
