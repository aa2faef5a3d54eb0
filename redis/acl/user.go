package acl

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// Account is a user. Its name stays; what it may do is replaced as a whole by
// ACL SETUSER, so sessions that use it see the change with their next command.
type Account struct {
	Name   string
	Rights atomic.Pointer[Rights] // never nil
	Bounds atomic.Pointer[Rights] // rights, or nil if they allow everything: what the hot path looks at
}

func NewAccount(name string, r *Rights) *Account {
	a := &Account{Name: name}
	a.set(r)
	return a
}

func (a *Account) set(r *Rights) {
	a.Rights.Store(r)
	if r.unbounded() {
		r = nil
	}
	a.Bounds.Store(r)
}

// payload says whether RESTORE checks what a user gives it. It is kept and
// shown; Firn always checks.
type payload uint8

const (
	payloadUnsaid payload = iota
	payloadSanitize
	payloadSkip
)

// Rights are what a user may do. They are immutable once an account has them.
type Rights struct {
	on, AnyPassword bool
	payload         payload
	Passwords       []string   // SHA-256, 64 hexadecimal digits
	Selectors       []Selector // any of them is enough; the first is the user's own, never missing
}

// Selector is a set of permissions that hold together.
type Selector struct {
	Commands  command.CommandSet
	future    bool                        // commands that this version does not have are allowed, too
	firstArgs map[*command.Entry][]string // allowed with these first arguments alone, in lower case

	allKeys, allChannels bool
	keys                 []keyPattern
	channels             []string
}

// keyPattern allows some access to the keys that fit.
type keyPattern struct {
	access  command.Access
	pattern string
}

// Bounds of one user.
const (
	maxPasswords = 1000
	MaxSelectors = 1000
	MaxPatterns  = 10_000 // in a selector, of keys or of channels
	maxFirstArgs = 1000   // of one command
)

func (r *Rights) clone() *Rights {
	next := *r
	next.Passwords = slices.Clone(r.Passwords)
	next.Selectors = slices.Clone(r.Selectors)
	for i := range next.Selectors {
		s := &next.Selectors[i]
		s.Commands = s.Commands.Clone()
		s.keys, s.channels = slices.Clone(s.keys), slices.Clone(s.channels)
		copied := make(map[*command.Entry][]string, len(s.firstArgs))
		for e, args := range s.firstArgs {
			copied[e] = slices.Clone(args)
		}
		s.firstArgs = copied
	}
	return &next
}

// unbounded says whether nothing is forbidden.
func (r *Rights) unbounded() bool {
	return slices.ContainsFunc(r.Selectors, func(s Selector) bool {
		return s.future && s.allKeys && s.allChannels && !slices.ContainsFunc(s.Commands, func(w uint64) bool { return ^w != 0 })
	})
}

func hashPassword(password []byte) string {
	sum := sha256.Sum256(password)
	return hex.EncodeToString(sum[:])
}

// Opens says whether a password is right. The time it takes tells nothing
// about the passwords that there are.
func (r *Rights) Opens(password []byte) bool {
	given := []byte(hashPassword(password))
	right := 0
	for _, p := range r.Passwords {
		right |= subtle.ConstantTimeCompare(given, []byte(p))
	}
	return r.on && (r.AnyPassword || right == 1)
}

// Errors of one ACL rule, in Redis's words.
const (
	errACLSyntax   = resp.Error("Syntax error")
	errACLUnknown  = resp.Error("Unknown command or category name in ACL")
	errACLFirstArg = resp.Error("Allowing first-arg of a subcommand is not supported")
	ErrACLPattern  = resp.Error("Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have any effect. " +
		"Try 'resetkeys' to start with an empty list of patterns")
	ErrACLChannel = resp.Error("Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not have any effect. " +
		"Try 'resetchannels' to start with an empty list of channels")
	ErrACLNoPassword = resp.Error("The password you are trying to remove from the user does not exist")
	errACLHash       = resp.Error("The password hash must be exactly 64 characters and contain only lowercase hexadecimal characters")
	ErrACLTooMany    = resp.Error("Too many rules for one user")
)

// ApplyUser applies one rule to a user.
func (l *Users) ApplyUser(r *Rights, rule string) error {
	switch lower := strings.ToLower(rule); {
	case rule == "":
	case lower == "on":
		r.on = true
	case lower == "off":
		r.on = false
	case lower == "nopass":
		r.AnyPassword, r.Passwords = true, nil
	case lower == "resetpass":
		r.AnyPassword, r.Passwords = false, nil
	case lower == "sanitize-payload":
		r.payload = payloadSanitize
	case lower == "skip-sanitize-payload":
		r.payload = payloadSkip
	case lower == "clearselectors":
		r.Selectors = r.Selectors[:1]
	case lower == "reset":
		*r = Rights{payload: payloadSanitize, Selectors: []Selector{l.NewSelector()}}
	case strings.ContainsRune("><#!", rune(rule[0])):
		return r.applyPassword(rule)
	case rule[0] == '(' && rule[len(rule)-1] == ')':
		return l.applySelector(r, rule[1:len(rule)-1])
	default:
		return l.apply(&r.Selectors[0], rule)
	}
	return nil
}

