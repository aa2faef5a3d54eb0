package redis

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// waiter is a command that waits for a key or a commit, and the session that sent
// it.
//
// It begins parked. Who claims it, holding turn, decides how it ends: a
// transaction that serves it, its timeout, CLIENT UNBLOCK, or the session's
// end. Nobody else can then. Served it is answered only when the transaction
// is committed. The session takes the reply when its driver runs it again.
//
// While it is parked the session's call is used by who holds turn, and by
// nobody else.
type waiter struct {
	session *Session
	unit    unit // its arguments are copies
	kind    keyspace.Kind
	nothing func(*resp.Writer)
	named   int    // how many keys the command names
	links   []link // its places, one for each key; none once the wait is over
	timer   *time.Timer
	commit  *commitWait // it waits for a commit, and for no key; nil: for keys

	turn   sync.Mutex // before blocked.mu
	state  atomic.Int32
	outbox outbox         // what the transaction that served it has to tell
	reply  []byte         // once it is answered
	wrote  firn.Timestamp // of the transaction that served it, if that wrote
}

// States of a waiter.
const (
	waiterParked   int32 = iota
	waiterServed         // by a transaction that is not committed yet
	waiterAnswered       // reply is what the client gets
	waiterDue            // the session runs the command again: see commitWait
)

// park makes the session wait for what a command wants. It is called in the
// transaction in which the command found nothing.
func park(s *Session, u *unit, want *command.Wait) {
	args := want.Args
	if args == nil {
		args = u.args
	}
	w := &waiter{session: s, kind: want.Kind, named: len(want.Keys), nothing: want.Nothing}
	w.unit = unit{cmd: u.cmd, args: keep(args), mute: u.mute}
	w.turn.Lock()
	defer w.turn.Unlock()
	s.waiter.Store(w)
	s.srv.blocked.enter(w, s.db, want.Keys)
	if want.Timeout > 0 {
		w.timer = time.AfterFunc(want.Timeout, func() { w.end(w.nothing) })
	}
}

// unpark ends the wait of a session that does not want the reply any more.
func unpark(s *Session) {
	if w := s.waiter.Load(); w != nil {
		w.end(nil)
		s.waiter.Store(nil)
	}
}

// parked says whether the session waits for a key or a commit. If the wait is
// over, it takes the reply, or runs the command again.
func parked(s *Session) bool {
	w := s.waiter.Load()
	if w == nil {
		return false
	}
	switch w.state.Load() {
	case waiterAnswered:
	case waiterDue:
		w.takeUp()
		return false
	default:
		return true
	}
	s.out.buf = append(s.out.buf, w.reply...)
	if w.wrote != 0 {
		s.last = w.wrote
	}
	s.waiter.Store(nil)
	return false
}

// Waits says that the client waits for the server, and not the other way
// round: that it is silent does not mean that it is idle.
func (s *Session) Waits() bool {
	return s.waiter.Load() != nil || s.paused.held.Load()
}

// Served says that the session waited for a key, and that a transaction has
// served it: a reply is sure to come.
func (s *Session) Served() bool {
	w := s.waiter.Load()
	return w != nil && w.state.Load() != waiterParked
}

// end ends the wait with a reply, or, if that is nil, without one. It is
// false if somebody else has ended it.
func (w *waiter) end(reply func(*resp.Writer)) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.state.Load() != waiterParked {
		return false
	}
	if reply != nil && !w.unit.mute {
		out := resp.Writer{Proto: w.session.proto}
		reply(&out)
		w.reply = out.Buf
	}
	w.leave()
	w.state.Store(waiterAnswered)
	if reply != nil {
		w.session.inbox.wake()
	}
	return true
}

func (w *waiter) leave() {
	if w.commit != nil {
		w.leaveJournal()
		return
	}
	w.session.srv.blocked.leave(w)
	if w.timer != nil {
		w.timer.Stop()
	}
}

// attempt is what came of running a waiting command again.
type attempt int

const (
	attemptGone    attempt = iota // the wait was over
	attemptNothing                // there was nothing for it still
	attemptServed                 // it has its reply, or its error
)

