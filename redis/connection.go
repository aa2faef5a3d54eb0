package redis

import (
	"bytes"
	"fmt"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

var connectionCommands = []command.Command{
	{
		Name: "AUTH", Args: "[username] password", Min: 1, Max: -1,
		Flags:   command.Local | command.Fast | command.NoAuth | command.Skip | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Secrets: authSecrets,
		Group:   "connection", Since: "1.0.0", Complexity: "O(n), n the passwords defined for the user",
		Summary: "Authenticates the connection.",
		Run:     connectionAuth,
	},
	{
		Name: "HELLO", Args: "[protover [AUTH username password] [SETNAME clientname]]", Max: -1,
		Flags:   command.Local | command.Fast | command.NoAuth | command.Skip | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Secrets: helloSecrets,
		Group:   "connection", Since: "6.0.0", Complexity: "O(1)",
		Summary: "Handshakes with the server: protocol, password and name.",
		Run:     connectionHello,
	},
	{
		Name: "PING", Args: "[message]", Max: -1, Flags: command.Local | command.Fast | command.PubSub,
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Summary: "Returns the server's liveliness response.",
		Run:     connectionPing,
	},
	{
		Name: "ECHO", Args: "message", Min: 1, Flags: command.Local | command.Fast | command.Loading | command.Stale,
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Returns the given string.",
		Run:     func(c *command.Call) error { c.Reply.Bulk(c.Args[0]); return nil },
	},
	{
		Name: "QUIT", Max: -1,
		Flags: command.Local | command.Fast | command.NoAuth | command.NoQueue | command.PubSub | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Closes the connection.",
		Run:     connectionQuit,
	},
	{
		Name:  "RESET",
		Flags: command.Local | command.Fast | command.NoAuth | command.NoQueue | command.PubSub | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "connection", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Resets the connection.",
		Run:     connectionReset,
	},
	{
		Name: "SELECT", Args: "index", Min: 1, Flags: command.Local | command.Fast | command.Loading | command.Stale,
		Group: "connection", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Changes the selected database.",
		Run:     connectionSelect,
	},
}

// authSecrets are all of AUTH's arguments.
func authSecrets(args [][]byte) []int {
	all := make([]int, len(args))
	for i := range all {
		all[i] = i
	}
	return all
}

// helloSecrets are the user and the password behind each AUTH.
func helloSecrets(args [][]byte) (all []int) {
	for i := 0; i < len(args); i++ {
		if command.Is(args[i], "AUTH") {
			all = append(all, i+1, i+2)
			i += 2
		}
	}
	return all
}

func connectionAuth(c *command.Call) error {
	s := sessionOf(c)
	user, password := "default", c.Args[0]
	switch {
	case len(c.Args) > 2:
		return command.ErrSyntax
	case len(c.Args) == 2:
		user, password = string(c.Args[0]), c.Args[1]
	case s.srv.users.Standard.Rights.Load().AnyPassword:
		return resp.Error("ERR AUTH <password> called without any password configured for the default user. " +
			"Are you sure your configuration is correct?")
	}
	if err := authenticate(s, c.Cmd, user, password); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

// hello is what HELLO asks for.
type hello struct {
	proto          int
	user           string
	password, name []byte
	auth, naming   bool
}

func parseHello(c *command.Call) (h hello, err error) {
	h.proto = sessionOf(c).proto
	if len(c.Args) == 0 {
		return h, nil
	}
	version, ok := resp.ParseInt(c.Args[0])
	if !ok {
		return h, resp.Error("ERR Protocol version is not an integer or out of range")
	}
	if version != 2 && version != 3 {
		return h, resp.Error("NOPROTO unsupported protocol version")
	}
	h.proto = int(version)
	for rest := c.Args[1:]; len(rest) > 0; {
		switch {
		case command.Is(rest[0], "AUTH") && len(rest) >= 3:
			h.auth, h.user, h.password = true, string(rest[1]), rest[2]
			rest = rest[3:]
		case command.Is(rest[0], "SETNAME") && len(rest) >= 2:
			h.naming, h.name = true, rest[1]
			if !plainText(h.name) {
				return h, errClientName
			}
			rest = rest[2:]
		default:
			return h, resp.Error(fmt.Sprintf("ERR Syntax error in HELLO option '%s'", command.CString(rest[0], 128)))
		}
	}
	return h, nil
}

func connectionHello(c *command.Call) error {
	s := sessionOf(c)
	h, err := parseHello(c)
	if err != nil {
		return err
	}
	if h.auth {
		if err := authenticate(s, c.Cmd, h.user, h.password); err != nil {
			return err
		}
	}
	if !s.authed && !s.srv.users.Open() {
		return resp.Error("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> " +
			"option can be used to authenticate the client and select the RESP protocol version at the same time")
	}
	if h.naming {
		s.who.name = string(h.name)
	}
	token := goodToken(c)
	takeInbox(c) // what was pushed is in the protocol of before
	if h.proto != 3 {
		s.live.Load().Close()
	}
	s.proto = h.proto
	s.publish()
	c.Reply.Proto = h.proto
	c.Reply.Map(7 + min(len(token), 1))
	command.ReplyField(&c.Reply, "server", "redis")
	command.ReplyField(&c.Reply, "version", redisVersion)
	command.ReplyNumber(&c.Reply, "proto", h.proto)
	c.Reply.BulkString("id")
	c.Reply.Int(s.id)
	command.ReplyField(&c.Reply, "mode", "standalone")
	command.ReplyField(&c.Reply, "role", "master")
	c.Reply.BulkString("modules")
	c.Reply.Array(0)
	if token != "" {
		command.ReplyField(&c.Reply, "token", token)
	}
	return nil
}

func connectionPing(c *command.Call) error {
	switch {
	case len(c.Args) > 1:
		return command.ErrArity(c)
	case sessionOf(c).proto == 2 && sessionOf(c).subs.Total() > 0:
		c.Reply.Array(2)
		c.Reply.BulkString("pong")
		c.Reply.Bulk(bytes.Join(c.Args, nil))
	case len(c.Args) == 1:
		c.Reply.Bulk(c.Args[0])
	default:
		c.Reply.Simple("PONG")
	}
	return nil
}

func connectionQuit(c *command.Call) error {
	sessionOf(c).closing = true
	c.Reply.Simple("OK")
	return nil
}

func connectionReset(c *command.Call) error {
	sessionOf(c).reset()
	takeInbox(c)
	c.Reply.Proto = sessionOf(c).proto
	c.Reply.Simple("RESET")
	return nil
}

func connectionSelect(c *command.Call) error {
	n, ok := resp.ParseInt(c.Args[0])
	if !ok {
		return command.ErrNotInteger
	}
	if n < 0 || n >= int64(sessionOf(c).srv.opts.Databases) {
		return command.ErrDatabase
	}
	if sessionOf(c).track.Leaves(int(n)) {
		sessionOf(c).outbox.add(note{what: noteStale, all: true}, nil, nil)
	}
	sessionOf(c).db = int(n)
	sessionOf(c).publish()
	c.Reply.Simple("OK")
	return nil
}

// plainText says whether b may be a client's name: printable, no spaces.
func plainText(b []byte) bool {
	for _, c := range b {
		if c < '!' || c > '~' {
			return false
		}
	}
	return true
}
