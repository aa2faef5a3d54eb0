package redis

import (
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Need says what a session waits for.
type Need int

// What Run can return.
const (
	NeedInput  Need = iota // all input is used up: write Output, then read more
	NeedFlush              // there is more to do, and much to write first: write Output, then Run again
	NeedCommit             // add the session to a Group and submit that; Run again after Decided
	NeedCold               // call RunCold where blocking is allowed, then Run again
	NeedClose              // write Output, then close
)

// Limits of one session's memory. Input is not read while a session waits, so
// these and the reader's limits bound it.
const (
	maxUnits     = 1024    // commands in one batch
	maxHeldBytes = 4 << 20 // replies after which a batch is cut
	flushBytes   = 1 << 20 // output after which Run wants it written
	keepBytes    = 1 << 20 // buffers above this are not kept for reuse
)

// phase is where a session is in its life. Between NeedCommit and Decided the
// session belongs to its Group, during RunCold to the worker,
// otherwise to the driver.
type phase int

const (
	phaseReady      phase = iota // Run may go on
	phaseCommitting              // units are with a Group; decide will be called
	phaseDecided                 // decide was called: held replies can be sent
	phaseCold                    // next waits for RunCold
)

// Session is one client's conversation, without I/O. Its methods must not be
// called concurrently, except Kill: while a session waits for a commit, its
// Group has it, and the driver may only use Output and Sent.
//
// A session whose command waits for a key, as BLPOP does, needs input as far
// as the driver is concerned, which so learns that the client has gone; it is
// nudged when the wait is over. Meanwhile call belongs to who serves it, see
// waiter.
//
// Arguments of commands alias the input buffer; they stay valid because a
// waiting session takes no input.
type Session struct {
	srv  *Server
	id   int64
	peer string // the client's address
	addr string // ours
	born time.Time

	// Hang is set by the driver and called, on any goroutine, when another
	// client kills this one. It must not block.
	Hang func()

	// Nudge is set by the driver and called, on any goroutine, when the
	// session has something to do or to say although no input came: the
	// driver calls Run when it next can. It must not block.
	Nudge func()

	in   *resp.Reader
	out  []byte // replies that the driver may send, from sent on
	sent int
	mark int // unsent output at which Run wants it written

	phase   phase
	next    unit // the command that was read and is not run yet
	pending bool // there is one
	bad     error
	closing bool

	units []unit         // the batch
	ran   int            // how many of units were run
	wrote firn.Timestamp // of the last of them that may have written; 0: none
	held  []byte         // their replies, until the batch is decided
	call  command.Call   // reused, so that running a command allocates nothing
	block bool           // the goroutine that runs the session may wait for the file
	peek  func(*firn.Snapshot) error

	proto  int
	db     int
	authed bool
	known  bool                        // it has been authed once, or needed not be
	user   atomic.Pointer[acl.Account] // who the client is; never nil
	mute   muting
	asof   firn.Timestamp // CLIENT ASOF; 0: the present
	last   firn.Timestamp // of this session's last commit
	multi  multi
	watch  map[watched]keyspace.KeyState // how WATCH found the keys
	who    identity
	author firn.Author // what transactions say of who wrote: see identify
	inbox  inbox
	outbox outbox
	subs   listening
	track  trackerState

	ended   time.Duration  // when the last timed command ended, by clock
	sampled bool           // the command that runs counts for the statistics of times
	handed  time.Duration  // when the batch was, by clock; 0: nobody wants to know
	endedIn firn.Timestamp // the last transaction in which one was timed

	overSoft time.Time // since when the output is above its soft limit; zero: it is not

	noEvict bool // CLIENT NO-EVICT, which only CLIENT LIST shows
	noTouch bool // CLIENT NO-TOUCH, the same

	waiter atomic.Pointer[waiter] // what the session waits with; nil: it does not
	paused atomic.Bool            // CLIENT PAUSE holds back its next command

	// What other sessions read of this one.
	cmd    atomic.Pointer[command.Entry] // the last command
	active atomic.Int64                  // when it came, ms
	queued atomic.Int32                  // commands queued by MULTI, or -1
	view   atomic.Pointer[shownClient]   // what CLIENT LIST shows and changes rarely
	killed atomic.Bool

	monitoring atomic.Bool
}

// muting is the state of CLIENT REPLY.
type muting int

const (
	speaking   muting = iota
	muteNext          // CLIENT REPLY SKIP was this command
	muteThis          // the command after it
	muteAlways        // CLIENT REPLY OFF
)

// NewSession registers a client that connected from peer to our address
// local. The driver sets Hang and Nudge, and calls Close at the end.
func (srv *Server) NewSession(peer, local string) *Session {
	s := &Session{
		srv: srv, id: srv.nextID.Add(1), peer: peer, addr: local,
		born: srv.opts.Now(), Hang: func() {}, Nudge: func() {},
	}
	s.peek = s.readFrom
	s.in = resp.NewReader(srv.inputLimits())
	s.call.Client, s.call.View = s, keyspace.NewView(srv.catalog, (*sessionWitness)(s))
	s.reset()
	s.remark()
	s.active.Store(s.born.UnixMilli())
	srv.clients.add(s)
	srv.stats.connections.Add(1)
	return s
}

// reset brings the session back to how it was when the client connected.
func (s *Session) reset() {
	s.proto, s.db, s.asof, s.mute = 2, 0, 0, speaking
	s.who = identity{}
	s.noEvict, s.noTouch = false, false
	s.endMulti()
	s.stopListening()
	s.user.Store(s.srv.users.Standard)
	s.setAuthed(s.srv.users.Open())
	s.publish()
}

func (s *Session) setAuthed(ok bool) {
	s.authed = ok
	s.known = s.known || ok
	s.in.SetAuthenticated(ok)
}

// Close ends the session and forgets it. It must not be called between
// NeedCommit and Decided: a batch that was handed over is answered first.
func (s *Session) Close() {
	s.srv.clients.remove(s)
	s.unpark()
	s.srv.blocked.pause.forget(s)
	s.stopListening()
	s.closeInbox()
	s.out, s.held, s.units, s.sent = nil, nil, nil, 0
	s.endMulti()
	s.in.Release()
}

// Kill makes the session end. It is safe on any goroutine.
func (s *Session) Kill() {
	s.killed.Store(true)
	s.Hang()
}

// Killed reports whether Kill was called.
func (s *Session) Killed() bool { return s.killed.Load() }

// Space returns room for at least min bytes of input. It ends the validity of
// every argument read before.
func (s *Session) Space(min int) []byte { return s.in.Space(min) }

// Fill says that n bytes were put into what Space returned.
func (s *Session) Fill(n int) {
	if n == 0 {
		return
	}
	s.in.Fill(n)
	s.srv.stats.bytesIn.Add(int64(n))
	s.active.Store(s.srv.opts.Now().UnixMilli())
}

// Output is what waits to be sent.
func (s *Session) Output() []byte { return s.out[s.sent:] }

// Sent says that the first n bytes of Output are gone.
func (s *Session) Sent(n int) {
	s.sent += n
	s.srv.stats.bytesOut.Add(int64(n))
	s.remark()
	if s.inbox.ahead.Load() > 0 {
		s.sentPushes(int64(len(s.out) - s.sent))
	}
	if s.sent < len(s.out) {
		return
	}
	s.sent = 0
	s.out = s.out[:0]
	if cap(s.out) > keepBytes {
		s.out = nil
	}
}

// Idle gives back the buffers of a session that needs input and has no
// output. Drivers call it for clients that have been quiet for a while.
func (s *Session) Idle() {
	if s.phase != phaseReady || len(s.out) > 0 || s.pending {
		return
	}
	s.in.Release()
	s.next.words, s.next.args = nil, nil // they would keep what was just given back
	s.out, s.held, s.units = nil, nil, nil
	s.inbox.release()
	if s.waiter.Load() == nil { // otherwise who serves it may be using these
		s.call.Args = nil
		s.call.Work.Ids.Release()
		s.outbox.release()
	}
}

// LastActive is when the client last sent a command, in Unix milliseconds.
func (s *Session) LastActive() int64 { return s.active.Load() }

// Server is the server that the session belongs to.
func (s *Session) Server() *Server { return s.srv }

// sessionOf is the session that a command runs for.
func sessionOf(c *command.Call) *Session { return c.Client.(*Session) }

// InMulti implements Client.
func (s *Session) InMulti() bool { return s.multi.on }

// MayBlock implements Client.
func (s *Session) MayBlock() bool { return s.block }

// AsOf implements Client.
func (s *Session) AsOf() firn.Timestamp { return s.asof }

// Now implements Client.
func (s *Session) Now() time.Time { return s.srv.opts.Now() }
