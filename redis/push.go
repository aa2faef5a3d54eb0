package redis

import "sync"

// inbox is what others have to say to a session: messages of channels,
// invalidations, what MONITOR shows. Anybody may put something in; the
// session takes it out between two of its own replies.
type inbox struct {
	mu     sync.Mutex
	buf    []byte // encoded for the session's protocol
	nudged bool   // the driver was told since the session last looked
}

// Push sends the client something that it did not ask for just now. message
// is complete RESP and is copied. Push is safe on any goroutine and never
// blocks: a client that does not keep up is ended.
func (s *Session) Push(message []byte) {
	b := &s.inbox
	b.mu.Lock()
	b.buf = append(b.buf, message...)
	nudge := !b.nudged
	b.nudged = true
	b.mu.Unlock()
	if nudge {
		s.Nudge()
	}
}

// takePushes moves what was pushed to the output.
func (s *Session) takePushes() {
	b := &s.inbox
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nudged = false
	if len(b.buf) == 0 {
		return
	}
	s.out = append(s.out, b.buf...)
	b.buf = b.buf[:0]
	if cap(b.buf) > keepBytes {
		b.buf = nil
	}
}

// Nudged says whether the session was nudged since Run last looked.
func (s *Session) Nudged() bool {
	s.inbox.mu.Lock()
	defer s.inbox.mu.Unlock()
	return s.inbox.nudged
}
