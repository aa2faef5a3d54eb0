package redis

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/pubsub"
	"github.com/firndb/firn/resp"
)

// Users and what they may do.
var aclCommands = []command.Command{{
	Name: "ACL", Flags: command.Local,
	Group: "server", Since: "6.0.0", Complexity: "that of the subcommand",
	Summary: "A container for Access Control List commands.",
	Sub: []command.Command{
		{
			Name: "CAT", Args: "[category]", Max: -1, Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the commands",
			Summary: "Lists the ACL categories, or the commands inside a category.",
			Run:     aclCat,
		},
		{
			Name: "DELUSER", Args: "username [username ...]", Min: 1, Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the clients",
			Summary: "Deletes ACL users, and terminates their connections.",
			Run:     aclDelUser,
		},
		{
			Name: "DRYRUN", Args: "username command [arg [arg ...]]", Min: 2, Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "7.0.0", Complexity: "O(1)",
			Summary: "Simulates the execution of a command by a user, without executing the command.",
			Run:     aclDryRun,
		},
		{
			Name: "GENPASS", Args: "[bits]", Max: -1, Flags: command.Local | command.Random | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(1)",
			Summary: "Generates a pseudorandom, secure password that can be used to identify ACL users.",
			Run:     aclGenPass,
		},
		{
			Name: "GETUSER", Args: "username", Min: 1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the commands and the user's rules",
			Summary: "Lists the ACL rules of a user.",
			Run:     aclGetUser,
		},
		command.HelpWith(0, aclHelpText),
		{
			Name: "LIST", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the users",
			Summary: "Dumps the effective rules in ACL file format.",
			Run:     aclList,
		},
		{
			Name: "LOAD", Flags: command.Local | command.Admin | command.OnWorker | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the users",
			Summary: "Reloads the rules from the configured ACL file.",
			Differs: "Connections of users that are still there go on.",
			Run:     aclLoad,
		},
		{
			Name: "LOG", Args: "[count | RESET]", Max: -1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the entries shown",
			Summary: "Lists recent security events generated due to ACL rules.",
			Run:     aclLogCommand,
		},
		{
			Name: "SAVE", Flags: command.Local | command.Admin | command.OnWorker | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the users",
			Summary: "Saves the effective ACL rules in the configured ACL file.",
			Run:     aclSave,
		},
		{
			Name: "SETUSER", Args: "username [rule [rule ...]]", Min: 1, Max: -1,
			Flags: command.Local | command.Admin | command.Skip | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the rules provided",
			Summary: "Creates and modifies an ACL user and its rules.",
			Run:     aclSetUser,
		},
		{
			Name: "USERS", Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(n), n the users",
			Summary: "Lists all ACL users.",
			Run:     aclUsers,
		},
		{
			Name: "WHOAMI", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "6.0.0", Complexity: "O(1)",
			Summary: "Returns the authenticated username of the current connection.",
			Run:     func(c *command.Call) error { c.Reply.BulkString(sessionOf(c).user.Load().Name); return nil },
		},
	},
}}

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
// to what it may not hear any more, and has what is live looked at again.
func (srv *Server) narrowed(self *Session, a *acl.Account) {
	srv.live.RightsChanged()
	bounds := a.Bounds.Load()
	if bounds == nil || srv.pubsub.Idle() {
		return
	}
	his := map[pubsub.Listener]bool{}
	for _, s := range srv.clients.all() {
		if s.user.Load() == a {
			his[&s.inbox] = true
		}
	}
	if lost := srv.pubsub.Refused(his, bounds.AllowsChannel); len(lost) > 0 {
		srv.dismiss(self, func(s *Session) bool { return lost[&s.inbox] })
	}
}

func aclCat(c *command.Call) error {
	if len(c.Args) > 1 {
		return command.ErrSubcommand(c)
	}
	if len(c.Args) == 0 {
		return command.ReplyNames(c, command.CategoryNames[:])
	}
	category := command.CategoryNamed(string(c.Args[0]))
	if category == 0 {
		return resp.Error(fmt.Sprintf("ERR Unknown category '%s'", command.CString(c.Args[0], 128)))
	}
	var names []string
	sessionOf(c).srv.commands.Each(func(e *command.Entry) {
		if e.In&category != 0 {
			names = append(names, e.Full)
		}
	})
	return command.ReplyNames(c, names)
}

