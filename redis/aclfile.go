package redis

import (
	"errors"
	"strings"

	"github.com/firndb/firn/redis/command"

	"github.com/firndb/firn/resp"
)

const (
	errNoACLFile = resp.Error("ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER " +
		"command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.")
	errACLSave = resp.Error("ERR There was an error trying to save the ACLs. Please check the server logs for more information")
)

// LoadACL reads the users of the ACL file that Options name. It is called
// before the first session; without a file it does nothing.
func (srv *Server) LoadACL() error {
	if srv.users.File == "" {
		return nil
	}
	_, err := srv.users.Load()
	return plainError(err)
}

// SetUser makes a user, or changes one, by the rules of ACL SETUSER; the
// first word is its name.
func (srv *Server) SetUser(words string) error {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return errors.New("redis: a user needs a name")
	}
	return plainError(srv.users.SetUser(fields[0], fields[1:]))
}

// plainError is an error without the code that only clients of Redis expect.
func plainError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "ERR "))
}

// Open says whether clients need not authenticate.
func (srv *Server) Open() bool { return srv.users.Open() }

func aclLoad(c *command.Call) error {
	srv := sessionOf(c).srv
	if srv.users.File == "" {
		return errNoACLFile
	}
	gone, err := srv.users.Load()
	if err != nil {
		return err
	}
	srv.dismiss(sessionOf(c), func(s *Session) bool { return gone[s.user.Load()] })
	for _, a := range srv.users.Sorted() {
		srv.narrowed(sessionOf(c), a)
	}
	c.Reply.Simple("OK")
	return nil
}

func aclSave(c *command.Call) error {
	srv := sessionOf(c).srv
	if srv.users.File == "" {
		return errNoACLFile
	}
	if err := srv.users.Save(); err != nil {
		srv.opts.Logger.Error("users not saved", "file", srv.users.File, "error", err)
		return errACLSave
	}
	c.Reply.Simple("OK")
	return nil
}
