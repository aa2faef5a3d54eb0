package redis

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/firndb/firn/resp"
)

// account is a user. Its name stays; what it may do is replaced as a whole by
// ACL SETUSER, so sessions that use it see the change with their next command.
type account struct {
	name   string
	rights atomic.Pointer[rights] // never nil
	bounds atomic.Pointer[rights] // rights, or nil if they allow everything: what the hot path looks at
}

func newAccount(name string, r *rights) *account {
	a := &account{name: name}
	a.set(r)
	return a
}

func (a *account) set(r *rights) {
	a.rights.Store(r)
	if r.unbounded() {
		r = nil
	}
	a.bounds.Store(r)
}

// payload says whether RESTORE checks what a user gives it. It is kept and
// shown; Firn always checks.
type payload uint8

const (
	payloadUnsaid payload = iota
	payloadSanitize
	payloadSkip
)

// rights are what a user may do. They are immutable once an account has them.
type rights struct {
	on, anyPassword bool
	payload         payload
	passwords       []string   // SHA-256, 64 hexadecimal digits
	selectors       []selector // any of them is enough; the first is the user's own, never missing
}

// selector is a set of permissions that hold together.
type selector struct {
	commands  commandSet
	future    bool                // commands that this version does not have are allowed, too
	firstArgs map[*entry][]string // allowed with these first arguments alone, in lower case

	allKeys, allChannels bool
	keys                 []keyPattern
	channels             []string
}

// keyPattern allows some access to the keys that fit.
type keyPattern struct {
	access  access
	pattern string
}

// Bounds of one user.
const (
	maxPasswords = 1000
	maxSelectors = 1000
	maxPatterns  = 10_000 // in a selector, of keys or of channels
	maxFirstArgs = 1000   // of one command
)

func (r *rights) clone() *rights {
	next := *r
	next.passwords = slices.Clone(r.passwords)
	next.selectors = slices.Clone(r.selectors)
	for i := range next.selectors {
		s := &next.selectors[i]
		s.commands = s.commands.clone()
		s.keys, s.channels = slices.Clone(s.keys), slices.Clone(s.channels)
		copied := make(map[*entry][]string, len(s.firstArgs))
		for e, args := range s.firstArgs {
			copied[e] = slices.Clone(args)
		}
		s.firstArgs = copied
	}
	return &next
}

// unbounded says whether nothing is forbidden.
func (r *rights) unbounded() bool {
	return slices.ContainsFunc(r.selectors, func(s selector) bool {
		return s.future && s.allKeys && s.allChannels && !slices.ContainsFunc(s.commands, func(w uint64) bool { return ^w != 0 })
	})
}

func hashPassword(password []byte) string {
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:])
}

// opens says whether a password is right. The time it takes tells nothing
// about the passwords that there are.
func (r *rights) opens(password []byte) bool {
	given := []byte(hashPassword(password))
	right := 0
	for _, p := range r.passwords {
		right |= subtle.ConstantTimeCompare(given, []byte(p))
	}
	return r.on && (r.anyPassword || right == 1)
}

// Errors of one ACL rule, in Redis's words.
const (
	errACLSyntax   = resp.Error("Syntax error")
	errACLUnknown  = resp.Error("Unknown command or category name in ACL")
	errACLFirstArg = resp.Error("Allowing first-arg of a subcommand is not supported")
	errACLPattern  = resp.Error("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. " +
		"Try 'resetkeys' to start with an empty list of patterns")
	errACLChannel = resp.Error("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. " +
		"Try 'resetchannels' to start with an empty list of channels")
	errACLNoPassword = resp.Error("The password you are trying to remove from the user does not exist")
	errACLHash       = resp.Error("The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters")
	errACLTooMany    = resp.Error("Too many rules for one user")
)

// applyUser applies one rule to a user.
func (l *users) applyUser(r *rights, rule string) error {
	switch lower := strings.ToLower(rule); {
	case rule == "":
	case lower == "on":
		r.on = true
	case lower == "off":
		r.on = false
	case lower == "nopass":
		r.anyPassword, r.passwords = true, nil
	case lower == "resetpass":
		r.anyPassword, r.passwords = false, nil
	case lower == "sanitize-payload":
		r.payload = payloadSanitize
	case lower == "skip-sanitize-payload":
		r.payload = payloadSkip
	case lower == "clearselectors":
		r.selectors = r.selectors[:1]
	case lower == "reset":
		*r = rights{payload: payloadSanitize, selectors: []selector{l.newSelector()}}
	case strings.ContainsRune("><#!", rune(rule[0])):
		return r.applyPassword(rule)
	case rule[0] == '(' && rule[len(rule)-1] == ')':
		return l.applySelector(r, rule[1:len(rule)-1])
	default:
		return l.apply(&r.selectors[0], rule)
	}
	return nil
}