// applyPassword applies a rule about a password.
func (r *Rights) applyPassword(rule string) error {
	hash := rule[1:]
	if rule[0] == '>' || rule[0] == '<' {
		hash = hashPassword([]byte(hash))
	} else if len(hash) != 2*sha256.Size || strings.Trim(hash, "0123456789abcdef") != "" {
		return errACLHash
	}
	at := slices.Index(r.Passwords, hash)
	switch {
	case rule[0] == '<' || rule[0] == '!':
		if at < 0 {
			return ErrACLNoPassword
		}
		r.Passwords = slices.Delete(r.Passwords, at, at+1)
		return nil
	case at < 0 && len(r.Passwords) == maxPasswords:
		return ErrACLTooMany
	case at < 0:
		r.Passwords = append(r.Passwords, hash)
	}
	r.AnyPassword = false
	return nil
}

// applySelector adds a selector made of rules.
func (l *Users) applySelector(r *Rights, text string) error {
	if len(r.Selectors) > MaxSelectors {
		return ErrACLTooMany
	}
	s := l.NewSelector()
	for rule := range strings.FieldsSeq(text) {
		if err := l.apply(&s, rule); err != nil {
			return err
		}
	}
	r.Selectors = append(r.Selectors, s)
	return nil
}

// NewSelector allows no command and no key, and channels as
// acl-pubsub-default says.
func (l *Users) NewSelector() Selector {
	return Selector{
		Commands: command.NewCommandSet(len(l.Commands.Numbered)), firstArgs: map[*command.Entry][]string{}, allChannels: l.OpenChannels.Load(),
	}
}

// apply applies one rule to a selector.
func (l *Users) apply(s *Selector, rule string) error {
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
func (l *Users) allow(s *Selector, all bool) {
	s.future = all
	clear(s.firstArgs)
	for i := range s.Commands {
		s.Commands[i] = 0
		if all {
			s.Commands[i] = ^uint64(0)
		}
	}
}

// applyKeys applies ~pattern and %RW~pattern.
func (s *Selector) applyKeys(rule string) error {
	if s.allKeys {
		return ErrACLPattern
	}
	added := keyPattern{access: command.AccessRead | command.AccessWrite}
	flags, pattern, ok := strings.Cut(rule, "~")
	if !ok || len(flags) == 1 {
		return errACLSyntax
	}
	if flags != "" {
		added.access = 0
		for _, c := range flags[1:] {
			switch c {
			case 'r', 'R':
				added.access |= command.AccessRead
			case 'w', 'W':
				added.access |= command.AccessWrite
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
	if len(s.keys) == MaxPatterns {
		return ErrACLTooMany
	}
	s.keys = append(s.keys, added)
	return nil
}

func (s *Selector) applyChannel(pattern string) error {
	switch {
	case s.allChannels:
		return ErrACLChannel
	case hasSpaces(pattern):
		return errACLSyntax
	case slices.Contains(s.channels, pattern):
		return nil
	case len(s.channels) == MaxPatterns:
		return ErrACLTooMany
	}
	s.channels = append(s.channels, pattern)
	return nil
}

// applyCommand allows or forbids commands by name or by category.
func (l *Users) applyCommand(s *Selector, name string, allow bool) error {
	if category, ok := strings.CutPrefix(name, "@"); ok {
		c := command.CategoryNamed(category)
		if c == 0 {
			return errACLUnknown
		}
		l.Commands.PutCategory(s.Commands, c, allow)
		for e := range s.firstArgs {
			if e.In&c != 0 {
				delete(s.firstArgs, e)
			}
		}
		return nil
	}
	if e := l.Commands.Named([]byte(name)); e != nil {
		s.Commands.Put(e, allow)
		delete(s.firstArgs, e)
		return nil
	}
	cut := strings.LastIndexByte(name, '|')
	if cut < 0 || !allow {
		return errACLUnknown
	}
	e, arg := l.Commands.Named([]byte(name[:cut])), strings.ToLower(name[cut+1:])
	switch {
	case e == nil:
		return errACLUnknown
	case strings.Contains(e.Full, "|"):
		return errACLFirstArg
	case arg == "":
		return errACLSyntax
	case len(e.Sub) > 0:
		return errACLUnknown
	case slices.Contains(s.firstArgs[e], arg):
		return nil
	case len(s.firstArgs[e]) == maxFirstArgs:
		return ErrACLTooMany
	}
	s.firstArgs[e] = append(s.firstArgs[e], arg)
	return nil
}

// hasSpaces says whether a name or pattern could not stand in an ACL file.
func hasSpaces(text string) bool { return strings.ContainsAny(text, " \t\n\v\f\r\x00") }
