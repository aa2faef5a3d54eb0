package redis

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn/resp"
)

// clientClass is a class of clients in client-output-buffer-limit.
type clientClass int

const (
	normalClients clientClass = iota
	replicaClients
	pubsubClients
)

// outputLimit is what a client of one class may leave unread.
type outputLimit struct {
	hard    int64 // bytes; more ends the client at once; 0: any amount
	soft    int64 // bytes; more for longer than seconds ends it; 0: any amount
	seconds int64
}

// outputLimits are the limits by class.
type outputLimits [3]outputLimit

// defaultOutputLimits are Redis's.
var defaultOutputLimits = outputLimits{
	replicaClients: {256 << 20, 64 << 20, 60},
	pubsubClients:  {32 << 20, 8 << 20, 60},
}

// classNames are the names that CONFIG GET shows.
var classNames = [...]string{normalClients: "normal", replicaClients: "slave", pubsubClients: "pubsub"}

func outputLimitText(srv *Server) string {
	var words []string
	for class, l := range srv.config.outputLimits.Load() {
		words = append(words, fmt.Sprintf("%s %d %d %d", classNames[class], l.hard, l.soft, l.seconds))
	}
	return strings.Join(words, " ")
}

func setOutputLimit(srv *Server, value string) error {
	next := *srv.config.outputLimits.Load()
	var words []string
	if value != "" {
		words = strings.Split(value, " ")
	}
	if len(words)%4 != 0 {
		return resp.Error("Wrong number of arguments in buffer limit configuration.")
	}
	for ; len(words) > 0; words = words[4:] {
		class := normalClients
		switch strings.ToLower(words[0]) {
		case "normal":
		case "slave", "replica":
			class = replicaClients
		case "pubsub":
			class = pubsubClients
		default:
			return resp.Error("Invalid client class specified in buffer limit configuration.")
		}
		hard, err := ParseBytes(words[1])
		soft, err2 := ParseBytes(words[2])
		seconds, err3 := strconv.ParseInt(words[3], 10, 32)
		if err != nil || err2 != nil || err3 != nil || seconds < 0 {
			return resp.Error("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		}
		next[class] = outputLimit{hard, soft, seconds}
	}
	srv.config.outputLimits.Store(&next)
	return nil
}

// What a guest can make the server hold of replies. A guest is a client that
// has to authenticate and never has: anybody, as often as there are clients.
const (
	guestFlushBytes  = 4 << 10 // unsent output at which Run wants it written
	guestUnreadBytes = 8 << 10 // more ends the client; two hundred refusals are less
)

func (s *Session) guest() bool { return !s.known && !s.srv.users.Open() }

// remark chooses the unsent output at which Run wants it written next.
func (s *Session) remark() {
	s.mark = len(s.out) - s.sent + flushBytes
	if s.guest() {
		s.mark += guestFlushBytes - flushBytes
	}
}

// limit is what the client may leave unread of its replies.
func (s *Session) limit() outputLimit {
	if s.guest() {
		return outputLimit{hard: guestUnreadBytes}
	}
	limits := s.srv.config.outputLimits.Load()
	if s.subs.total() > 0 {
		return limits[pubsubClients]
	}
	return limits[normalClients]
}

// Overflows says whether the client leaves more output unread than it may,
// which is logged. Drivers ask after they sent what they could, and end the
// client then.
func (s *Session) Overflows() bool {
	unsent := int64(len(s.out) - s.sent)
	if unsent == 0 {
		s.overSoft = time.Time{}
		return false
	}
	l := s.limit()
	over := l.hard > 0 && unsent > l.hard
	switch {
	case over || l.soft == 0 || unsent <= l.soft:
		s.overSoft = time.Time{}
	case s.overSoft.IsZero():
		s.overSoft = time.Now()
	default:
		over = time.Since(s.overSoft) > time.Duration(l.seconds)*time.Second
	}
	if over {
		s.logOverflow(unsent)
	}
	return over
}

// logOverflow counts and logs that a client is ended because it is too slow.
func (s *Session) logOverflow(unread int64) {
	s.srv.overflows.Add(1)
	s.srv.opts.Logger.Warn("client ended: it does not read what it is sent", "client", s.id, "address", s.peer, "unread_bytes", unread)
}

// pushLimit is what a client may leave unread of what is pushed to it,
// whatever it does otherwise: replies it has asked for, and pushes are many.
func (s *Session) pushLimit() outputLimit {
	return s.srv.config.outputLimits.Load()[pubsubClients]
}

// weighLocked decides what the bytes in the inbox and before it mean: true,
// that the client has to be ended. The caller holds the inbox's lock.
func (b *inbox) weighLocked(s *Session) (unread int64, over bool) {
	unread = int64(len(b.buf)) + b.ahead.Load()
	l := s.pushLimit()
	switch {
	case l.hard > 0 && unread > l.hard:
		b.shutLocked()
		return unread, true
	case l.soft == 0 || unread <= l.soft:
		b.stopLocked()
	case b.soft == nil:
		b.soft = time.AfterFunc(time.Duration(l.seconds)*time.Second, s.softLimitPassed)
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
func (s *Session) softLimitPassed() {
	b := &s.inbox
	b.mu.Lock()
	unread := int64(len(b.buf)) + b.ahead.Load()
	l := s.pushLimit()
	over := !b.shut && b.soft != nil && l.soft > 0 && unread > l.soft
	b.soft = nil
	if over {
		b.shutLocked()
	}
	b.mu.Unlock()
	if over {
		s.logOverflow(unread)
		s.Kill()
	}
}
