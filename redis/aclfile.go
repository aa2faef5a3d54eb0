package redis

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/firndb/firn/resp"
)

// maxACLFileBytes bounds what is read of an ACL file.
const maxACLFileBytes = 64 << 20

const (
	errNoACLFile = resp.Error("ERR This Redis instance is not configured to use an ACL file. You may want to specify users via the ACL SETUSER " +
		"command and then issue a CONFIG REWRITE (assuming you have a Redis configuration file set) in order to store users in the Redis configuration.")
	errACLSave = resp.Error("ERR There was an error trying to save the ACLs. Please check the server logs for more information")
)

// LoadACL reads the users of the ACL file that Options name. It is called
// before the first session; without a file it does nothing.
func (srv *Server) LoadACL() error {
	if srv.users.file == "" {
		return nil
	}
	_, err := srv.users.load()
	return plainError(err)
}

// SetUser makes a user, or changes one, by the rules of ACL SETUSER; the
// first word is its name.
func (srv *Server) SetUser(words string) error {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return errors.New("redis: a user needs a name")
	}
	return plainError(srv.users.setUser(fields[0], fields[1:]))
}

// plainError is an error without the code that only clients of Redis expect.
func plainError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "ERR "))
}

// Open says whether clients need not authenticate.
func (srv *Server) Open() bool { return srv.users.open() }

// load replaces all users by those of the file, or, if anything in it is
// wrong, none. It returns who is gone.
func (l *users) load() (gone map[*account]bool, err error) {
	text, err := readBounded(l.file)
	if err != nil {
		return nil, resp.Error(fmt.Sprintf("ERR Error loading ACLs, opening file '%s': %s", l.file, systemText(err)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	users, problems := l.parse(text)
	if problems != "" {
		return nil, resp.Error("ERR " + problems + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	if users["default"] == nil {
		users["default"] = newACL(l.table, "").standard.rights.Load()
	}
	gone = map[*account]bool{}
	for name, a := range l.users {
		if r := users[name]; r != nil {
			a.set(r)
			delete(users, name)
		} else {
			gone[a] = true
			delete(l.users, name)
		}
	}
	for name, r := range users {
		l.users[name] = newAccount(name, r)
	}
	return gone, nil
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

// parse reads the lines of a file. problems says all that is wrong.
func (l *users) parse(text string) (users map[string]*rights, problems string) {
	users = map[string]*rights{}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", l.file, number)
		words := strings.Split(line, " ")
		switch {
		case words[0] != "user" || len(words) < 2:
			problems += where + " should start with user keyword followed by the username. "
		case users[words[1]] != nil:
			problems += fmt.Sprintf("WARNING: Duplicate user '%s' found on line %d. ", words[1], number)
		case hasSpaces(words[1]):
			problems += fmt.Sprintf("%s: username '%s' contains invalid characters. ", where, words[1])
		case len(users) == maxUsers:
			return users, problems + where + ": there are too many users. "
		default:
			r := &rights{selectors: []selector{l.newSelector()}}
			users[words[1]] = r
			problems += l.parseRules(r, words[2:], where)
		}
	}
	return users, problems
}

// parseRules applies the rules of a line. Of what is wrong it tells every
// unknown word and the first of all other things.
func (l *users) parseRules(r *rights, rules []string, where string) (problems string) {
	merged, err := mergeSelectors(rules)
	if err != nil {
		return where + ": Unmatched parenthesis in selector definition. "
	}
	told := false
	for _, rule := range merged {
		switch err := l.applyUser(r, rule); {
		case err == nil:
		case err == errACLUnknown:
			problems += fmt.Sprintf("%s: Error in applying operation '%s': %s. ", where, rule, err)
		case !told:
			told = true
			problems += fmt.Sprintf("%s: %s. ", where, err)
		}
	}
	return problems
}

// save writes all users to the file: it has the old users or the new ones,
// also after a crash.
func (l *users) save() (err error) {
	var text strings.Builder
	for _, a := range l.sorted() {
		text.WriteString(l.describe(a) + "\n")
	}
	f, err := os.CreateTemp(filepath.Dir(l.file), filepath.Base(l.file)+".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.WriteString(text.String())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), l.file); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(l.file))
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func aclLoad(c *Call) error {
	srv := sessionOf(c).srv
	if srv.users.file == "" {
		return errNoACLFile
	}
	gone, err := srv.users.load()
	if err != nil {
		return err
	}
	srv.dismiss(sessionOf(c), func(s *Session) bool { return gone[s.user.Load()] })
	for _, a := range srv.users.sorted() {
		srv.narrowed(sessionOf(c), a)
	}
	c.Reply.Simple("OK")
	return nil
}

func aclSave(c *Call) error {
	srv := sessionOf(c).srv
	if srv.users.file == "" {
		return errNoACLFile
	}
	if err := srv.users.save(); err != nil {
		srv.opts.Logger.Error("users not saved", "file", srv.users.file, "error", err)
		return errACLSave
	}
	c.Reply.Simple("OK")
	return nil
}
