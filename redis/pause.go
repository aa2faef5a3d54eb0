package redis

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

// pauseMode is what CLIENT PAUSE holds back.
type pauseMode int32

const (
	pauseNothing pauseMode = iota
	pauseWrites
	pauseAll
)

// pause is the state of CLIENT PAUSE. A session whose command is held back
// asks for input, and is nudged at the end.
type pause struct {
	mode  atomic.Int32 // a pauseMode; changed with mu
	count atomic.Int64 // sessions that are held back

	mu    sync.Mutex
	until time.Time
	timer *time.Timer // nil: there is no pause
	round int         // which timer that is
	held  []*Session  // in the order of their coming
}

// stops says whether a command has to wait for the end of the pause.
func (p *pause) stops(s *Session, u *unit) bool {
	return p.mode.Load() != int32(pauseNothing) && p.stopsNow(s, u)
}

func (p *pause) stopsNow(s *Session, u *unit) bool {
	return u.cmd.Flags&command.NeverPaused == 0 && (p.mode.Load() == int32(pauseAll) || s.writes(u))
}

// writes says whether Redis would send a command to replicas.
func (s *Session) writes(u *unit) bool {
	if s.executes(u) {
		return s.multi.writes
	}
	return u.cmd.Flags&(command.Writes|command.Replicates) != 0
}

// begin pauses for d, or goes on with a pause that lasts longer. Of two modes
// the stricter holds.
func (p *pause) begin(mode pauseMode, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode.Store(max(p.mode.Load(), int32(mode)))
	until := time.Now().Add(d)
	if p.timer != nil && until.Before(p.until) {
		return
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	p.until = until
	p.round++
	round := p.round
	p.timer = time.AfterFunc(d, func() { p.expire(round) })
}

// expire ends the pause, unless that is another one by now.
func (p *pause) expire(round int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil && p.round == round {
		p.lift()
	}
}

// end ends the pause now.
func (p *pause) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
		p.lift()
	}
}

// lift lets everyone go on, in the order of their coming.
func (p *pause) lift() {
	p.mode.Store(int32(pauseNothing))
	p.timer = nil
	p.count.Store(0)
	for _, s := range p.held {
		s.paused.Store(false)
		s.nudge()
	}
	p.held = nil
}

// holdBack keeps the pending command until the pause ends; false if it has.
func (s *Session) holdBack() bool {
	p := &s.srv.blocked.pause
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return false
	}
	if !s.paused.Load() {
		s.next.words = keep(s.next.words) // the input goes on behind it
		s.next.args = s.next.words[len(s.next.words)-len(s.next.args):]
		s.paused.Store(true)
		p.held = append(p.held, s)
		p.count.Add(1)
	}
	return true
}

// forget takes a session out that ends.
func (p *pause) forget(s *Session) {
	if !s.paused.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.held, s); i >= 0 {
		p.held = slices.Delete(p.held, i, i+1)
		p.count.Add(-1)
		s.paused.Store(false)
	}
}

func clientPause(c *command.Call) error {
	mode := pauseAll
	switch {
	case len(c.Args) > 2:
		return command.ErrSubcommand(c)
	case len(c.Args) == 2 && command.Is(c.Args[1], "WRITE"):
		mode = pauseWrites
	case len(c.Args) == 2 && !command.Is(c.Args[1], "ALL"):
		return resp.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	}
	d, err := command.ParseTimeoutMillis(c.Args[0])
	if err != nil {
		return err
	}
	sessionOf(c).srv.blocked.pause.begin(mode, d)
	c.Reply.Simple("OK")
	return nil
}

func clientUnpause(c *command.Call) error {
	sessionOf(c).srv.blocked.pause.end()
	c.Reply.Simple("OK")
	return nil
}
