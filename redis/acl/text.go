package acl

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/resp"
)

// Load replaces all users by those of a text, the contents of a file of that
// name, or, if anything in it is wrong, none. It returns who is gone.
func (l *Users) Load(text, file string) (gone map[*Account]bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	users, problems := l.Parse(text, file)
	if problems != "" {
		return nil, resp.Error("ERR " + problems + "WARNING: ACL errors detected, no change to the previously active ACL rules was performed")
	}
	if users["default"] == nil {
		users["default"] = NewACL(l.Commands, "").Standard.Rights.Load()
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

// Parse reads the lines of a file, whose name problems tell. problems says all that is wrong.
func (l *Users) Parse(text, file string) (users map[string]*Rights, problems string) {
	users = map[string]*Rights{}
	number := 0
	for line := range strings.SplitSeq(text, "\n") {
		number++
		line = strings.Trim(line, " \t\r\n")
		if line == "" {
			continue
		}
		where := fmt.Sprintf("%s:%d", file, number)
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

// Text is all users, a line each, as Load reads them.
func (l *Users) Text() string {
	var text strings.Builder
	for _, a := range l.Sorted() {
		text.WriteString(l.Describe(a) + "\n")
	}
	return text.String()
}
