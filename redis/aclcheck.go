package redis

import (
	"net/netip"
	"strings"

	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// ReadsAnyKey implements Client.
func (s *Session) ReadsAnyKey(c *command.Call) bool {
	bounds := s.user.Load().Bounds.Load()
	return bounds == nil || bounds.AllowsAnyKey(c.Cmd, c.Args)
}

// ReadsKey implements Client.
func (s *Session) ReadsKey(c *command.Call, key []byte) bool {
	bounds := s.user.Load().Bounds.Load()
	return bounds == nil || bounds.AllowsKey(c.Cmd, c.Args, key, command.AccessRead)
}

// Refusals, in Redis's words.
const (
	errNoKeyAccess     = resp.Error("NOPERM this user has no permissions to access one of the keys used as arguments")
	errNoChannelAccess = resp.Error("NOPERM this user has no permissions to access one of the channels used as arguments")
)

// denied is why the session's user may not run a command, which is logged.
func denied(s *Session, e *command.Entry, args [][]byte) acl.Denial {
	user := s.user.Load()
	bounds := user.Bounds.Load()
	if bounds == nil {
		return acl.DenialNone
	}
	why, object := bounds.Check(e, args)
	if why != acl.DenialNone {
		logDenial(s, e, why, string(object), user.Name)
	}
	return why
}

// permit says whether the session's user may run a command.
func permit(s *Session, e *command.Entry, args [][]byte) error {
	return denialError(e, denied(s, e, args))
}

// denialError is the error for a command that is not allowed, or is.
func denialError(e *command.Entry, why acl.Denial) error {
	switch why {
	case acl.DenialNone:
		return nil
	case acl.DenialKey:
		return errNoKeyAccess
	case acl.DenialChannel:
		return errNoChannelAccess
	}
	return resp.Error("NOPERM this user has no permissions to run the '" + e.Full + "' command")
}

// permitKeys says whether the user of a command that names no keys in its
// entry may do to keys what the command is about to. A refusal is logged.
func permitKeys(c *command.Call, need command.Access, keys ...[]byte) error {
	s := sessionOf(c)
	user, e := s.user.Load(), c.Cmd
	bounds := user.Bounds.Load()
	if bounds == nil {
		return nil
	}
	for _, key := range keys {
		if !bounds.AllowsKey(e, c.Args, key, need) {
			logDenial(s, e, acl.DenialKey, string(key), user.Name)
			return errNoKeyAccess
		}
	}
	return nil
}

// permitQueued is permit for a command that was queued by MULTI and runs now.
func permitQueued(s *Session, e *command.Entry, args [][]byte) error {
	reason := ""
	switch denied(s, e, args) {
	case acl.DenialNone:
		return nil
	case acl.DenialKey:
		reason = "no permission to touch the specified keys"
	case acl.DenialChannel:
		reason = "no permission to access one of the channels used as arguments to the command"
	default:
		reason = "no permission to execute the command or subcommand"
	}
	return resp.Error("NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. " +
		"This command is no longer allowed for the following reason: " + reason)
}

// authenticate makes the session a user's if the password is right.
func authenticate(s *Session, e *command.Entry, name string, password []byte) error {
	a := s.srv.users.Find(name)
	if a == nil || !a.Rights.Load().Opens(password) {
		logDenial(s, e, acl.DenialAuth, "", name)
		return errWrongPass
	}
	s.user.Store(a)
	identify(s)
	setAuthed(s, true)
	s.live.Load().RightsChanged()
	return nil
}

// logDenial remembers that the session was refused something.
func logDenial(s *Session, e *command.Entry, why acl.Denial, object, user string) {
	context := "toplevel"
	if s.multi.on {
		context = "multi"
	}
	logDenialIn(s, context, e, why, object, user)
}

// logDenialIn is logDenial for a command in a context of Redis's.
func logDenialIn(s *Session, context string, e *command.Entry, why acl.Denial, object, user string) {
	if why == acl.DenialCommand || why == acl.DenialAuth {
		object = e.Full
	}
	now := s.srv.opts.Now()
	s.srv.denials.Add(acl.Refusal{
		Why: why, Context: context, Object: object, User: user,
		Client: clientLine(s), Created: now, Updated: now,
	})
}

// mayDebug says whether a client may use DEBUG at all, before anything is
// asked about its rights: by the option and the client's address.
func mayDebug(option, peer string) bool { return option == "yes" || option == "local" && isLocal(peer) }

// isLocal says whether an address is on this machine.
func isLocal(peer string) bool {
	if address, err := netip.ParseAddrPort(peer); err == nil {
		return address.Addr().Unmap().IsLoopback()
	}
	return strings.HasPrefix(peer, "/") // a Unix socket
}
