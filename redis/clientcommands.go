package redis

import (
	"fmt"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

const (
	errClientName   = resp.Error("ERR Client names cannot contain spaces, newlines or special characters.")
	errNoSuchClient = resp.Error("ERR No such client")
	errClientID     = resp.Error("ERR client-id should be greater than 0")
)

var clientCommands = []command.Command{{
	Name: "CLIENT", Flags: command.Local,
	Group: "connection", Since: "2.4.0", Complexity: "that of the subcommand",
	Summary: "A container for client connection commands.",
	Sub: append(trackingCommands, []command.Command{
		{
			Name: "ASOF", Args: "<when [PARTIAL] | OFF>", Min: 1, Max: 2, Flags: command.Local | command.OwnName | command.NoScript | command.Loading | command.Stale,
			Since: "0.1.0", Complexity: "O(1)",
			Summary: "Makes the connection read as of a moment of the past, until OFF. Writes are refused. PARTIAL is that of AT.",
			Run:     clientASOF,
		},
		{
			Name: "GETNAME", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "2.6.9", Complexity: "O(1)",
			Summary: "Returns the name of the connection.",
			Run:     clientGetName,
		},
		command.HelpWith(0, clientHelpText),
		{
			Name: "ID", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "5.0.0", Complexity: "O(1)",
			Summary: "Returns the unique client ID of the connection.",
			Run:     func(c *command.Call) error { c.Reply.Int(sessionOf(c).id); return nil },
		},
		{
			Name: "INFO", Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "6.2.0", Complexity: "O(1)",
			Tips:    []string{"nondeterministic_output"},
			Summary: "Returns information about the connection.",
			Run:     clientInfo,
		},
		{
			Name: "KILL", Args: "ip:port | <[ID id] | [TYPE type] | [ADDR ip:port] | [LADDR ip:port] | [USER name] | [SKIPME YES | NO] ...>", Min: 1,
			Max: -1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.4.0", Complexity: "O(n), n the client connections",
			Summary: "Terminates open connections.",
			Run:     clientKill,
		},
		{
			Name: "LIST", Args: "[TYPE NORMAL | MASTER | REPLICA | PUBSUB] [ID id [id ...]]", Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "2.4.0", Complexity: "O(n), n the client connections",
			Tips:    []string{"nondeterministic_output"},
			Summary: "Lists open connections.",
			Run:     clientList,
		},
		{
			Name: "NO-EVICT", Args: "ON | OFF", Min: 1, Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "7.0.0", Complexity: "O(1)",
			Summary: "Accepted: no connection is ever evicted.",
			Run:     func(c *command.Call) error { return clientOnOff(c, &sessionOf(c).noEvict) },
		},
		{
			Name: "NO-TOUCH", Args: "ON | OFF", Min: 1, Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "7.2.0", Complexity: "O(1)",
			Summary: "Accepted: reads never change what is kept.",
			Run:     func(c *command.Call) error { return clientOnOff(c, &sessionOf(c).noTouch) },
		},
		{
			Name: "PAUSE", Args: "timeout [WRITE | ALL]", Min: 1, Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "3.0.0", Complexity: "O(1)",
			Summary: "Suspends commands processing.",
			Differs: "CLIENT UNPAUSE is never suspended. Writes that had arrived may still be finished. Keys go on expiring.",
			Run:     clientPause,
		},
		{
			Name: "REPLY", Args: "ON | OFF | SKIP", Min: 1, Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "3.2.0", Complexity: "O(1)",
			Summary: "Instructs the server whether to reply to commands.",
			Run:     clientReply,
		},
		{
			Name: "SETINFO", Args: "LIB-NAME libname | LIB-VER libver | REASON text", Min: 2,
			Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "7.2.0", Complexity: "O(1)",
			Summary: "Sets information specific to the client or connection.",
			Differs: "REASON is Firn's own: why the connection writes, for HISTORY GET to show; the empty text ends it.",
			Run:     clientSetInfo,
		},
		{
			Name: "SETNAME", Args: "connection-name", Min: 1, Flags: command.Local | command.NoScript | command.Loading | command.Stale,
			Since: "2.6.9", Complexity: "O(1)",
			Summary: "Sets the connection name.",
			Run:     clientSetName,
		},
		{
			Name: "UNBLOCK", Args: "client-id [TIMEOUT | ERROR]", Min: 1, Max: -1,
			Flags: command.Local | command.Admin | command.NoScript | command.Loading | command.Stale,
			Since: "5.0.0", Complexity: "O(1)",
			Summary: "Unblocks a client blocked by a blocking command from a different connection.",
			Run:     clientUnblock,
		},
		{
			Name: "UNPAUSE", Flags: command.Local | command.Admin | command.NeverPaused | command.NoScript | command.Loading | command.Stale,
			Since: "6.2.0", Complexity: "O(n), n the clients that wait",
			Summary: "Resumes processing commands from paused clients.",
			Run:     clientUnpause,
		},
	}...),
}}

func clientASOF(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return errInMulti
	}
	partial := len(c.Args) == 2
	off := command.Is(c.Args[0], "OFF")
	switch {
	case partial && (off || !command.Is(c.Args[1], "PARTIAL")):
		return command.ErrSyntax
	case off:
		s.asof = 0
	default:
		ts, err := s.Moment(c.Args[0])
		if err == nil {
			err = s.srv.store.At(ts, func(*firn.Snapshot) error { return nil })
		}
		if err != nil {
			return err
		}
		s.asof = ts
	}
	s.partial = partial
	s.publish()
	c.Reply.Simple("OK")
	return nil
}

