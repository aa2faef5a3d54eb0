// Package acl has users and what they may do: Redis's rules, and whether they
// allow a command.
//
// [Users] is who there is. An [Account] is one of them, and has [Rights], which
// are never changed but replaced as a whole: a session that looks at them while
// a rule changes sees the old ones or the new ones. Rights are passwords and
// [Selector]s, each of which allows commands, keys and channels; a command is
// allowed if one selector allows all of it (Rights.Check). Rules are read and
// written as ACL SETUSER, ACL LIST and the lines of an ACL file have them.
//
// The package is about words only. Who is asking, what a refusal is answered
// with and where it is remembered is package redis's.
package acl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// maxUsers bounds how many users there are.
const maxUsers = 100_000

// Users is who may do what. It is safe for concurrent use.
type Users struct {
	Commands     *command.Registry
	OpenChannels atomic.Bool // acl-pubsub-default is allchannels
	Standard     *Account    // the user default: it is always there

	mu    sync.Mutex
	users map[string]*Account
}

// NewACL knows one user, default, who may do everything.
func NewACL(t *command.Registry, password string) *Users {
	l := &Users{Commands: t}
	r := &Rights{Selectors: []Selector{l.NewSelector()}}
	for _, rule := range []string{"on", "nopass", "~*", "&*", "+@all"} {
		_ = l.ApplyUser(r, rule) // these rules are right
	}
	l.Standard = NewAccount("default", r)
	l.users = map[string]*Account{"default": l.Standard}
	l.SetPassword(password)
	return l
}

// SetPassword sets the password of the default user, as requirepass does;
// with none, every password is right.
func (l *Users) SetPassword(password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.Standard.Rights.Load().clone()
	r.Passwords, r.AnyPassword = nil, password == ""
	if password != "" {
		r.Passwords = []string{hashPassword([]byte(password))}
	}
	l.Standard.set(r)
}

// Open says whether clients need not authenticate.
func (l *Users) Open() bool {
	r := l.Standard.Rights.Load()
	return r.on && r.AnyPassword
}

// Find is the user of a name; nil if there is none.
func (l *Users) Find(name string) *Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.users[name]
}

// Sorted is all users by name.
func (l *Users) Sorted() []*Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*Account, 0, len(l.users))
	for _, name := range slices.Sorted(maps.Keys(l.users)) {
		all = append(all, l.users[name])
	}
	return all
}

// SetUser applies rules to a user, who is made if there is none. All rules
// are applied, or none.
func (l *Users) SetUser(name string, rules []string) error {
	if hasSpaces(name) {
		return resp.Error("ERR Usernames can't contain spaces or null characters")
	}
	merged, err := mergeSelectors(rules)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.users[name]
	r := &Rights{Selectors: []Selector{l.NewSelector()}}
	if a != nil {
		r = a.Rights.Load().clone()
	} else if len(l.users) == maxUsers {
		return resp.Error("ERR there are too many users")
	}
	for _, rule := range merged {
		if err := l.ApplyUser(r, rule); err != nil {
			return resp.Error(fmt.Sprintf("ERR Error in ACL SETUSER modifier '%s': %s", rule, err))
		}
	}
	if a == nil {
		l.users[name] = NewAccount(name, r)
		return nil
	}
	a.set(r)
	return nil
}

// mergeSelectors joins the words of selectors: "(+get", "~a)".
func mergeSelectors(rules []string) ([]string, error) {
	var merged []string
	open := -1
	for _, rule := range rules {
		switch {
		case open >= 0:
			merged[open] += " " + rule
			if strings.HasSuffix(rule, ")") {
				open = -1
			}
			continue
		case strings.HasPrefix(rule, "(") && !strings.HasSuffix(rule, ")"):
			open = len(merged)
		}
		merged = append(merged, rule)
	}
	if open >= 0 {
		first, _, _ := strings.Cut(merged[open], " ")
		return nil, resp.Error("ERR Unmatched parenthesis in acl selector starting at '" + first + "'.")
	}
	return merged, nil
}

// Remove deletes a user; it is false if there is none.
func (l *Users) Remove(name string) (*Account, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.users[name]
	delete(l.users, name)
	return a, ok
}

// ReplySelector appends the three pairs of a selector.
func (l *Users) ReplySelector(w *resp.Writer, s *Selector) {
	command.ReplyField(w, "commands", l.describeCommands(s))
	command.ReplyField(w, "keys", s.describeKeys())
	command.ReplyField(w, "channels", s.describeChannels())
}