// applyPassword applies a rule about a password.
func (r *rights) applyPassword(rule string) error {
	hash := rule[1:]
	if rule[0] == '>' || rule[0] == '<' {
		hash = hashPassword([]byte(hash))
	} else if len(hash) != 2*sha256.Size || strings.Trim(hash, "0123456789abcdef") != "" {
		return errACLHash
	}
	at := slices.Index(r.passwords, hash)
	switch {
	case rule[0] == '<' || rule[0] == '!':
		if at < 0 {
			return errACLNoPassword
		}
		r.passwords = slices.Delete(r.passwords, at, at+1)
		return nil
	case at < 0 && len(r.passwords) == maxPasswords:
		return errACLTooMany
	case at < 0:
		r.passwords = append(r.passwords, hash)
	}
	r.anyPassword = false
	return nil
}

// applySelector adds a selector made of rules.
func (l *users) applySelector(r *rights, text string) error {
	if len(r.selectors) > maxSelectors {
		return errACLTooMany
	}
	s := l.newSelector()
	for rule := range strings.FieldsSeq(text) {
		if err := l.apply(&s, rule); err != nil {
			return err
		}
	}
	r.selectors = append(r.selectors, s)
	return nil
}

// newSelector allows no command and no key, and channels as
// acl-pubsub-default says.
func (l *users) newSelector() selector {
	return selector{
		commands: newCommandSet(len(l.table.numbered)), firstArgs: map[*entry][]string{}, allChannels: l.openChannels.Load(),
	}
}

// apply applies one rule to a selector.
func (l *users) apply(s *selector, rule string) error {
	switch strings.ToLower(rule) {
	case "allkeys", "~*":
		s.allKeys, s.keys = true, nil
	case "resetkeys":
		s.allKeys, s.keys = false, nil
	case "allchannels", "&*":
		s.allChannels, s.channels = true, nil
	case "resetchannels":
		s.allChannels, s.channels = false, nil
	case "allcommands", "+@all":
		l.allow(s, true)
	case "nocommands", "-@all":
		l.allow(s, false)
	default:
		switch rule[0] {
		case '~', '%':
			return s.applyKeys(rule)
		case '&':
			return s.applyChannel(rule[1:])
		case '+', '-':
			return l.applyCommand(s, rule[1:], rule[0] == '+')
		}
		return errACLSyntax
	}
	return nil
}

// allow allows all commands or none.
func (l *users) allow(s *selector, all bool) {
	s.future = all
	clear(s.firstArgs)
	for i := range s.commands {
		s.commands[i] = 0
		if all {
			s.commands[i] = ^uint64(0)
		}
	}
}

// applyKeys applies ~pattern and %RW~pattern.
func (s *selector) applyKeys(rule string) error {
	if s.allKeys {
		return errACLPattern
	}
	added := keyPattern{access: accessRead | accessWrite}
	flags, pattern, ok := strings.Cut(rule, "~")
	if !ok || len(flags) == 1 {
		return errACLSyntax
	}
	if flags != "" {
		added.access = 0
		for _, c := range flags[1:] {
			switch c {
			case 'r', 'R':
				added.access |= accessRead
			case 'w', 'W':
				added.access |= accessWrite
			default:
				return errACLSyntax
			}
		}
	}
	if hasSpaces(pattern) {
		return errACLSyntax
	}
	added.pattern = pattern
	for i := range s.keys {
		if s.keys[i].pattern == pattern {
			s.keys[i].access |= added.access
			return nil
		}
	}
	if len(s.keys) == maxPatterns {
		return errACLTooMany
	}
	s.keys = append(s.keys, added)
	return nil
}

func (s *selector) applyChannel(pattern string) error {
	switch {
	case s.allChannels:
		return errACLChannel
	case hasSpaces(pattern):
		return errACLSyntax
	case slices.Contains(s.channels, pattern):
		return nil
	case len(s.channels) == maxPatterns:
		return errACLTooMany
	}
	s.channels = append(s.channels, pattern)
	return nil
}

// applyCommand allows or forbids commands by name or by category.
func (l *users) applyCommand(s *selector, name string, allow bool) error {
	if category, ok := strings.CutPrefix(name, "@"); ok {
		c := categoryNamed(category)
		if c == 0 {
			return errACLUnknown
		}
		l.table.putCategory(s.commands, c, allow)
		for e := range s.firstArgs {
			if e.in&c != 0 {
				delete(s.firstArgs, e)
			}
		}
		return nil
	}
	if e := l.table.named([]byte(name)); e != nil {
		s.commands.put(e, allow)
		delete(s.firstArgs, e)
		return nil
	}
	cut := strings.LastIndexByte(name, '|')
	if cut < 0 || !allow {
		return errACLUnknown
	}
	e, arg := l.table.named([]byte(name[:cut])), strings.ToLower(name[cut+1:])
	switch {
	case e == nil:
		return errACLUnknown
	case strings.Contains(e.full, "|"):
		return errACLFirstArg
	case arg == "":
		return errACLSyntax
	case len(e.sub) > 0:
		return errACLUnknown
	case slices.Contains(s.firstArgs[e], arg):
		return nil
	case len(s.firstArgs[e]) == maxFirstArgs:
		return errACLTooMany
	}
	s.firstArgs[e] = append(s.firstArgs[e], arg)
	return nil
}

// hasSpaces says whether a name or pattern could not stand in an ACL file.
func hasSpaces(text string) bool { return strings.ContainsAny(text, " \t\n\v\f\r\x00") }
