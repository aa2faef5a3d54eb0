package acl

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

// Load replaces all users by those of the file, or, if anything in it is
// wrong, none. It returns who is gone.
func (l *Users) Load() (gone map[*Account]bool, err error) {
	text, err := readBounded(l.File)
	if err != nil {
		return nil, resp.Error(fmt.Sprintf("ERR Error loading ACLs, opening file '%s': %s", l.File, systemText(err)))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	users, problems := l.Parse(text)
	if problems != "" {
		return nil, resp.Error("ERR " + problems + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	if users["default"] == nil {
		users["default"] = NewACL(l.Table, "").Standard.Rights.Load()
	}
	gone = map[*Account]bool{}
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
		l.users[name] = NewAccount(name, r)
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

// Parse reads the lines of a file. problems says all that is wrong.
func (l *Users) Parse(text string) (users map[string]*Rights, problems string) {
	users = map[string]*Rights{}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", l.File, number)
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
			r := &Rights{Selectors: []Selector{l.NewSelector()}}
			users[words[1]] = r
			problems += l.parseRules(r, words[2:], where)
		}
	}
	return users, problems
}

// parseRules applies the rules of a line. Of what is wrong it tells every
// unknown word and the first of all other things.
func (l *Users) parseRules(r *Rights, rules []string, where string) (problems string) {
	merged, err := mergeSelectors(rules)
	if err != nil {
		return where + ": Unmatched parenthesis in selector definition. "
	}
	told := false
	for _, rule := range merged {
		switch err := l.ApplyUser(r, rule); {
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

// Save writes all users to the file: it has the old users or the new ones,
// also after a crash.
func (l *Users) Save() (err error) {
	var text strings.Builder
	for _, a := range l.Sorted() {
		text.WriteString(l.Describe(a) + "\n")
	}
	f, err := os.CreateTemp(filepath.Dir(l.File), filepath.Base(l.File)+".tmp-*")
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
	if err := os.Rename(f.Name(), l.File); err != nil {
		return err
	}
	return syncDirectory(filepath.Dir(l.File))
}

// syncDirectory makes a rename durable.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
