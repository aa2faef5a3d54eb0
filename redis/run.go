package redis

import (
	"errors"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/measure"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
)

// unit is one command that was read: what one transaction or one read does.
type unit struct {
	cmd   *command.Entry
	args  [][]byte // after the name and the subcommand
	words [][]byte // name and all, for MONITOR
	err   error    // why it is refused; cmd may be nil then
	mute  bool     // CLIENT REPLY says that nobody wants the reply
	parks bool     // a read that found nothing: it has to run in a transaction, to wait
	reply []byte   // inside MULTI: made ahead, because it is about the past
}

// keep copies arguments into memory of their own, so that they outlive the
// input buffer.
func keep(args [][]byte) [][]byte {
	size := 0
	for _, arg := range args {
		size += len(arg)
	}
	kept, arena := make([][]byte, len(args)), make([]byte, 0, size)
	for i, arg := range args {
		arena = append(arena, arg...)
		kept[i] = arena[len(arena)-len(arg) : len(arena) : len(arena)]
	}
	return kept
}

// class is what a command needs in order to run.
type class int

const (
	classLocal  class = iota // the session alone, or it is refused
	classReads               // a snapshot of the present
	classWrites              // a transaction
	classBlocks              // a goroutine that may wait
	classPaused              // the end of CLIENT PAUSE
)

// classOf says what a command needs, now.
func classOf(s *Session, u *unit) class {
	switch {
	case u.err != nil:
		return classLocal
	case s.srv.pause.stops(u.cmd, func() bool { return isReplicated(s, u) }):
		return classPaused
	case s.multi.executes(u):
		return s.multi.class(s)
	case s.multi.on && u.cmd.Flags&command.NoQueue == 0:
		return classLocal // it is only queued
	case waits(u):
		return classBlocks
	case u.cmd.Flags&command.Local != 0:
		return classLocal
	case u.cmd.Flags&command.Writes != 0 || u.parks:
		return classWrites
	case s.asof != 0:
		return classBlocks
	}
	return classReads
}

// waits says whether a command may wait for the file, whatever it reads.
func waits(u *unit) bool {
	return u.cmd.Flags&command.OnWorker != 0 || u.cmd.Waits != nil && u.cmd.Waits(u.args)
}

// isReplicated says whether Redis would send a command to replicas.
func isReplicated(s *Session, u *unit) bool {
	if s.multi.executes(u) {
		return s.multi.writes
	}
	return u.cmd.Flags&(command.Writes|command.Replicates) != 0
}

// holdBack keeps the pending command until the pause ends; false if it has.
func holdBack(s *Session) bool {
	return s.srv.pause.hold(&s.paused, func() {
		s.next.words = keep(s.next.words) // the input goes on behind it
		s.next.args = s.next.words[len(s.next.words)-len(s.next.args):]
	})
}

// Run goes on until the session lacks something and says what. The driver
// does not call it between NeedCommit and Decided.
func (s *Session) Run() Need {
	if s.phase == phaseDecided && s.batch.settle(s) {
		return NeedCommit
	}
	if s.inbox.nudged.Load() {
		s.out.buf = s.inbox.take(s.out.buf)
		s.out.buf = s.live.Load().Refill(s.out.buf, s.out.sent)
	}
	if parked(s) {
		return s.rest()
	}
	for !s.closing && !s.killed.Load() {
		if s.out.full() {
			s.out.remark(s.guest())
			noteSizes(s)
			return NeedFlush
		}
		if !s.fetch() {
			break
		}
		switch classOf(s, &s.next) {
		case classLocal:
			s.runLocal()
		case classReads:
			if err := s.srv.store.Peek(s.peek); err != nil && !s.refuse(err) {
				s.phase = phaseCold
				return NeedCold
			}
		case classWrites:
			s.batch.gather(s)
			s.phase = phaseCommitting
			return NeedCommit
		case classBlocks:
			s.phase = phaseCold
			return NeedCold
		case classPaused:
			if holdBack(s) {
				return s.rest()
			}
		}
	}
	s.srv.stats.countKeys(s.call.Work)
	return s.rest()
}

