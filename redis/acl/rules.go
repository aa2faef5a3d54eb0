package acl

import (
	"strings"

	"github.com/firndb/firn/redis/command"
)

// How users are shown, by ACL LIST, GETUSER and in the ACL file: as rules that
// make the same user again.

// Describe is a user as a line of ACL LIST.
func (l *Users) Describe(a *Account) string {
	r := a.Rights.Load()
	words := append([]string{"user", a.Name}, r.Flags()...)
	for _, p := range r.Passwords {
		words = append(words, "#"+p)
	}
	for i := range r.Selectors {
		text := l.describeSelector(&r.Selectors[i])
		if i > 0 {
			text = "(" + text + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

func (r *Rights) Flags() []string {
	flags := []string{"off"}
	if r.on {
		flags[0] = "on"
	}
	if r.AnyPassword {
		flags = append(flags, "nopass")
	}
	switch r.payload {
	case payloadSanitize:
		flags = append(flags, "sanitize-payload")
	case payloadSkip:
		flags = append(flags, "skip-sanitize-payload")
	}
	return flags
}

func (l *Users) describeSelector(s *Selector) string {
	var words []string
	if keys := s.describeKeys(); keys != "" {
		words = append(words, keys)
	}
	if !s.allChannels {
		words = append(words, "resetchannels")
	}
	if channels := s.describeChannels(); channels != "" {
		words = append(words, channels)
	}
	return strings.Join(append(words, l.describeCommands(s)), " ")
}

func (s *Selector) describeKeys() string {
	if s.allKeys {
		return "~*"
	}
	words := make([]string, len(s.keys))
	for i, p := range s.keys {
		prefix := map[command.Access]string{command.AccessRead: "%R~", command.AccessWrite: "%W~"}[p.access]
		if prefix == "" {
			prefix = "~"
		}
		words[i] = prefix + p.pattern
	}
	return strings.Join(words, " ")
}

func (s *Selector) describeChannels() string {
	if s.allChannels {
		return "&*"
	}
	words := make([]string, len(s.channels))
	for i, p := range s.channels {
		words[i] = "&" + p
	}
	return strings.Join(words, " ")
}

// describeCommands finds rules for a set of commands: all or nothing, the
// categories that come closest, and the commands that are still different.
func (l *Users) describeCommands(s *Selector) string {
	first, sign := "-@all", "+@"
	if s.future {
		first, sign = "+@all", "-@"
	}
	words := []string{first}
	made := command.NewCommandSet(len(l.Commands.Numbered)) // what the rules so far allow
	for _, e := range l.Commands.Numbered {
		made.Put(e, s.future)
	}
	rest := s.Commands.Clone()
	for used := command.Category(0); ; {
		best := l.closest(rest, s.future, used)
		if best < 0 {
			break
		}
		used |= 1 << best
		words = append(words, sign+command.CategoryNames[best])
		l.Commands.PutCategory(made, 1<<best, !s.future)
		l.Commands.PutCategory(rest, 1<<best, s.future)
	}
	for _, e := range l.Commands.Numbered {
		allowed := s.Commands.Has(e)
		if allowed != made.Has(e) {
			made.Put(e, allowed)
			words = append(words, map[bool]string{true: "+", false: "-"}[allowed]+e.Full)
		}
		if allowed {
			continue
		}
		for _, arg := range s.firstArgs[e] {
			words = append(words, "+"+e.Full+"|"+arg)
		}
	}
	return strings.Join(words, " ")
}

// closest is the category, not used yet, that has fewest commands on the
// wrong side of rest, and more on the right one; -1 if there is none.
func (l *Users) closest(rest command.CommandSet, future bool, used command.Category) int {
	best, wrong, right := -1, 0, 0
	for i := range command.CategoryNames {
		if used>>i&1 != 0 {
			continue
		}
		diff, same := 0, 0
		for _, e := range l.Commands.Numbered {
			switch {
			case e.In>>i&1 == 0:
			case rest.Has(e) == future:
				diff++
			default:
				same++
			}
		}
		if same > diff && (best < 0 || diff < wrong || diff == wrong && same > right) {
			best, wrong, right = i, diff, same
		}
	}
	return best
}
