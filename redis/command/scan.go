package command

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// ScanOptions are the options of SCAN and HSCAN.
type ScanOptions struct {
	Count   int    // entries to look at, 1 and up
	Pattern []byte // nil: all
	Kind    []byte // a type's name; nil: all
}

const (
	defaultScanCount = 10
	// maxScanCount bounds what one call looks at, whatever COUNT says: a
	// larger one takes more calls, and nobody else waits longer.
	maxScanCount = 100_000
)

// ParseScanOptions reads what follows the cursor; TYPE only where withKind.
func ParseScanOptions(args [][]byte, withKind bool) (o ScanOptions, err error) {
	o.Count = defaultScanCount
	for ; len(args) > 0; args = args[2:] {
		switch {
		case len(args) < 2:
			return o, ErrSyntax
		case Is(args[0], "COUNT"):
			n, ok := resp.ParseInt(args[1])
			if !ok {
				return o, ErrNotInteger
			}
			if n < 1 {
				return o, ErrSyntax
			}
			o.Count = int(min(n, maxScanCount))
		case Is(args[0], "MATCH"):
			o.SetPattern(args[1])
		case Is(args[0], "TYPE") && withKind:
			o.Kind = args[1]
		default:
			return o, ErrSyntax
		}
	}
	return o, nil
}

// SetPattern asks for names that match a pattern. A lone * is no pattern, and
// so lets the empty name pass, which Redis's matching does not.
func (o *ScanOptions) SetPattern(pattern []byte) {
	o.Pattern = nil
	if string(pattern) != "*" {
		o.Pattern = pattern
	}
}

// Matches says whether a key or field is wanted.
func (o *ScanOptions) Matches(name []byte) bool {
	return o.Pattern == nil || glob.Match(o.Pattern, name, false)
}

// ParseCursor reads a cursor as C's strtoul does, which is how Redis reads it.
func ParseCursor(arg []byte) (uint64, error) {
	text := string(arg)
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	if len(arg) == 0 {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || strings.HasPrefix(text, "+") {
		return 0, resp.Error("ERR invalid cursor")
	}
	if negative {
		n = -n
	}
	return n, nil
}

// ScanElements is HSCAN, SSCAN and ZSCAN. add adds one step of a collection
// that there is, and returns the cursor to go on with.
func ScanElements(c *Call, want keyspace.Kind, add func(k *keyspace.KeyDoc, cursor uint64, o *ScanOptions, l *List) (next uint64, err error)) error {
	cursor, err := ParseCursor(c.Args[1])
	if err != nil {
		return err
	}
	k, ok, err := c.FindKind(c.Args[0], want)
	if err != nil {
		return err
	}
	var l List
	if !ok {
		ReplyPage(c, 0, &l)
		return nil
	}
	o, err := ParseScanOptions(c.Args[2:], false)
	if err != nil {
		return err
	}
	next, err := add(&k, cursor, &o, &l)
	if err != nil {
		return err
	}
	ReplyPage(c, next, &l)
	return nil
}

// SubRange is the range of ids that follow a prefix with a sub-key that begins
// as the pattern does.
func SubRange(prefix, pattern []byte) (from, to []byte) {
	from = prefix
	if literal, _ := glob.Literal(pattern); len(literal) > 0 {
		from = tuple.AppendBytes(bytes.Clone(prefix), literal)
		from = from[:len(from)-1] // without the end mark, which longer ones do not have there
	}
	return from, tuple.PrefixEnd(from)
}

// Step walks over up to o.count entries of a range of an index by id, from
// where the cursor stands, and returns the cursor to go on with, 0 at the end.
// What is visited is good during the visit.
func Step(c *Call, index *firn.Index, prefix []byte, cursor uint64, o *ScanOptions, visit func(firn.Item) error) (uint64, error) {
	from, to := SubRange(prefix, o.Pattern)
	position := ""
	if cursor != 0 {
		position = c.Cursors.Position(cursor)
	}
	if strings.HasPrefix(position, string(prefix)) && position >= string(from) {
		from = append([]byte(position), 0) // the least id behind it
	}
	var last []byte
	seen := 0
	for item, err := range c.R.Scan(firn.Range{Index: index, From: from, To: to, Limit: o.Count + 1, Lent: true}) {
		if err != nil {
			return 0, err
		}
		if seen == o.Count {
			return c.Cursors.Put(string(last)), nil
		}
		if err := visit(item); err != nil {
			return 0, err
		}
		last = append(last[:0], item.Key...)
		seen++
	}
	return 0, nil
}

// List collects the elements of an array whose length is known at the end.
type List struct {
	Body resp.Writer
	N    int
}

func (l *List) Add(b []byte) {
	l.Body.Bulk(b)
	l.N++
}

// ReplyList replies the array.
func ReplyList(c *Call, l *List) {
	c.Reply.Array(l.N)
	c.Reply.Buf = append(c.Reply.Buf, l.Body.Buf...)
}

// ReplyPage replies one step of a scan.
func ReplyPage(c *Call, cursor uint64, l *List) {
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatUint(cursor, 10))
	ReplyList(c, l)
}
