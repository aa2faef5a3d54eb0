package redis

import "strings"

// How users are shown, by ACL LIST, GETUSER and in the ACL file: as rules that
// make the same user again.

// describe is a user as a line of ACL LIST.
func (l *users) describe(a *account) string {
	r := a.rights.Load()
	words := append([]string{"user", a.name}, r.flags()...)
	for _, p := range r.passwords {
		words = append(words, "#"+p)
	}
	for i := range r.selectors {
		text := l.describeSelector(&r.selectors[i])
		if i > 0 {
			text = "(" + text + ")"
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}

func (r *rights) flags() []string {
	flags := []string{"off"}
	if r.on {
		flags[0] = "on"
	}
	if r.anyPassword {
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

func (l *users) describeSelector(s *selector) string {
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

func (s *selector) describeKeys() string {
	if s.allKeys {
		return "~*"
	}
	words := make([]string, len(s.keys))
	for i, p := range s.keys {
		prefix := map[access]string{accessRead: "%R~", accessWrite: "%W~"}[p.access]
		if prefix == "" {
			prefix = "~"
		}
		words[i] = prefix + p.pattern
	}
	return strings.Join(words, " ")
}

func (s *selector) describeChannels() string {
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
func (l *users) describeCommands(s *selector) string {
	first, sign := "-@all", "+@"
	if s.future {
		first, sign = "+@all", "-@"
	}
	words := []string{first}
	made := newCommandSet(len(l.table.numbered)) // what the rules so far allow
	for _, e := range l.table.numbered {
		made.put(e, s.future)
	}
	rest := s.commands.clone()
	for used := category(0); ; {
		best := l.closest(rest, s.future, used)
		if best < 0 {
			break
		}
		used |= 1 << best
		words = append(words, sign+categoryNames[best])
		l.table.putCategory(made, 1<<best, !s.future)
		l.table.putCategory(rest, 1<<best, s.future)
	}
	for _, e := range l.table.numbered {
		allowed := s.commands.has(e)
		if allowed != made.has(e) {
			made.put(e, allowed)
			words = append(words, map[bool]string{true: "+", false: "-"}[allowed]+e.full)
		}
		if allowed {
			continue
		}
		for _, arg := range s.firstArgs[e] {
			words = append(words, "+"+e.full+"|"+arg)
		}
	}
	return strings.Join(words, " ")
}

// closest is the category, not used yet, that has fewest commands on the
// wrong side of rest, and more on the right one; -1 if there is none.
func (l *users) closest(rest commandSet, future bool, used category) int {
	best, wrong, right := -1, 0, 0
	for i := range categoryNames {
		if used>>i&1 != 0 {
			continue
		}
		diff, same := 0, 0
		for _, e := range l.table.numbered {
			switch {
			case e.in>>i&1 == 0:
			case rest.has(e) == future:
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
