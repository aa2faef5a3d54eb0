package feed

import (
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// query is what CHANGES asks for.
type query struct {
	after    firn.Timestamp // exclusive
	count    int
	blocks   bool
	patience time.Duration // of BLOCK; 0: for ever

	patterns    []command.ScanOptions // none: every key
	databases   []int
	kinds       []keyspace.Kind
	operations  []string // upper case
	tables      []string
	who, values bool
}

const (
	// defaultCount is how many commits a page has at most if COUNT does not say.
	defaultCount = 100

	// maxCount is the most that COUNT may be: more takes more pages.
	maxCount = 10_000

	// maxWords is how many MATCH, DB, TYPE, OP and TABLE a query may have: each
	// change is compared with all of them.
	maxWords = 1024
)

const (
	errCount = resp.Error("ERR COUNT must be between 1 and 10000")
	errType  = resp.Error("ERR TYPE must be string, hash, list, set, zset or stream")
	errWords = resp.Error("ERR CHANGES takes at most 1024 of MATCH, DB, TYPE, OP and TABLE")
	errAny   = resp.Error("NOPERM TABLE reads documents that are no keys, and needs the right to read all keys")
)

func parseQuery(c *command.Call) (q query, err error) {
	q.count = defaultCount
	if q.after, err = since(c, c.Args[0]); err != nil {
		return q, err
	}
	words := 0
	for rest := c.Args[1:]; len(rest) > 0; {
		switch {
		case command.Is(rest[0], "WHO"):
			q.who = true
			rest = rest[1:]
			continue
		case command.Is(rest[0], "VALUES"):
			q.values = true
			rest = rest[1:]
			continue
		case len(rest) == 1:
			return q, command.ErrSyntax
		case words >= maxWords:
			return q, errWords
		}
		counts, err := q.option(c, rest[0], rest[1])
		if err != nil {
			return q, err
		}
		if counts {
			words++
		}
		rest = rest[2:]
	}
	return q, nil
}

// option reads an option with a value; filters says that it is one of those that
// may come again.
func (q *query) option(c *command.Call, name, value []byte) (filters bool, err error) {
	switch {
	case command.Is(name, "COUNT"):
		n, ok := resp.ParseInt(value)
		if !ok {
			return false, command.ErrNotInteger
		}
		if n < 1 || n > maxCount {
			return false, errCount
		}
		q.count = int(n)
		return false, nil
	case command.Is(name, "BLOCK"):
		q.blocks = true
		q.patience, err = command.ParseTimeoutMillis(value)
		return false, err
	case command.Is(name, "MATCH"):
		var o command.ScanOptions
		o.SetPattern(value)
		q.patterns = append(q.patterns, o)
	case command.Is(name, "DB"):
		n, ok := resp.ParseInt(value)
		if !ok {
			return false, command.ErrNotInteger
		}
		if n < 0 || n >= int64(c.DatabaseCount) {
			return false, command.ErrDatabase
		}
		q.databases = append(q.databases, int(n))
	case command.Is(name, "TYPE"):
		kind, ok := keyspace.ParseKind(strings.ToLower(string(value)))
		if !ok {
			return false, errType
		}
		q.kinds = append(q.kinds, kind)
	case command.Is(name, "OP"):
		q.operations = append(q.operations, strings.ToUpper(string(value)))
	case command.Is(name, "TABLE"):
		return true, q.table(c, string(value))
	default:
		return false, command.ErrSyntax
	}
	return true, nil
}

// table asks for a program's own documents, or, by the name keys, for keys.
func (q *query) table(c *command.Call, name string) error {
	known := slices.Contains(c.Store.Tables(), name) && !strings.HasPrefix(name, "firn.")
	switch {
	case name == keyspace.KeysTable:
	case !known || tables[name]:
		return resp.Error("ERR no such table: " + name)
	case !c.Client.ReadsAnyKey(c):
		return errAny
	}
	q.tables = append(q.tables, name)
	return nil
}

// since is the moment after which a client wants to know what happened. now and
// $ are the newest commit: what comes next is wanted.
func since(c *command.Call, when []byte) (firn.Timestamp, error) {
	text := string(when)
	if text != "$" && text != "now" {
		return c.Store.Journal().From(text)
	}
	if asof := c.Client.AsOf(); asof != 0 {
		return asof, nil
	}
	return c.Store.Bounds().Newest, nil
}

// wantsKeys says whether changes of keys are asked for.
func (q *query) wantsKeys() bool {
	return len(q.tables) == 0 || slices.Contains(q.tables, keyspace.KeysTable)
}

// matches says whether a name fits one of the patterns.
func (q *query) matches(name []byte) bool {
	for i := range q.patterns {
		if q.patterns[i].Matches(name) {
			return true
		}
	}
	return len(q.patterns) == 0
}

func (q *query) wantsDatabase(db int) bool {
	return len(q.databases) == 0 || slices.Contains(q.databases, db)
}

func (q *query) wantsOperation(operation string) bool {
	return len(q.operations) == 0 || slices.ContainsFunc(q.operations, func(name string) bool { return strings.EqualFold(name, operation) })
}

func (q *query) wantsKind(kind keyspace.Kind) bool {
	return len(q.kinds) == 0 || slices.Contains(q.kinds, kind)
}

// narrow is what every key begins with that fits a pattern; nil if some pattern
// says nothing of the sort.
func (q *query) narrow() (prefixes [][]byte) {
	for i := range q.patterns {
		prefix, _ := glob.Literal(q.patterns[i].Pattern)
		if len(prefix) == 0 {
			return nil
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes
}