// serve runs the command again because key was written, in a transaction of
// its own. An error undoes that, and is the command's answer.
func (w *waiter) serve(key string, tx *firn.Tx) (attempt, error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.state.Load() != waiterParked {
		return attemptGone, nil
	}
	if err := tx.SetAuthor(w.session.author); err != nil {
		return attemptNothing, err
	}
	reply, found, err := w.runAgain(w.argsFor(key), tx)
	if !found {
		w.outbox.clear()
		return attemptNothing, nil
	}
	if err != nil {
		w.outbox.undo(0)
	}
	w.leave()
	w.reply = reply
	if err == nil && tx.Wrote() {
		w.wrote = tx.Timestamp()
	}
	w.state.Store(waiterServed)
	return attemptServed, err
}

// argsFor is what the command runs with because key was written. Who waits
// for an element takes it from that key, as in Redis, whichever of the keys
// comes first: if a transaction brought several, others may have come before.
func (w *waiter) argsFor(key string) [][]byte {
	u := &w.unit
	if w.kind == keyspace.KindStream || len(w.links) < 2 {
		return u.args
	}
	return u.cmd.OnlyKey(u.args, w.named, key)
}

// decide answers a waiter that was served, when the transaction is committed
// or, if err is not nil, was not.
func (w *waiter) decide(err error) {
	w.turn.Lock()
	defer w.turn.Unlock()
	if err != nil {
		w.outbox.clear()
	}
	w.session.srv.deliver(&w.outbox, &w.session.track, nil) // also if the client has gone: it has changed keys
	if w.session.waiter.Load() != w {
		return // the client has gone, or its own batch has failed as well
	}
	if err != nil {
		w.reply, w.wrote = w.session.fail(nil, &w.unit, err), 0
	}
	w.state.Store(waiterAnswered)
	w.session.inbox.wake()
}

// runAgain runs a command that waited. found is false if it goes on waiting.
// What it has to tell is kept apart: what the session did before it waited may
// be decided earlier.
func (w *waiter) runAgain(args [][]byte, tx *firn.Tx) (reply []byte, found bool, err error) {
	s, u := w.session, &w.unit
	exchange := func() { s.outbox, w.outbox = w.outbox, s.outbox }
	exchange()
	defer exchange()
	c := s.callFor(u, args, tx, tx, nil)
	c.Waited, c.Patience = true, command.ParksNow
	err = u.cmd.Run(c)
	reply, found = c.Reply.Buf, c.Wants == nil
	c.Reply.Buf, c.Wants = nil, nil
	switch {
	case err != nil:
		u.cmd.Failed.Add(1)
		return s.fail(nil, u, err), true, err
	case u.mute:
		reply = nil
	}
	return reply, found, nil
}

// patience is what a command may do that finds nothing.
func patience(s *Session, u *unit, tx *firn.Tx) command.Patience {
	switch {
	case u.cmd.Flags&command.Blocks == 0 || s.multi.on || s.asof != 0 || s.woken != nil && s.woken.commit.last:
		return command.RepliesAtOnce
	case tx == nil:
		return command.ParksLater
	}
	return command.ParksNow
}

// Waiting for a commit, as CHANGES with BLOCK does. The store calls when there is
// one, and the session runs the command again, on a worker: a client that waits
// costs a timer and a place in a list.

// commitWait is what a waiter has that waits for a commit. The waiter's turn
// guards it.
type commitWait struct {
	after     firn.Timestamp
	until     time.Time   // it runs for the last time then
	passes    int64       // of the compactor when it began
	fruitless int         // how often it was woken in vain
	rest      *time.Timer // before which it is not woken; nil: it does not rest
	called    bool        // it was, while it rested
	stop      func()      // ends the asking; nil: it has not asked yet
	last      bool        // the command may not wait any more
}

// A client that follows few keys is woken by commits that are none of its
// business. It rests after that, the longer the more often: so a thousand such
// clients beside a busy writer take a part of a core, and what they wait for comes
// so much later at most.
const (
	shortestRest = time.Millisecond
	longestRest  = 16 * time.Millisecond
)

