package acl

import (
	"slices"
	"strings"

	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
)

// Denial is why a command is refused, from the least to the most specific.
type Denial uint8

const (
	DenialNone Denial = iota
	DenialCommand
	DenialKey
	DenialAuth
	DenialChannel
)

// Check says whether the rights allow a command with its arguments. If not,
// at is the number of the key or channel that is to blame.
func (r *Rights) Check(e *command.Entry, args [][]byte) (why Denial, object []byte) {
	last := -1
	for i := range r.Selectors {
		d, at, what := r.Selectors[i].check(e, args)
		if d == DenialNone {
			return DenialNone, nil
		}
		if d > why || d == why && at > last {
			why, last, object = d, at, what
		}
	}
	return why, object
}

// UsualKeys is how many keys a command may have without an allocation when
// they are checked.
const UsualKeys = 8

func (s *Selector) check(e *command.Entry, args [][]byte) (why Denial, at int, object []byte) {
	if e.Flags&command.NoAuth == 0 && !s.Commands.Has(e) &&
		(len(args) == 0 || !slices.Contains(s.firstArgs[e], strings.ToLower(string(args[0])))) {
		return DenialCommand, 0, nil
	}
	if !s.allKeys {
		var room [UsualKeys]command.KeyUse
		uses, _ := e.AppendKeyUses(room[:0], args) // a command that cannot run with its arguments says so itself
		for i := range uses {
			if !s.allowsKey(uses[i].Key, uses[i].Use.Access()) {
				return DenialKey, i, uses[i].Key
			}
		}
	}
	if !s.allChannels {
		for i, channel := range e.Channels.In(args) {
			if !s.allowsChannel(channel, e.Channels == command.AllPatterns) {
				return DenialChannel, i, channel
			}
		}
	}
	return DenialNone, 0, nil
}

func (s *Selector) allowsKey(key []byte, need command.Access) bool {
	for i := range s.keys {
		p := &s.keys[i]
		if p.access&need == need && glob.Match([]byte(p.pattern), key, false) {
			return true
		}
	}
	return false
}

// allowsChannel checks a channel's name; a pattern has to be allowed as it is.
func (s *Selector) allowsChannel(channel []byte, literal bool) bool {
	return slices.ContainsFunc(s.channels, func(p string) bool {
		if literal {
			return p == string(channel)
		}
		return glob.Match([]byte(p), channel, false)
	})
}

// AllowsChannel says whether any selector allows a channel, or a pattern.
func (r *Rights) AllowsChannel(channel []byte, literal bool) bool {
	return slices.ContainsFunc(r.Selectors, func(s Selector) bool { return s.allChannels || s.allowsChannel(channel, literal) })
}

// AllowsKey says whether a selector that allows the command with its arguments
// allows to use a key so as well.
func (r *Rights) AllowsKey(e *command.Entry, args [][]byte, key []byte, need command.Access) bool {
	return slices.ContainsFunc(r.Selectors, func(s Selector) bool {
		why, _, _ := s.check(e, args)
		return why == DenialNone && (s.allKeys || s.allowsKey(key, need))
	})
}

// AllowsAnyKey says whether a selector that allows the command with its
// arguments allows to read every key as well.
func (r *Rights) AllowsAnyKey(e *command.Entry, args [][]byte) bool {
	return slices.ContainsFunc(r.Selectors, func(s Selector) bool {
		why, _, _ := s.check(e, args)
		return why == DenialNone && (s.allKeys || slices.ContainsFunc(s.keys, func(p keyPattern) bool {
			return p.pattern == "*" && p.access&command.AccessRead != 0
		}))
	})
}