// Moment resolves a moment that a client named.
func (s *Session) Moment(when []byte) (firn.Timestamp, error) {
	return s.srv.store.Moment(string(when))
}

func clientGetName(c *command.Call) error {
	if sessionOf(c).who.name == "" {
		c.Reply.Null()
	} else {
		c.Reply.BulkString(sessionOf(c).who.name)
	}
	return nil
}

func clientSetName(c *command.Call) error {
	if !plainText(c.Args[0]) {
		return errClientName
	}
	sessionOf(c).who.name = string(c.Args[0])
	sessionOf(c).publish()
	c.Reply.Simple("OK")
	return nil
}

func clientSetInfo(c *command.Call) error {
	var what *string
	switch {
	case command.Is(c.Args[0], "LIB-NAME"):
		what = &sessionOf(c).who.library
	case command.Is(c.Args[0], "LIB-VER"):
		what = &sessionOf(c).who.libraryVersion
	case command.Is(c.Args[0], "REASON"):
		if err := sessionOf(c).who.setReason(c.Args[1]); err != nil {
			return err
		}
		sessionOf(c).publish()
		c.Reply.Simple("OK")
		return nil
	default:
		return resp.Error(fmt.Sprintf("ERR Unrecognized option '%s'", command.CString(c.Args[0], 128)))
	}
	if !plainText(c.Args[1]) {
		return resp.Error(fmt.Sprintf("ERR %s cannot contain spaces, newlines or special characters.", strings.ToLower(string(c.Args[0]))))
	}
	*what = string(c.Args[1])
	sessionOf(c).publish()
	c.Reply.Simple("OK")
	return nil
}

// measureOwn notes what the input of the client takes that asks.
func measureOwn(c *command.Call) {
	s := sessionOf(c)
	name := strings.ReplaceAll(s.cmd.Load().Full, "|", "")
	s.sizes.measureInput(s.in, len(name)+bytesIn(c.Args), s.multi.bytes)
}

func clientInfo(c *command.Call) error {
	measureOwn(c)
	c.Reply.Verbatim("txt", clientLine(sessionOf(c))+"\n")
	return nil
}

func clientOnOff(c *command.Call, what *bool) error {
	on := command.Is(c.Args[0], "ON")
	if !on && !command.Is(c.Args[0], "OFF") {
		return command.ErrSyntax
	}
	*what = on
	sessionOf(c).publish()
	c.Reply.Simple("OK")
	return nil
}

func clientReply(c *command.Call) error {
	s := sessionOf(c)
	switch {
	case command.Is(c.Args[0], "ON"):
		s.mute, s.next.mute = speaking, false
		c.Reply.Simple("OK")
	case command.Is(c.Args[0], "OFF"):
		s.mute = muteAlways
	case command.Is(c.Args[0], "SKIP"):
		if s.mute == speaking {
			s.mute = muteThis
		}
	default:
		return command.ErrSyntax
	}
	return nil
}