// parkForCommit makes the session wait for a commit. since is the wait that the
// command was woken from, if it was.
func parkForCommit(s *Session, u *unit, want *command.Wait, since *waiter) {
	w := &waiter{session: s}
	w.unit = unit{cmd: u.cmd, words: keep(append([][]byte{[]byte(u.cmd.Full)}, want.Args...)), mute: u.mute}
	w.unit.args = w.unit.words[1:]
	c := &commitWait{after: want.After, until: time.Now().Add(want.Timeout), passes: s.srv.store.Journal().Passed()}
	w.commit = c
	if since != nil {
		c.until, c.passes, c.fruitless = since.commit.until, since.commit.passes, since.commit.fruitless+1
	}
	s.srv.following.Add(1)
	s.waiter.Store(w)
	w.turn.Lock()
	w.timer = time.AfterFunc(time.Until(c.until), func() { w.runAgainSoon(true) })
	if c.fruitless > 0 {
		rest := min(shortestRest<<min(c.fruitless-1, 8), longestRest)
		c.rest = time.AfterFunc(rest, w.rested)
	}
	w.turn.Unlock()
	w.listen()
}

// listen asks the store to wake the waiter. That may be at once.
func (w *waiter) listen() {
	stop := w.session.srv.store.Journal().Notify(w.commit.after, w.call)
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.state.Load() == waiterParked {
		w.commit.stop = stop
		return
	}
	stop()
}

// call is called when there is a commit, or the horizon is about to move.
func (w *waiter) call() {
	w.turn.Lock()
	if w.commit.rest != nil {
		w.commit.called = true
		w.turn.Unlock()
		return
	}
	w.turn.Unlock()
	w.runAgainSoon(false)
}

// rested ends the rest.
func (w *waiter) rested() {
	w.turn.Lock()
	called := w.commit.called
	w.commit.rest = nil
	w.turn.Unlock()
	if called {
		w.runAgainSoon(false)
	}
}

// runAgainSoon ends the wait: the session runs the command again. last says that
// it replies then, whatever it finds. It is false if somebody else has ended it.
func (w *waiter) runAgainSoon(last bool) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	if w.state.Load() != waiterParked {
		return false
	}
	w.leave()
	w.commit.last = last
	w.state.Store(waiterDue)
	w.session.inbox.wake()
	return true
}

// leaveJournal is leave of a waiter that waits for a commit.
func (w *waiter) leaveJournal() {
	w.session.srv.following.Add(-1)
	for _, t := range [...]*time.Timer{w.timer, w.commit.rest} {
		if t != nil {
			t.Stop()
		}
	}
	if w.commit.stop != nil {
		w.commit.stop()
	}
}

// takeUp makes the command of a wait that is over the session's next.
func (w *waiter) takeUp() {
	s := w.session
	if s.srv.store.Journal().Passed() != w.commit.passes {
		w.commit.last = true // the horizon is to pass the token that the client has
	}
	s.next, s.pending, s.woken = w.unit, true, w
	s.waiter.Store(nil)
}

// follows says that the client follows what is committed, and has had everything
// up to a moment.
func follows(s *Session, ts firn.Timestamp) {
	if s.follower == nil {
		s.follower = s.srv.store.Journal().Follow(ts)
		return
	}
	s.follower.Moved(ts)
}

// stopFollowing says that the client follows no more.
func stopFollowing(s *Session) {
	if s.follower != nil {
		s.follower.Close()
		s.follower = nil
	}
}

// runOnWorker runs a command that may wait for the file, and for a commit.
func runOnWorker(s *Session, u *unit) {
	woken := s.woken
	s.out.buf, _ = s.run(s.out.buf, u, nil, nil)
	s.pending, s.woken = false, nil
	s.srv.deliver(&s.outbox, &s.track, nil)
	if woken != nil {
		u.cmd.Calls.Add(-1) // it was counted when it came
	}
	if ts := s.call.Followed; ts != 0 {
		follows(s, ts)
	}
	if want := s.call.Wants; want != nil {
		s.call.Wants = nil
		parkForCommit(s, u, want, woken)
	}
}