// rest is what a session needs that has nothing to do. Input that comes while
// the client has to wait is kept, up to the limit of one command.
func (s *Session) rest() Need {
	noteSizes(s)
	if s.closing || s.killed.Load() || s.Waits() && int64(s.in.Buffered()) > s.srv.config.queryLimit.Load() {
		return NeedClose
	}
	return NeedInput
}

// refuse answers the pending read with an error of the store. It is false if
// the read only has to be run again where waiting for the file is allowed.
func (s *Session) refuse(err error) bool {
	if errors.Is(err, firn.ErrCold) {
		return false
	}
	if s.pending {
		s.pending = false
		if s.multi.executes(&s.next) {
			s.multi.end()
		}
		s.out.buf = s.fail(s.out.buf, &s.next, err)
	}
	return true
}

// fetch makes next the next complete command of the input, looked up and
// checked. It is false if there is none, or if the input is beyond repair.
func (s *Session) fetch() bool {
	if s.pending || s.bad == nil && s.parse() {
		return true
	}
	if s.bad == errWebRequest && !s.closing {
		s.srv.opts.Logger.Warn("client ended: it speaks HTTP, as a browser does that is made to attack", "client", s.id, "address", s.peer)
		s.closing = true
	}
	if s.bad != nil && !s.closing {
		s.srv.stats.protocolErrors.Add(1)
		w := resp.Writer{Proto: s.proto, Buf: s.out.buf}
		w.Error("ERR " + s.bad.Error())
		s.out.buf, s.closing = w.Buf, true
	}
	return false
}

// parse takes the next command from the input. A protocol error is kept in
// bad until the replies before it are there.
func (s *Session) parse() bool {
	words, ok, err := s.in.Next()
	if err != nil {
		s.bad = err
	}
	if err != nil || !ok {
		return false
	}
	s.prepare(words)
	if s.next.cmd == nil && isWebRequest(words[0]) {
		s.pending, s.bad = false, errWebRequest
		return false
	}
	return true
}

// prepare makes words the pending command.
func (s *Session) prepare(words [][]byte) {
	u := &s.next
	u.words = words
	u.cmd, u.args, u.err = s.srv.commands.Resolve(words)
	if u.err == nil {
		u.err = allowed(s, u.cmd)
	}
	if u.err == nil {
		u.err = permit(s, u.cmd, u.args)
	}
	if u.err == nil && s.multi.live != nil && u.cmd.Flags&command.NoQueue == 0 {
		u.err = u.cmd.MayLive()
	}
	if u.err != nil {
		s.multi.spoiled = true
	}
	if u.cmd != nil {
		s.cmd.Store(u.cmd)
	}
	u.mute, u.parks = s.mute >= muteThis, false
	if s.mute == muteThis {
		s.mute = speaking
	}
	s.pending = true
}

// allowed says whether the session may run a command at all.
func allowed(s *Session, cmd *command.Entry) error {
	switch {
	case cmd.Flags&command.Protected != 0 && !mayDebug(s.srv.opts.Debug, s.peer):
		return errDebug
	case !s.authed && cmd.Flags&command.NoAuth == 0 && !s.srv.users.Open():
		return errNoAuth
	case s.multi.on && cmd.Flags&command.NoMulti != 0:
		return errInMulti
	case s.asof != 0 && cmd.Flags&command.Writes != 0:
		return errASOF
	case s.srv.scripts.Busy() != scripting.NotBusy && s.multi.waitsFor(cmd):
		return s.srv.scripts.Busy().Error()
	case s.proto == 2 && cmd.Flags&command.PubSub == 0 && s.subs.Total() > 0:
		return errSubscriber(cmd)
	case cmd.Flags&command.Local == 0 && s.monitoring.Load():
		return errMonitor
	}
	return nil
}

// runLocal runs the pending command, which needs no data, or queues it, or
// refuses it.
func (s *Session) runLocal() {
	u := &s.next
	s.pending = false
	switch {
	case u.err != nil:
		if u.cmd != nil {
			u.cmd.Rejected.Add(1)
			if u.cmd.Flags&command.Executes != 0 {
				s.multi.end()
				u.err = execAbort(u.err)
			}
		}
		s.out.buf = s.fail(s.out.buf, u, u.err)
	case s.multi.on && u.cmd.Flags&command.NoQueue == 0:
		s.out.buf = s.multi.add(s, s.out.buf, u)
	default:
		s.out.buf, _ = s.runUnit(s.out.buf, u, nil, nil)
		s.srv.deliver(&s.outbox, &s.track, nil)
	}
}

