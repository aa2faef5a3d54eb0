package redis

import (
	"slices"
	"strings"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/resp"
)

// denial is why a command is refused, from the least to the most specific.
type denial uint8

const (
	denialNone denial = iota
	denialCommand
	denialKey
	denialAuth
	denialChannel
)

// check says whether the rights allow a command with its arguments. If not,
// at is the number of the key or channel that is to blame.
func (r *rights) check(e *entry, args [][]byte) (why denial, object []byte) {
	last := -1
	for i := range r.selectors {
		d, at, what := r.selectors[i].check(e, args)
		if d == denialNone {
			return denialNone, nil
		}
		if d > why || d == why && at > last {
			why, last, object = d, at, what
		}
	}
	return why, object
}

// usualKeys is how many keys a command may have without an allocation when
// they are checked.
const usualKeys = 8

func (s *selector) check(e *entry, args [][]byte) (why denial, at int, object []byte) {
	if e.Flags&NoAuth == 0 && !s.commands.has(e) &&
		(len(args) == 0 || !slices.Contains(s.firstArgs[e], strings.ToLower(string(args[0])))) {
		return denialCommand, 0, nil
	}
	if !s.allKeys {
		var room [usualKeys]keyUse
		uses, _ := e.appendKeyUses(room[:0], args) // a command that cannot run with its arguments says so itself
		for i := range uses {
			if !s.allowsKey(uses[i].key, uses[i].flags.access()) {
				return denialKey, i, uses[i].key
			}
		}
	}
	if !s.allChannels {
		channels, how := e.channels(args)
		for i, channel := range channels {
			if !s.allowsChannel(channel, how == listensPatterns) {
				return denialChannel, i, channel
			}
		}
	}
	return denialNone, 0, nil
}

func (s *selector) allowsKey(key []byte, need access) bool {
	for i := range s.keys {
		p := &s.keys[i]
		if p.access&need == need && glob.Match([]byte(p.pattern), key, false) {
			return true
		}
	}
	return false
}

// allowsChannel checks a channel's name; a pattern has to be allowed as it is.
func (s *selector) allowsChannel(channel []byte, literal bool) bool {
	return slices.ContainsFunc(s.channels, func(p string) bool {
		if literal {
			return p == string(channel)
		}
		return glob.Match([]byte(p), channel, false)
	})
}

// allowsChannel says whether any selector allows a channel, or a pattern.
func (r *rights) allowsChannel(channel []byte, literal bool) bool {
	return slices.ContainsFunc(r.selectors, func(s selector) bool { return s.allChannels || s.allowsChannel(channel, literal) })
}

// allowsAnyKey says whether a selector that allows the command with its
// arguments allows to read every key as well.
func (r *rights) allowsAnyKey(e *entry, args [][]byte) bool {
	return slices.ContainsFunc(r.selectors, func(s selector) bool {
		why, _, _ := s.check(e, args)
		return why == denialNone && (s.allKeys || slices.ContainsFunc(s.keys, func(p keyPattern) bool {
			return p.pattern == "*" && p.access&accessRead != 0
		}))
	})
}

// ReadsAnyKey implements Client.
func (s *Session) ReadsAnyKey(c *Call) bool {
	bounds := s.user.Load().bounds.Load()
	return bounds == nil || bounds.allowsAnyKey(s.srv.table.byName[c.Cmd.Name], c.Args)
}

// Refusals, in Redis's words.
const (
	errNoKeyAccess     = resp.Error("NOPERM this user has no permissions to access one of the keys used as arguments")
	errNoChannelAccess = resp.Error("NOPERM this user has no permissions to access one of the channels used as arguments")
)

// denied is why the session's user may not run a command, which is logged.
func (s *Session) denied(e *entry, args [][]byte) denial {
	user := s.user.Load()
	bounds := user.bounds.Load()
	if bounds == nil {
		return denialNone
	}
	why, object := bounds.check(e, args)
	if why != denialNone {
		s.logDenial(e, why, string(object), user.name)
	}
	return why
}

// permit says whether the session's user may run a command.
func (s *Session) permit(e *entry, args [][]byte) error {
	switch s.denied(e, args) {
	case denialNone:
		return nil
	case denialKey:
		return errNoKeyAccess
	case denialChannel:
		return errNoChannelAccess
	}
	return resp.Error("NOPERM this user has no permissions to run the '" + e.full + "' command")
}

// permitQueued is permit for a command that was queued by MULTI and runs now.
func (s *Session) permitQueued(e *entry, args [][]byte) error {
	reason := ""
	switch s.denied(e, args) {
	case denialNone:
		return nil
	case denialKey:
		reason = "no permission to touch the specified keys"
	case denialChannel:
		reason = "no permission to access one of the channels used as arguments to the command"
	default:
		reason = "no permission to execute the command or subcommand"
	}
	return resp.Error("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
		"This command is no longer allowed for the following reason: " + reason)
}

// authenticate makes the session a user's if the password is right.
func (s *Session) authenticate(e *entry, name string, password []byte) error {
	a := s.srv.users.find(name)
	if a == nil || !a.rights.Load().opens(password) {
		s.logDenial(e, denialAuth, "", name)
		return errWrongPass
	}
	s.user.Store(a)
	s.identify()
	s.setAuthed(true)
	return nil
}
