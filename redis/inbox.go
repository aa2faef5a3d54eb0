package redis

import (
	"sync"
	"sync/atomic"
	"time"
)

// inbox is what others have to say to a session: messages of channels,
// invalidations, what MONITOR shows. Anybody may put something in; the
// session takes it out between two of its own replies.
type inbox struct {
	nudge    func()                        // the driver's Nudge
	overflow func(unread int64)            // ends the client; it left so many bytes unread
	limits   *atomic.Pointer[outputLimits] // the server's

	proto  atomic.Int32 // what the client speaks
	nudged atomic.Bool  // something was put in, and the driver told, since the session last looked
	ahead  atomic.Int64 // bytes that were taken out and are not sent yet, at most

	mu   sync.Mutex
	buf  []byte      // encoded for the session's protocol
	soft *time.Timer // runs while more is unread than the soft limit allows
	shut bool        // nothing more is taken: the client is ended, or is to be
}

// Protocol is the protocol that what is pushed has to be in. It is safe on
// any goroutine.
func (b *inbox) Protocol() int { return int(b.proto.Load()) }

// Push sends the client something that it did not ask for just now. message
// is complete RESP and is copied. Push is safe on any goroutine and never
// blocks: a client that does not keep up is ended.
func (b *inbox) Push(message []byte) {
	b.mu.Lock()
	if b.shut {
		b.mu.Unlock()
		return
	}
	b.buf = append(b.buf, message...)
	unread, over := b.weighLocked()
	b.mu.Unlock()
	if over {
		b.overflow(unread)
		return
	}
	b.wake()
}

// wake has the driver run the session again, on any goroutine.
func (b *inbox) wake() {
	if !b.nudged.Swap(true) {
		b.nudge()
	}
}

// take appends what was pushed to out, which is or becomes the session's
// output.
func (b *inbox) take(out []byte) []byte {
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

// sent notes that output was sent, of which n bytes are left.
func (b *inbox) sent(left int64) {
	if b.ahead.Load() <= left {
		return
	}
	b.ahead.Store(left)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.soft != nil && left+int64(len(b.buf)) <= b.limit().soft {
		b.stopLocked()
	}
}

// inboxSize is the bytes that wait in an inbox, and those of its buffer.
type inboxSize struct{ used, held int }

func (b *inbox) size() inboxSize {
	b.mu.Lock()
	defer b.mu.Unlock()
	return inboxSize{len(b.buf), cap(b.buf)}
}

// release gives back the buffer if nothing is in it.
func (b *inbox) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.buf) == 0 {
		b.buf = nil
	}
}

// close drops what was pushed, and takes nothing more.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shutLocked()
}

// limit is what a client may leave unread of what is pushed to it, whatever it
// does otherwise: replies it has asked for, and pushes are many.
func (b *inbox) limit() outputLimit { return b.limits.Load()[pubsubClients] }

// weighLocked decides what the bytes in the inbox and before it mean: true,
// that the client has to be ended. The caller holds the lock.
func (b *inbox) weighLocked() (unread int64, over bool) {
	unread = int64(len(b.buf)) + b.ahead.Load()
	l := b.limit()
	switch {
	case l.hard > 0 && unread > l.hard:
		b.shutLocked()
		return unread, true
	case l.soft == 0 || unread <= l.soft:
		b.stopLocked()
	case b.soft == nil:
		b.soft = time.AfterFunc(time.Duration(l.seconds)*time.Second, b.softLimitPassed)
	}
	return unread, false
}

// stopLocked forgets that the soft limit was passed.
func (b *inbox) stopLocked() {
	if b.soft != nil {
		b.soft.Stop()
		b.soft = nil
	}
}

// shutLocked makes the inbox take nothing any more.
func (b *inbox) shutLocked() {
	b.shut, b.buf = true, nil
	b.stopLocked()
}

// softLimitPassed ends a client that was above its soft limit all the time.
func (b *inbox) softLimitPassed() {
	b.mu.Lock()
	unread := int64(len(b.buf)) + b.ahead.Load()
	l := b.limit()
	over := !b.shut && b.soft != nil && l.soft > 0 && unread > l.soft
	b.soft = nil
	if over {
		b.shutLocked()
	}
	b.mu.Unlock()
	if over {
		b.overflow(unread)
	}
}