// readFrom runs the pending command, and the reads that follow it, on one
// snapshot of the present, until it meets something else.
func (s *Session) readFrom(snap *firn.Snapshot) error {
	for {
		out, err := s.runUnit(s.out.buf, &s.next, snap, nil)
		if err == scripting.ErrLong {
			err = firn.ErrCold // where waiting for the file is allowed, this is, too
		}
		if err != nil && errors.Is(err, firn.ErrCold) {
			s.outbox.clear() // it will run again
			return firn.ErrCold
		}
		if err == command.ErrParks {
			s.outbox.clear() // the same
			s.next.parks = true
			return nil
		}
		s.out.buf, s.pending = out, false
		s.srv.deliver(&s.outbox, &s.track, nil)
		if s.out.full() || !s.parse() || classOf(s, &s.next) != classReads {
			return nil
		}
	}
}

// RunCold runs the pending command where waiting for the file is allowed. It
// is called once after Run returned NeedCold, on any goroutine; Run goes on
// after it.
func (s *Session) RunCold() {
	s.phase, s.block = phaseReady, true
	defer func() { s.block = false }()
	u := &s.next
	if s.multi.live != nil && s.multi.executes(u) {
		s.multi.live(s, u)
		return
	}
	if s.multi.executes(u) {
		s.multi.readAhead(s)
		if s.multi.writes {
			return // the past is read: from here it is like any transaction
		}
	}
	var err error
	switch {
	case waits(u):
		runOnWorker(s, u)
	case s.asof != 0:
		err = readPast(s)
	default:
		err = s.srv.store.View(s.peek)
	}
	if err != nil {
		s.refuse(err)
	}
}

// readPast runs the pending command on the session's moment of the past. The
// reply counts only if the horizon has not passed that moment meanwhile.
func readPast(s *Session) error {
	out := s.out.buf
	err := s.srv.store.At(s.asof, func(snap *firn.Snapshot) error {
		if s.partial {
			snap.Partial()
		}
		out, _ = s.runUnit(s.out.buf, &s.next, snap, nil)
		return nil
	})
	if err == nil {
		s.out.buf, s.pending = out, false
	}
	s.srv.deliver(&s.outbox, &s.track, nil)
	return err
}

// runUnit runs a command, or the transaction that it is the EXEC of, and
// appends the reply. An error has been answered, unless it is ErrCold or
// ErrParks.
func (s *Session) runUnit(out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	if _, ok := s.track.Since(); ok {
		return runTold(s, out, u, r, tx)
	}
	return runPlain(s, out, u, r, tx)
}

func runPlain(s *Session, out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	if s.multi.executes(u) && !s.multi.spoiled {
		return s.multi.exec(s, out, u, r, tx)
	}
	return s.run(out, u, r, tx)
}

// runTold tells the client before the reply which of the copies that it had when
// it came back are not good any more, as far as running the command has shown.
func runTold(s *Session, out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	start, noted := len(out), len(s.outbox.notes)
	out, err := runPlain(s, out, u, r, tx)
	if runsAgain(err) {
		return out, err
	}
	return tellStale(s, out, start, s.outbox.notes[noted:]), err
}

