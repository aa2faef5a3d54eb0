package redis

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/resp"
)

// Users and what they may do.
var aclCommands = []Command{{
	Name: "ACL", Flags: Local, Group: "server", Since: "6.0.0", Complexity: "Depends on subcommand.",
	Summary: "A container for Access Control List commands.",
	Sub: []Command{
		{
			Name: "CAT", Args: "[category]", Max: 1, Flags: Local, Since: "6.0.0",
			Complexity: "O(N) where N is the number of commands",
			Summary:    "Lists the ACL categories, or the commands inside a category.",
			Run:        aclCat,
		},
		{
			Name: "DELUSER", Args: "username [username ...]", Min: 1, Max: -1, Flags: Local | Admin, Since: "6.0.0",
			Complexity: "O(N) where N is the number of clients",
			Summary:    "Deletes ACL users, and terminates their connections.",
			Run:        aclDelUser,
		},
		{
			Name: "DRYRUN", Args: "username command [arg [arg ...]]", Min: 2, Max: -1, Flags: Local | Admin, Since: "7.0.0", Complexity: "O(1)",
			Summary: "Simulates the execution of a command by a user, without executing the command.",
			Run:     aclDryRun,
		},
		{
			Name: "GENPASS", Args: "[bits]", Max: 1, Flags: Local | Random, Since: "6.0.0", Complexity: "O(1)",
			Summary: "Generates a pseudorandom, secure password that can be used to identify ACL users.",
			Run:     aclGenPass,
		},
		{
			Name: "GETUSER", Args: "username", Min: 1, Flags: Local | Admin, Since: "6.0.0",
			Complexity: "O(N) where N is the number of commands and of the user's rules",
			Summary:    "Lists the ACL rules of a user.",
			Run:        aclGetUser,
		},
		help,
		{
			Name: "LIST", Flags: Local | Admin, Since: "6.0.0", Complexity: "O(N) where N is the number of users",
			Summary: "Dumps the effective rules in ACL file format.",
			Run:     aclList,
		},
		{
			Name: "LOAD", Flags: Local | Admin | onWorker, Since: "6.0.0", Complexity: "O(N) where N is the number of users",
			Summary: "Reloads the rules from the configured ACL file.",
			Differs: "Connections of users that are still there go on.",
			Run:     aclLoad,
		},
		{
			Name: "LOG", Args: "[count | RESET]", Max: 1, Flags: Local | Admin, Since: "6.0.0", Complexity: "O(N) where N is the number of entries shown",
			Summary: "Lists recent security events generated due to ACL rules.",
			Run:     aclLogCommand,
		},
		{
			Name: "SAVE", Flags: Local | Admin | onWorker, Since: "6.0.0", Complexity: "O(N) where N is the number of users",
			Summary: "Saves the effective ACL rules in the configured ACL file.",
			Run:     aclSave,
		},
		{
			Name: "SETUSER", Args: "username [rule [rule ...]]", Min: 1, Max: -1, Flags: Local | Admin | Skip, Since: "6.0.0",
			Complexity: "O(N) where N is the number of rules provided",
			Summary:    "Creates and modifies an ACL user and its rules.",
			Run:        aclSetUser,
		},
		{
			Name: "USERS", Flags: Local | Admin, Since: "6.0.0", Complexity: "O(N) where N is the number of users",
			Summary: "Lists all ACL users.",
			Run:     aclUsers,
		},
		{
			Name: "WHOAMI", Flags: Local, Since: "6.0.0", Complexity: "O(1)",
			Summary: "Returns the authenticated username of the current connection.",
			Run:     func(c *Call) error { c.Reply.BulkString(sessionOf(c).user.Load().name); return nil },
		},
	},
}}

// maxUsers bounds how many users there are.
const maxUsers = 100_000

// users is who may do what. It is safe for concurrent use.
type users struct {
	table        *table
	file         string      // the ACL file; empty: there is none
	openChannels atomic.Bool // acl-pubsub-default is allchannels
	standard     *account    // the user default: it is always there

	mu    sync.Mutex
	users map[string]*account
}

// newACL knows one user, default, who may do everything.
func newACL(t *table, password string) *users {
	l := &users{table: t}
	r := &rights{selectors: []selector{l.newSelector()}}
	for _, rule := range []string{"on", "nopass", "~*", "&*", "+@all"} {
		_ = l.applyUser(r, rule) // these rules are right
	}
	l.standard = newAccount("default", r)
	l.users = map[string]*account{"default": l.standard}
	l.setPassword(password)
	return l
}

// setPassword sets the password of the default user, as requirepass does;
// with none, every password is right.
func (l *users) setPassword(password string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.standard.rights.Load().clone()
	r.passwords, r.anyPassword = nil, password == ""
	if password != "" {
		r.passwords = []string{hashPassword([]byte(password))}
	}
	l.standard.set(r)
}

// open says whether clients need not authenticate.
func (l *users) open() bool {
	r := l.standard.rights.Load()
	return r.on && r.anyPassword
}

// find is the user of a name; nil if there is none.
func (l *users) find(name string) *account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.users[name]
}

// sorted is all users by name.
func (l *users) sorted() []*account {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]*account, 0, len(l.users))
	for _, name := range slices.Sorted(maps.Keys(l.users)) {
		all = append(all, l.users[name])
	}
	return all
}

