package redis

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/redis/command"
)

// inbox is what others have to say to a session: messages of channels,
// invalidations, what MONITOR shows. Anybody may put something in; the
// session takes it out between two of its own replies.
type inbox struct {
	nudged atomic.Bool  // something was put in, and the driver told, since the session last looked
	ahead  atomic.Int64 // bytes that were taken out and are not sent yet, at most

	mu   sync.Mutex
	buf  []byte      // encoded for the session's protocol
	soft *time.Timer // runs while more is unread than the soft limit allows
	shut bool        // nothing more is taken: the client is ended, or is to be
}

// Push sends the client something that it did not ask for just now. message
// is complete RESP and is copied. Push is safe on any goroutine and never
// blocks: a client that does not keep up is ended.
func (s *Session) Push(message []byte) {
	b := &s.inbox
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return
	}
	b.buf = append(b.buf, message...)
	unread, over := b.weighLocked(s)
	b.mu.Unlock()
	switch {
	case over:
		s.logOverflow(unread)
		s.Kill()
	case !b.nudged.Swap(true):
		s.Nudge()
	}
}

// takePushes moves what was pushed to the output.
func (s *Session) takePushes() {
	if s.inbox.nudged.Load() {
		s.out = s.takeInbox(s.out)
	}
}

// takeInbox appends what was pushed to out, which is or becomes the session's
// output.
func (s *Session) takeInbox(out []byte) []byte {
	b := &s.inbox
	b.nudged.Store(false) // first: what comes from now on nudges again
	b.mu.Lock()
	defer b.mu.Unlock()
	out = append(out, b.buf...)
	b.ahead.Add(int64(len(b.buf)))
	b.buf = b.buf[:0]
	if cap(b.buf) > keepBytes {
		b.buf = nil
	}
	return out
}

// takeInbox puts what was pushed before into the reply: what follows says that
// there will be no more of it. Inside EXEC's reply it has no place, and comes
// after that.
func takeInbox(c *command.Call) {
	if !sessionOf(c).multi.on {
		c.Reply.Buf = sessionOf(c).takeInbox(c.Reply.Buf)
	}
}

// sentPushes notes that output was sent, of which n bytes are left.
func (s *Session) sentPushes(left int64) {
	b := &s.inbox
	if b.ahead.Load() <= left {
		return
	}
	b.ahead.Store(left)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.soft != nil && left+int64(len(b.buf)) <= s.pushLimit().soft {
		b.stopLocked()
	}
}

// release gives back the buffer if nothing is in it.
func (b *inbox) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.buf) == 0 {
		b.buf = nil
	}
}

// closeInbox drops what was pushed.
func (s *Session) closeInbox() {
	b := &s.inbox
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shutLocked()
}

// Nudged says whether the session was nudged since Run last looked.
func (s *Session) Nudged() bool { return s.inbox.nudged.Load() }
