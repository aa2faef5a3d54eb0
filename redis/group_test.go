package redis

import (
	"fmt"
	"testing"

	"github.com/firndb/firn"
)

// A group is one batch of many sessions: what one pushes another gets within
// it, and when it fails they all learn that.

// begin runs a session until it needs a commit.
func (o *ours) begin(t testing.TB, input string) {
	t.Helper()
	input += "\r\n"
	o.session.Fill(copy(o.session.Space(len(input)), input))
	if need := o.session.Run(); need != NeedCommit {
		t.Fatalf("Run: got %d, want NeedCommit", need)
	}
}

// failing is a group whose commit fails.
type failing struct {
	*Group
	err error
}

func (f failing) Done(firn.Timestamp, error) { f.Group.Done(0, f.err) }

// groupOf makes a group of sessions that need a commit.
func groupOf(all ...*ours) (g *Group, decided chan struct{}) {
	g, decided = &Group{}, make(chan struct{}, 1)
	g.Decided = func() { decided <- struct{}{} }
	for _, o := range all {
		g.Add(o.session)
	}
	return g, decided
}

func TestAGroupServesItsOwnMembers(t *testing.T) {
	all := newSessions(t, 4, firn.Options{})
	outside := all[3]
	outside.waits(t, "QPOP k 0")
	all[0].begin(t, "INCR n\r\nQPOP k 0\r\nPING")
	all[1].begin(t, "QPUSH k a b c\r\nQPUSH k d\r\nINCR n")
	all[2].begin(t, "QPOP k 0\r\nPING")
	g, decided := groupOf(all[:3]...)
	if got := g.Len(); got != 6 {
		t.Errorf("Len: got %d, want 6", got)
	}
	all[0].submit(t, g, decided)
	Check(t, "who waited before", string(outside.take(t)), pair("k", "a"))
	Check(t, "who waited first", string(all[0].take(t)), ":1\r\n"+pair("k", "b")+"+PONG\r\n")
	Check(t, "who pushed", string(all[1].take(t)), ":3\r\n:2\r\n:2\r\n")
	Check(t, "who came later", string(all[2].take(t)), pair("k", "c")+"+PONG\r\n")
	Check(t, "what is left", all[0].Run(t, "QPOP k 0"), pair("k", "d"))
}

// TestAGroupThatFailsFailsForWhoWasServed, within it or before, and nothing
// is taken from the list.
func TestAGroupThatFailsFailsForWhoWasServed(t *testing.T) {
	full := "-MISCONF the disk is full: nothing was written\r\n"
	all := newSessions(t, 3, firn.Options{})
	before := all[2]
	before.waits(t, "QPOP k 0")
	all[0].begin(t, "QPOP k 0\r\nPING")
	all[1].begin(t, "QPUSH k a b\r\nGET n")
	g, decided := groupOf(all[:2]...)
	all[0].submit(t, failing{g, fmt.Errorf("write: %w", firn.ErrFull)}, decided)
	Check(t, "who waited before", string(before.take(t)), full)
	Check(t, "who began to wait", string(all[0].take(t)), full+"+PONG\r\n")
	Check(t, "who pushed", string(all[1].take(t)), full+full)
	for _, o := range all {
		if o.session.Waits() {
			t.Error("a session waits still")
		}
	}
	if n := before.session.srv.blockedClients(); n != 0 {
		t.Errorf("who waits: got %d, want nobody", n)
	}
}

// TestWhoGoesWhileHeIsServed does not come back, nor does the item.
func TestWhoGoesWhileHeIsServed(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	waiter, pusher := all[0], all[1]
	waiter.waits(t, "QPOP k 0")
	pusher.begin(t, "QPUSH k a")
	g, decided := groupOf(pusher)
	for i := 0; i < 2; i++ {
		if _, err := pusher.Store.Update(t.Context(), func(tx *firn.Tx) error { return g.Transact(i, tx) }); err != nil {
			t.Fatal(err)
		}
	}
	if !waiter.session.Served() {
		t.Fatal("not served by the second transaction")
	}
	Check(t, "CLIENT UNBLOCK of who is served", newOurs(t, pusher.session.srv).Run(t, "CLIENT UNBLOCK "+waiter.id()), ":0\r\n")
	Check(t, "before the commit", string(waiter.take(t)), "")
	waiter.session.Close()
	g.Done(0, nil)
	<-decided
	Check(t, "who pushed", string(pusher.take(t)), ":1\r\n")
	Check(t, "what is left", pusher.Run(t, "EXISTS k"), ":0\r\n")
}

// TestAGroupCanBeUsedAgain after it is decided.
func TestAGroupCanBeUsedAgain(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	g, decided := groupOf()
	for i := range 5 {
		all[0].waits(t, "QPOP k 0")
		all[1].begin(t, fmt.Sprintf("QPUSH k %d", i))
		g.Reset()
		g.Add(all[1].session)
		all[1].submit(t, g, decided)
		Check(t, "who waited", string(all[0].take(t)), pair("k", fmt.Sprint(i)))
		Check(t, "who pushed", string(all[1].take(t)), ":1\r\n")
	}
}

// overlapped is two groups as the writer runs them when their commits overlap:
// the second before the first is decided.
type overlapped struct {
	first     *Group
	runSecond func(*firn.Tx)
	decided   func() // the first is
}

func (o overlapped) Len() int { return o.first.total + 1 }

func (o overlapped) Transact(i int, tx *firn.Tx) error {
	if i < o.first.total {
		return o.first.Transact(i, tx)
	}
	o.runSecond(tx)
	return nil
}

func (o overlapped) Done(last firn.Timestamp, err error) {
	o.first.Done(last, err)
	o.decided()
}

// TestNobodyHearsOfWhatIsNotCommitted: a client that began to wait in one
// group is served in the next, which may run before the first is committed.
// What the client did before it waited is told then, and not what served it.
func TestNobodyHearsOfWhatIsNotCommitted(t *testing.T) {
	all := newSessions(t, 2, firn.Options{})
	all[0].session.srv.catalog.Trackers.Add(1) // somebody wants to be told
	all[0].begin(t, "INCR n\r\nQPOP k 0")
	all[1].begin(t, "QPUSH k a")
	first, decided := groupOf(all[0])
	second, _ := groupOf(all[1])
	s := all[0].session
	var w *waiter
	both := make(chan struct{})
	all[0].submit(t, overlapped{first, func(tx *firn.Tx) {
		for i := 0; i < second.Len(); i++ {
			if err := second.Transact(i, tx); err != nil {
				t.Error(err)
			}
		}
		if w = s.waiter.Load(); len(s.outbox.notes) == 0 || len(w.outbox.notes) == 0 {
			t.Errorf("before anything is committed: got %d and %d notes, want some of both", len(s.outbox.notes), len(w.outbox.notes))
		}
	}, func() {
		defer close(both)
		if len(s.outbox.notes) != 0 || len(w.outbox.notes) == 0 {
			t.Errorf("the first group is committed: got %d and %d notes left, want the second's", len(s.outbox.notes), len(w.outbox.notes))
		}
		second.Done(0, nil)
		if len(w.outbox.notes) != 0 {
			t.Errorf("both are committed: got %d notes left, want none", len(w.outbox.notes))
		}
	}}, decided)
	<-both // decided is only the first
	Check(t, "who waited", string(all[0].take(t)), ":1\r\n"+pair("k", "a"))
}
