package redis

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/firndb/firn/redis/acl"
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
	if srv.opts.ACLFile == "" {
		return nil
	}
	_, err := srv.loadUsers()
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
	if srv.opts.ACLFile == "" {
		return errNoACLFile
	}
	gone, err := srv.loadUsers()
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
	if srv.opts.ACLFile == "" {
		return errNoACLFile
	}
	if err := saveUsers(srv.opts.ACLFile, srv.users.Text()); err != nil {
		srv.opts.Logger.Error("users not saved", "file", srv.opts.ACLFile, "error", err)
		return errACLSave
	}
	c.Reply.Simple("OK")
	return nil
}

// maxACLFileBytes bounds what is read of an ACL file.
const maxACLFileBytes = 64 << 20

// loadUsers replaces the users by those of the ACL file, and returns who is
// gone.
func (srv *Server) loadUsers() (gone map[*acl.Account]bool, err error) {
	path := srv.opts.ACLFile
	text, err := readBounded(path)
	if err != nil {
		return nil, resp.Error(fmt.Sprintf("ERR Error loading ACLs, opening file '%s': %s", path, systemText(err)))
	}
	return srv.users.Load(text, path)
}

func readBounded(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxACLFileBytes+1))
	if err == nil && len(text) > maxACLFileBytes {
		err = errors.New("file too large")
	}
	return string(text), err
}

// systemText is what the system says of an error, without the operation.
func systemText(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// saveUsers writes a file of users: it has the old ones or the new ones, also
// after a crash.
func saveUsers(path, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(path))
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
