package redis

import (
	"time"

	"github.com/firndb/firn/redis/command"
)

// How long commands take. Reading the clock twice costs as much as a tenth of
// a small read, so those are timed one in sampleEvery; whatever may be slow is
// timed always, for the slow log has to show it. Of reads and writes that are
// many the statistics take one in sampleEvery, too.
const (
	sampleEvery = 16 // a power of two
	quickArgs   = 16 // a fast command with more arguments may be slow

	// Below this threshold of the slow log or the latency monitor every
	// command is timed.
	alwaysTimed = time.Millisecond
)

// begin counts a call, and returns when it began; 0 if it is not timed.
func (s *Session) begin(u *unit) time.Duration {
	n := u.cmd.Calls.Add(1)
	s.sampled = n&(sampleEvery-1) == 1 || u.cmd.Flags&command.Fast == 0 && u.cmd.Flags&command.Writes == 0
	if !s.sampled && u.cmd.Flags&(command.Fast|command.Writes) == command.Fast && len(u.args) <= quickArgs && !s.block && !s.srv.slow.all.Load() {
		return 0
	}
	if tx := s.call.Tx; tx != nil {
		follows := tx.Timestamp() - s.endedIn
		s.endedIn = tx.Timestamp()
		if follows == 0 || follows == 1 {
			return s.ended // the session's own transaction before this one has just ended
		}
	}
	return command.Clock()
}

// end counts how long a timed call has taken.
func (s *Session) end(u *unit, began time.Duration) {
	if began == 0 {
		return
	}
	s.ended = command.Clock()
	took := s.ended - began
	if s.sampled {
		u.cmd.Timed(took)
	}
	if took >= s.srv.slow.floor() {
		s.slow(u, took)
	}
}

// handOver remembers when a batch was handed to the store, if anybody wants
// to know how long that takes.
func (s *Session) handOver() {
	s.handed = 0
	if s.srv.latency.watched() {
		s.handed = command.Clock()
	}
}

// takeBack tells how long it took until the batch was decided.
func (s *Session) takeBack() {
	if s.handed != 0 {
		s.srv.latency.add("commit", s.srv.opts.Now(), command.Clock()-s.handed)
	}
}

// slow tells those who want to know that a command was slow.
func (s *Session) slow(u *unit, took time.Duration) {
	if s.srv.slow.wants(took) && u.cmd.Flags&command.Skip == 0 && !s.srv.hidesSecret(u.cmd, u.args) {
		s.srv.slow.add(s, u, took)
	}
	event := "command"
	if u.cmd.Flags&command.Fast != 0 {
		event = "fast-command"
	}
	s.srv.latency.add(event, s.srv.opts.Now(), took)
}