func aclDelUser(c *command.Call) error {
	srv := sessionOf(c).srv
	for _, name := range c.Args {
		if string(name) == "default" {
			return resp.Error("ERR The 'default' user cannot be removed")
		}
	}
	gone := map[*acl.Account]bool{}
	for _, name := range c.Args {
		if a, ok := srv.users.Remove(string(name)); ok {
			gone[a] = true
		}
	}
	srv.dismiss(sessionOf(c), func(s *Session) bool { return gone[s.user.Load()] })
	c.Reply.Int(int64(len(gone)))
	return nil
}

func aclDryRun(c *command.Call) error {
	l := sessionOf(c).srv.users
	a := l.Find(string(c.Args[0]))
	if a == nil {
		return resp.Error(fmt.Sprintf("ERR User '%s' not found", command.CString(c.Args[0], 128)))
	}
	e, args, err := l.Commands.Resolve(c.Args[1:])
	if e == nil {
		return resp.Error(fmt.Sprintf("ERR Command '%s' not found", command.CString(c.Args[1], 128)))
	}
	if err != nil {
		return err
	}
	switch why, object := a.Rights.Load().Check(e, args); why {
	case acl.DenialNone:
		c.Reply.Simple("OK")
	case acl.DenialKey:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to access the '%s' key", object))
	case acl.DenialChannel:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to access the '%s' channel", object))
	default:
		c.Reply.BulkString(fmt.Sprintf("This user has no permissions to run the '%s' command", e.Full))
	}
	return nil
}

// Bounds of ACL GENPASS.
const (
	usualPasswordBits = 256
	maxPasswordBits   = 4096
)

func aclGenPass(c *command.Call) error {
	if len(c.Args) > 1 {
		return command.ErrSubcommand(c)
	}
	bits := int64(usualPasswordBits)
	if len(c.Args) == 1 {
		n, ok := resp.ParseInt(c.Args[0])
		if !ok {
			return command.ErrNotInteger
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

func aclGetUser(c *command.Call) error {
	l := sessionOf(c).srv.users
	a := l.Find(string(c.Args[0]))
	if a == nil {
		c.Reply.Null()
		return nil
	}
	r, w := a.Rights.Load(), &c.Reply
	flags := r.Flags()
	w.Map(6)
	w.BulkString("flags")
	w.Set(len(flags))
	for _, flag := range flags {
		w.BulkString(flag)
	}
	w.BulkString("passwords")
	command.ReplyStrings(w, r.Passwords)
	l.ReplySelector(w, &r.Selectors[0])
	w.BulkString("selectors")
	w.Array(len(r.Selectors) - 1)
	for i := range r.Selectors[1:] {
		w.Map(3)
		l.ReplySelector(w, &r.Selectors[1+i])
	}
	return nil
}

func aclList(c *command.Call) error {
	l := sessionOf(c).srv.users
	users := l.Sorted()
	c.Reply.Array(len(users))
	for _, a := range users {
		c.Reply.BulkString(l.Describe(a))
	}
	return nil
}

func aclUsers(c *command.Call) error {
	users := sessionOf(c).srv.users.Sorted()
	c.Reply.Array(len(users))
	for _, a := range users {
		c.Reply.BulkString(a.Name)
	}
	return nil
}

func aclSetUser(c *command.Call) error {
	rules := make([]string, len(c.Args)-1)
	for i, arg := range c.Args[1:] {
		rules[i] = string(arg)
	}
	srv, name := sessionOf(c).srv, string(c.Args[0])
	if err := srv.users.SetUser(name, rules); err != nil {
		return err
	}
	if a := srv.users.Find(name); a != nil {
		srv.narrowed(sessionOf(c), a)
	}
	c.Reply.Simple("OK")
	return nil
}
