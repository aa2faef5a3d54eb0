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

// waiter is a command that waits for a key, and the session that sent it.
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

// parked says whether the session waits for a key. If the wait is over, it
// takes the reply.
func parked(s *Session) bool {
	w := s.waiter.Load()
	if w == nil || w.state.Load() != waiterAnswered {
		return w != nil
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
	case u.cmd.Flags&command.Blocks == 0 || s.multi.on || s.asof != 0:
		return command.RepliesAtOnce
	case tx == nil:
		return command.ParksLater
	}
	return command.ParksNow
}