func clientList(c *command.Call) error {
	show := func(*Session) bool { return true }
	switch args := c.Args; {
	case len(args) == 0:
	case len(args) == 2 && command.Is(args[0], "TYPE"):
		var err error
		if show, err = clientType(args[1]); err != nil {
			return err
		}
	case len(args) >= 2 && command.Is(args[0], "ID"):
		ids := make(map[int64]bool, len(args)-1)
		for _, arg := range args[1:] {
			id, ok := resp.ParseInt(arg)
			if !ok {
				return resp.Error("ERR Invalid client ID")
			}
			ids[id] = true
		}
		show = func(s *Session) bool { return ids[s.id] }
	default:
		return command.ErrSyntax
	}
	measureOwn(c)
	var text strings.Builder
	for _, s := range sessionOf(c).srv.clients.all() {
		if show(s) {
			text.WriteString(clientLine(s))
			text.WriteByte('\n')
		}
	}
	c.Reply.Verbatim("txt", text.String())
	return nil
}

// clientType says which clients are of a type.
func clientType(name []byte) (isOf func(*Session) bool, err error) {
	switch {
	case command.Is(name, "NORMAL"):
		return func(s *Session) bool { return s.subs.Total() == 0 }, nil
	case command.Is(name, "PUBSUB"):
		return func(s *Session) bool { return s.subs.Total() > 0 }, nil
	case command.Is(name, "MASTER"), command.Is(name, "REPLICA"), command.Is(name, "SLAVE"):
		return func(*Session) bool { return false }, nil
	}
	return nil, resp.Error(fmt.Sprintf("ERR Unknown client type '%s'", command.CString(name, 128)))
}

// killFilter says which clients CLIENT KILL ends.
type killFilter struct {
	id         int64
	peer, addr string
	isOf       func(*Session) bool // nil: of any type
	user       *acl.Account        // nil: anybody's
	withSelf   bool
}

func (f *killFilter) matches(s, self *Session) bool {
	return (f.isOf == nil || f.isOf(s)) && (f.user == nil || f.user == s.user.Load()) && (f.withSelf || s != self) &&
		(f.id == 0 || f.id == s.id) && (f.peer == "" || f.peer == s.peer) && (f.addr == "" || f.addr == s.addr)
}

// option takes one filter and its value.
func (f *killFilter) option(srv *Server, name, value []byte) (err error) {
	switch {
	case command.Is(name, "ID"):
		id, ok := resp.ParseInt(value)
		if !ok || id < 1 {
			return errClientID
		}
		f.id = id
	case command.Is(name, "TYPE"):
		f.isOf, err = clientType(value)
		return err
	case command.Is(name, "ADDR"):
		f.peer = string(value)
	case command.Is(name, "LADDR"):
		f.addr = string(value)
	case command.Is(name, "USER"):
		if f.user = srv.users.Find(string(value)); f.user == nil {
			return resp.Error(fmt.Sprintf("ERR No such user '%s'", command.CString(value, 128)))
		}
	case command.Is(name, "SKIPME") && command.Is(value, "YES"):
		f.withSelf = false
	case command.Is(name, "SKIPME") && command.Is(value, "NO"):
		f.withSelf = true
	default:
		return command.ErrSyntax
	}
	return nil
}

func clientKill(c *command.Call) error {
	f := killFilter{}
	if len(c.Args) == 1 {
		f.peer, f.withSelf = string(c.Args[0]), true
		if sessionOf(c).srv.kill(&f, sessionOf(c)) == 0 {
			return errNoSuchClient
		}
		c.Reply.Simple("OK")
		return nil
	}
	if len(c.Args)%2 != 0 {
		return command.ErrSyntax
	}
	for i := 0; i < len(c.Args); i += 2 {
		if err := f.option(sessionOf(c).srv, c.Args[i], c.Args[i+1]); err != nil {
			return err
		}
	}
	c.Reply.Int(int64(sessionOf(c).srv.kill(&f, sessionOf(c))))
	return nil
}

// kill ends the clients that f matches, and says how many.
func (srv *Server) kill(f *killFilter, self *Session) int {
	return srv.dismiss(self, func(s *Session) bool { return f.matches(s, self) })
}