// setUser applies rules to a user, who is made if there is none. All rules
// are applied, or none.
func (l *users) setUser(name string, rules []string) error {
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
	r := &rights{selectors: []selector{l.newSelector()}}
	if a != nil {
		r = a.rights.Load().clone()
	} else if len(l.users) == maxUsers {
		return resp.Error("ERR there are too many users")
	}
	for _, rule := range merged {
		if err := l.applyUser(r, rule); err != nil {
			return resp.Error(fmt.Sprintf("ERR Error in ACL SETUSER modifier '%s': %s", rule, err))
		}
	}
	if a == nil {
		l.users[name] = newAccount(name, r)
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

// remove deletes a user; it is false if there is none.
func (l *users) remove(name string) (*account, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a, ok := l.users[name]
	delete(l.users, name)
	return a, ok
}

// dismiss ends sessions, and says how many. Whoever asks gets the answer first.
func (srv *Server) dismiss(self *Session, ends func(*Session) bool) (n int) {
	for _, s := range srv.clients.all() {
		if !ends(s) {
			continue
		}
		n++
		if s == self {
			s.closing = true
		} else {
			s.Kill()
		}
	}
	return n
}

// narrowed ends the sessions of a user, whose rights have changed, that listen
// to what it may not hear any more.
func (srv *Server) narrowed(self *Session, a *account) {
	if lost := srv.pubsub.beyondRights(a); len(lost) > 0 {
		srv.dismiss(self, func(s *Session) bool { return lost[s] })
	}
}

func aclCat(c *Call) error {
	if len(c.Args) == 0 {
		return replyNames(c, categoryNames[:])
	}
	category := categoryNamed(string(c.Args[0]))
	if category == 0 {
		return resp.Error(fmt.Sprintf("ERR Unknown category '%s'", cString(c.Args[0], 128)))
	}
	var names []string
	sessionOf(c).srv.table.each(func(e *entry) {
		if e.in&category != 0 {
			names = append(names, e.full)
		}
	})
	return replyNames(c, names)
}

func aclDelUser(c *Call) error {
	srv := sessionOf(c).srv
	for _, name := range c.Args {
		if string(name) == "default" {
			return resp.Error("ERR The 'default' user cannot be removed")
		}
	}
	gone := map[*account]bool{}
	for _, name := range c.Args {
		if a, ok := srv.users.remove(string(name)); ok {
			gone[a] = true
		}
	}
	srv.dismiss(sessionOf(c), func(s *Session) bool { return gone[s.user.Load()] })
	c.Reply.Int(int64(len(gone)))
	return nil
}

func aclDryRun(c *Call) error {
	l := sessionOf(c).srv.users
	a := l.find(string(c.Args[0]))
	if a == nil {
		return resp.Error(fmt.Sprintf("ERR User '%s' not found", cString(c.Args[0], 128)))
	}
	e, args, err := l.table.resolve(c.Args[1:])
	if e == nil {
		return resp.Error(fmt.Sprintf("ERR Command '%s' not found", cString(c.Args[1], 128)))
	}
	if err != nil {
		return err
	}
	switch why, object := a.rights.Load().check(e, args); why {
	case denialNone:
		c.Reply.Simple("OK")
	case denialKey:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to access the '%s' key", object))
	case denialChannel:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to access the '%s' channel", object))
	default:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to run the '%s' command", e.full))
	}
	return nil
}

// Bounds of ACL GENPASS.
const (
	usualPasswordBits = 256
	maxPasswordBits   = 4096
)

func aclGenPass(c *Call) error {
	bits := int64(usualPasswordBits)
	if len(c.Args) == 1 {
		n, ok := resp.ParseInt(c.Args[0])
		if !ok {
			return errNotInteger
		}
		if n < 1 || n > maxPasswordBits {
			return resp.Error("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
		}
		bits = n
	}
	digits := (bits + 3) / 4
	random := make([]byte, (digits+1)/2)
	rand.Read(random)
	c.Reply.BulkString(hex.EncodeToString(random)[:digits])
	return nil
}

func aclGetUser(c *Call) error {
	l := sessionOf(c).srv.users
	a := l.find(string(c.Args[0]))
	if a == nil {
		c.Reply.Null()
		return nil
	}
	r, w := a.rights.Load(), &c.Reply
	flags := r.flags()
	w.Map(6)
	w.BulkString("flags")
	w.Set(len(flags))
	for _, flag := range flags {
		w.BulkString(flag)
	}
	w.BulkString("passwords")
	replyStrings(w, r.passwords)
	l.replySelector(w, &r.selectors[0])
	w.BulkString("selectors")
	w.Array(len(r.selectors) - 1)
	for i := range r.selectors[1:] {
		w.Map(3)
		l.replySelector(w, &r.selectors[1+i])
	}
	return nil
}

// replySelector appends the three pairs of a selector.
func (l *users) replySelector(w *resp.Writer, s *selector) {
	replyField(w, "commands", l.describeCommands(s))
	replyField(w, "keys", s.describeKeys())
	replyField(w, "channels", s.describeChannels())
}

func aclList(c *Call) error {
	l := sessionOf(c).srv.users
	users := l.sorted()
	c.Reply.Array(len(users))
	for _, a := range users {
		c.Reply.BulkString(l.describe(a))
	}
	return nil
}

func aclUsers(c *Call) error {
	users := sessionOf(c).srv.users.sorted()
	c.Reply.Array(len(users))
	for _, a := range users {
		c.Reply.BulkString(a.name)
	}
	return nil
}

func aclSetUser(c *Call) error {
	rules := make([]string, len(c.Args)-1)
	for i, arg := range c.Args[1:] {
		rules[i] = string(arg)
	}
	srv, name := sessionOf(c).srv, string(c.Args[0])
	if err := srv.users.setUser(name, rules); err != nil {
		return err
	}
	if a := srv.users.find(name); a != nil {
		srv.narrowed(sessionOf(c), a)
	}
	c.Reply.Simple("OK")
	return nil
}
