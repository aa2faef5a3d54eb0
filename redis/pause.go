package redis

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/command"
)

// pauseMode is what CLIENT PAUSE holds back.
type pauseMode int32

const (
	pauseNothing pauseMode = iota
	pauseWrites
	pauseAll
)

// pausedClient is a client as a pause knows it.
type pausedClient struct {
	inbox *inbox
	held  atomic.Bool // its next command is held back
}

// pause is the state of CLIENT PAUSE. A session whose command is held back
// asks for input, and is nudged at the end.
type pause struct {
	mode  atomic.Int32 // a pauseMode; changed with mu
	count atomic.Int64 // clients that are held back

	mu    sync.Mutex
	until time.Time
	timer *time.Timer     // nil: there is no pause
	round int             // which timer that is
	held  []*pausedClient // in the order of their coming
}

// isOn says whether there is a pause. No key is ended in one, as in Redis: what is
// read does not show those that are due, but nobody is told.
func (p *pause) isOn() bool { return p.mode.Load() != int32(pauseNothing) }

// stops says whether a command has to wait for the end of the pause. writes
// says that Redis would send it to replicas; it is asked only in a pause.
func (p *pause) stops(e *command.Entry, writes func() bool) bool {
	return p.isOn() && e.Flags&command.NeverPaused == 0 && (p.mode.Load() == int32(pauseAll) || writes())
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
	for _, c := range p.held {
		c.held.Store(false)
		c.inbox.wake()
	}
	p.held = nil
}

// hold holds a client back until the pause ends; false if it has. first is
// called if the client was not held back before.
func (p *pause) hold(c *pausedClient, first func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer == nil {
		return false
	}
	if !c.held.Load() {
		first()
		c.held.Store(true)
		p.held = append(p.held, c)
		p.count.Add(1)
	}
	return true
}

// forget takes a client out that ends.
func (p *pause) forget(c *pausedClient) {
	if !c.held.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.held, c); i >= 0 {
		p.held = slices.Delete(p.held, i, i+1)
		p.count.Add(-1)
		c.held.Store(false)
	}
}
