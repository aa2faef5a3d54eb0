package redis

import (
	"reflect"
	"sync/atomic"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/redis/tracking"
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

	in  *resp.Reader
	out output

	phase   phase
	next    unit // the command that was read and is not run yet
	pending bool // there is one
	bad     error
	closing bool

	batch batch
	call  command.Call // reused, so that running a command allocates nothing
	times stopwatch
	block bool // the goroutine that runs the session may wait for the file
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

	script *scriptState  // of the scripts that it runs; nil: it never has
	limit  time.Duration // how long a script may take in the transaction, for which others wait; 0: as long as it likes

	who    identity
	author firn.Author // what transactions say of who wrote: see identify
	inbox  inbox
	outbox outbox
	subs   pubsub.Subscriptions
	track  tracking.Client
	live   atomic.Pointer[live.Client] // nil: nothing ever was

	partial bool // walks at asof leave out what is forgotten
	noEvict bool // CLIENT NO-EVICT, which only CLIENT LIST shows
	noTouch bool // CLIENT NO-TOUCH, the same

	waiter atomic.Pointer[waiter] // what the session waits with; nil: it does not
	woken  *waiter                // what next has waited with; nil: it has not

	follower *journal.Follower // the client follows what is committed; nil: it does not
	paused   pausedClient      // CLIENT PAUSE holds back its next command

	// What other sessions read of this one.
	cmd    atomic.Pointer[command.Entry] // the last command
	active atomic.Int64                  // when it came, ms
	view   atomic.Pointer[shownClient]   // what CLIENT LIST shows and changes rarely
	killed atomic.Bool

	monitoring atomic.Bool
	sizes      clientSizes
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
	s.inbox.nudge, s.inbox.overflow = func() { s.Nudge() }, func(unread int64) { overflowed(s, unread); s.Kill() }
	s.inbox.limits = &srv.config.outputLimits
	s.subs.Init(&srv.pubsub, &s.inbox)
	s.track.Init(s.id, &s.inbox)
	s.paused.inbox = &s.inbox
	s.in = resp.NewReader(srv.inputLimits())
	s.call.Client, s.call.View = s, keyspace.NewView(srv.catalog, (*sessionWitness)(s))
	s.reset()
	s.out.remark(s.guest())
	s.active.Store(s.born.UnixMilli())
	noteSizes(s)
	srv.clients.add(s.id, s)
	srv.stats.connections.Add(1)
	return s
}

// reset brings the session back to how it was when the client connected.
func (s *Session) reset() {
	s.proto, s.db, s.asof, s.partial, s.mute = 2, 0, 0, false, speaking
	s.who = identity{}
	s.noEvict, s.noTouch = false, false
	stopFollowing(s)
	s.multi.end()
	s.stopListening()
	s.user.Store(s.srv.users.Standard)
	setAuthed(s, s.srv.users.Open())
	s.publish()
}

func setAuthed(s *Session, ok bool) {
	s.authed = ok
	s.known = s.known || ok
	s.in.SetAuthenticated(ok)
}

// Close ends the session and forgets it. It must not be called between
// NeedCommit and Decided: a batch that was handed over is answered first.
func (s *Session) Close() {
	s.srv.clients.remove(s.id)
	unpark(s)
	stopFollowing(s)
	s.srv.pause.forget(&s.paused)
	s.stopListening()
	s.inbox.close()
	s.out.buf, s.out.sent = nil, 0
	s.batch.release()
	s.multi.end()
	s.in.Release()
}

// Kill makes the session end. It is safe on any goroutine.
func (s *Session) Kill() {
	s.killed.Store(true)
	s.Hang()
}

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

// Unread is the bytes of input that no command was read from. held says that
// one was read and has not run: then Space must not be called.
func (s *Session) Unread() (bytes int, held bool) {
	return s.in.Buffered(), s.phase != phaseReady || s.pending || len(s.batch.units) > 0
}

// Output is what waits to be sent.
func (s *Session) Output() []byte { return s.out.unsent() }

// Sent says that the first n bytes of Output are gone.
func (s *Session) Sent(n int) {
	s.out.sent += n
	s.srv.stats.bytesOut.Add(int64(n))
	s.out.remark(s.guest())
	s.sizes.measureUnsent(len(s.out.unsent()))
	if s.inbox.ahead.Load() > 0 {
		s.inbox.sent(int64(len(s.out.unsent())))
	}
	s.out.drop()
	if len(s.out.buf) == 0 && s.live.Load().Waiting() {
		s.inbox.wake() // there is room for more pushes
	}
}