// run runs one command and appends its reply. An error has been answered,
// unless it is ErrCold or ErrParks. A command that begins to wait has replied
// nothing yet: Call.Wants says what it waits for.
func (s *Session) run(out []byte, u *unit, r firn.Reader, tx *firn.Tx) ([]byte, error) {
	c := s.callFor(u, u.args, r, tx, out)
	c.Waited, c.Patience = s.woken != nil, patience(s, u, tx)
	start := len(out)
	began := s.times.begin(u.cmd, len(u.args), c.Tx, s.block || s.srv.slow.All.Load())
	if u.cmd.Flags&command.RunsScript != 0 {
		shown(s, u) // before the commands that it calls
	}
	var err error
	if s.track.On {
		err = noteStaleKeys(s, u.cmd, u.args, c)
	}
	if err == nil {
		err = u.cmd.Run(c)
	}
	if took, timed := s.times.end(u.cmd, began); timed && took >= s.srv.slow.Floor() && !runsAgain(err) {
		wasSlow(s, u, took)
	}
	if u.cmd.Flags&command.RunsScript == 0 {
		shown(s, u)
	}
	if s.track.On {
		noteReads(s, u.cmd, u.args, c.R)
	}
	out = c.Reply.Buf
	c.Reply.Buf = nil
	if runsAgain(err) {
		u.cmd.Calls.Add(-1)
		return out[:start], err
	}
	if !s.multi.on {
		s.track.Ran(u.cmd)
	}
	switch {
	case err != nil:
		u.cmd.Failed.Add(1)
		return s.fail(out[:start], u, err), err
	case u.mute && u.cmd.Flags&command.Confirms == 0 || c.Wants != nil:
		out = out[:start]
	}
	return out, nil
}

// runsAgain says that a command has not run for good.
func runsAgain(err error) bool {
	return err != nil && (err == command.ErrParks || err == scripting.ErrLong || errors.Is(err, firn.ErrCold))
}

// callFor is the session's call, set up to run a command and to append the
// reply to out. Waited and patience are the caller's to set.
func (s *Session) callFor(u *unit, args [][]byte, r firn.Reader, tx *firn.Tx, out []byte) *command.Call {
	c := &s.call
	c.Begin()
	c.Witness = (*sessionWitness)(s)
	if u.cmd.Flags&command.OnWorker != 0 {
		c.Witness = keyspace.Nobody{} // it is about the past
	}
	c.Cmd, c.Operation, c.Args, c.DB, c.R, c.Tx, c.Wants, c.Followed = u.cmd, u.cmd.Operation, args, s.db, r, nil, nil, 0
	if u.cmd.Flags&command.Writes != 0 {
		c.Tx = tx
	}
	c.Reply = resp.Writer{Proto: s.proto, Buf: out}
	return c
}

// fail appends an error's text for the client. What is not for clients goes
// to the log as well.
func (s *Session) fail(out []byte, u *unit, err error) []byte {
	text, known := wire(asWritten(u.words, err))
	if !known {
		name := ""
		if u.cmd != nil {
			name = u.cmd.Full
		}
		s.srv.opts.Logger.Error("command failed", "command", name, "client", s.id, "error", err)
	}
	s.srv.stats.countError(text)
	if u.mute {
		return out
	}
	w := resp.Writer{Proto: s.proto, Buf: out}
	w.Error(text)
	return w.Buf
}

// wasSlow tells those who want to know that a command was slow.
func wasSlow(s *Session, u *unit, took time.Duration) {
	now := s.srv.opts.Now()
	if s.srv.slow.Wants(took) && u.cmd.Flags&command.Skip == 0 && !hidesSecret(s.srv.commands, u.cmd, u.args) {
		s.srv.slow.Add(measure.SlowCommand{At: now, Took: took, Words: measure.SlowWords(u.cmd.Full, u.args), Peer: s.peer, Name: s.view.Load().name})
	}
	s.srv.latency.Add(slowEvent(u.cmd), now, took)
}

// slowEvent is what the latency monitor calls a slow run of a command.
func slowEvent(e *command.Entry) string {
	if e.Flags&command.Fast != 0 {
		return "fast-command"
	}
	return "command"
}

// shown notes a command that was run, if anybody looks on. Commands for
// operators are not shown, as in Redis, nor those that run again after they
// waited.
func shown(s *Session, u *unit) {
	if s.srv.monitors.Count.Load() == 0 || u.cmd.Flags&command.Admin != 0 || s.call.Waited || len(u.words) == 0 || hidesSecret(s.srv.commands, u.cmd, u.words[1:]) {
		return
	}
	s.outbox.add(note{what: noteMonitor}, monitorLine(s.srv.opts.Now(), s.db, s.peer, u.cmd, u.words), nil)
}