// guest says that the client has to authenticate and never has.
func (s *Session) guest() bool { return !s.known && !s.srv.users.Open() }

// Overflows says whether the client leaves more output unread than it may,
// which is logged. Drivers ask after they sent what they could, and end the
// client then.
func (s *Session) Overflows() bool {
	limits := s.srv.config.outputLimits.Load()
	limit := limits[normalClients]
	switch {
	case s.guest():
		limit = outputLimit{hard: guestUnreadBytes}
	case s.subs.Total() > 0:
		limit = limits[pubsubClients]
	}
	s.sizes.measureUnsent(len(s.out.unsent()))
	over := s.out.overflows(limit)
	if over {
		overflowed(s, int64(len(s.out.unsent())))
	}
	return over
}

// overflowed counts and logs that a client is ended because it is too slow.
func overflowed(s *Session, unread int64) {
	s.srv.overflows.Add(1)
	s.srv.opts.Logger.Warn("client ended: it does not read what it is sent", "client", s.id, "address", s.peer, "unread_bytes", unread)
}

// Idle gives back the buffers of a session that needs input and has no
// output. Drivers call it for clients that have been quiet for a while.
func (s *Session) Idle() {
	if s.phase != phaseReady || len(s.out.buf) > 0 || s.pending {
		return
	}
	s.in.Release()
	s.next.words, s.next.args = nil, nil // they would keep what was just given back
	s.out.buf = nil
	s.batch.release()
	s.inbox.release()
	if s.waiter.Load() == nil { // otherwise who serves it may be using these
		s.call.Args = nil
		s.call.Work.Release()
		s.outbox.release()
	}
	noteSizes(s)
}

// What a session takes without its buffers, and the parts of some of these.
var (
	sessionBytes = int(reflect.TypeFor[Session]().Size())
	unitBytes    = int(reflect.TypeFor[unit]().Size())
	noteBytes    = int(reflect.TypeFor[note]().Size())
)

// noteSizes notes what the buffers of a session take that is at rest. It belongs
// to the driver.
func noteSizes(s *Session) {
	args := 0
	if s.pending {
		args = bytesIn(s.next.words)
	}
	s.sizes.measureInput(s.in, args, s.multi.bytes)
	others := sessionBytes + s.in.Memory() + unitBytes*(cap(s.batch.units)+cap(s.multi.queue))
	if s.waiter.Load() == nil { // otherwise who serves it may be using the outbox
		others += noteBytes*cap(s.outbox.notes) + cap(s.outbox.text)
	}
	s.sizes.measureReplies(cap(s.out.buf)+cap(s.batch.held), len(s.out.buf), others, s.active.Load())
}

// LastActive is when the client last sent a command, in Unix milliseconds.
func (s *Session) LastActive() int64 { return s.active.Load() }

// Server is the server that the session belongs to.
func (s *Session) Server() *Server { return s.srv }

// sessionOf is the session that a command runs for.
func sessionOf(c *command.Call) *Session { return c.Client.(*Session) }

// InMulti implements Client.
func (s *Session) InMulti() bool { return s.multi.on || s.script.active() }

// MayBlock implements Client.
func (s *Session) MayBlock() bool { return s.block }

// AsOf implements Client.
func (s *Session) AsOf() firn.Timestamp { return s.asof }

// Now implements Client.
func (s *Session) Now() time.Time { return s.srv.opts.Now() }

// Listens says whether the client waits for messages, rather than to be
// answered: then its silence says nothing. It is safe on any goroutine.
func (s *Session) Listens() bool {
	return s.subs.Total() > 0 || s.monitoring.Load() || s.live.Load().Count() > 0
}

// Nudged says whether the session was nudged since Run last looked.
func (s *Session) Nudged() bool { return s.inbox.nudged.Load() }

// stopListening ends everything that makes others push to the session.
func (s *Session) stopListening() {
	s.subs.End()
	s.live.Load().Close()
	if s.monitoring.Swap(false) {
		s.srv.monitors.Remove(&s.inbox)
	}
	s.srv.tracking.Stop(&s.track)
}

// takeInbox puts what was pushed before into the reply: what follows says that
// there will be no more of it. Inside EXEC's reply it has no place, and comes
// after that.
func takeInbox(c *command.Call) {
	if s := sessionOf(c); !s.multi.on {
		c.Reply.Buf = s.inbox.take(c.Reply.Buf)
	}
}
