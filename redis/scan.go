package redis

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/glob"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// Walks over the keys of a database.
var scanCommands = []Command{
	{
		Name: "SCAN", Args: "cursor [MATCH pattern] [COUNT count] [TYPE type]", Min: 1, Max: -1, Flags: ReadOnly,
		Group: "generic", Since: "2.8.0", Complexity: "O(count) per call",
		Summary: "Walks over the keys in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in key order. A pattern that begins with plain characters looks only at keys that begin so.",
		Run:     scan,
	},
	{
		Name: "KEYS", Args: "pattern", Min: 1, Flags: ReadOnly,
		Group: "generic", Since: "1.0.0", Complexity: "O(n), n the keys that begin as the pattern does",
		Summary: "Returns all keys that match a pattern.",
		Differs: "In key order.",
		Run:     keysMatching,
	},
}

// scanOptions are the options of SCAN and HSCAN.
type scanOptions struct {
	count   int    // entries to look at, 1 and up
	pattern []byte // nil: all
	kind    []byte // a type's name; nil: all
}

const (
	defaultScanCount = 10
	// maxScanCount bounds what one call looks at, whatever COUNT says: a
	// larger one takes more calls, and nobody else waits longer.
	maxScanCount = 100_000
)

// parseScanOptions reads what follows the cursor; TYPE only where withKind.
func parseScanOptions(args [][]byte, withKind bool) (o scanOptions, err error) {
	o.count = defaultScanCount
	for ; len(args) > 0; args = args[2:] {
		switch {
		case len(args) < 2:
			return o, errSyntax
		case is(args[0], "COUNT"):
			n, ok := resp.ParseInt(args[1])
			if !ok {
				return o, errNotInteger
			}
			if n < 1 {
				return o, errSyntax
			}
			o.count = int(min(n, maxScanCount))
		case is(args[0], "MATCH"):
			o.setPattern(args[1])
		case is(args[0], "TYPE") && withKind:
			o.kind = args[1]
		default:
			return o, errSyntax
		}
	}
	return o, nil
}

// setPattern asks for names that match a pattern. A lone * is no pattern, and
// so lets the empty name pass, which Redis's matching does not.
func (o *scanOptions) setPattern(pattern []byte) {
	o.pattern = nil
	if string(pattern) != "*" {
		o.pattern = pattern
	}
}

// matches says whether a key or field is wanted.
func (o *scanOptions) matches(name []byte) bool {
	return o.pattern == nil || glob.Match(o.pattern, name, false)
}

// parseCursor reads a cursor as C's strtoul does, which is how Redis reads it.
func parseCursor(arg []byte) (uint64, error) {
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

// scanElements is HSCAN, SSCAN and ZSCAN. add adds one step of a collection
// that there is, and returns the cursor to go on with.
func scanElements(c *Call, want kind, add func(k *keyDoc, cursor uint64, o *scanOptions, l *list) (next uint64, err error)) error {
	cursor, err := parseCursor(c.Args[1])
	if err != nil {
		return err
	}
	k, ok, err := c.findKind(c.Args[0], want)
	if err != nil {
		return err
	}
	var l list
	if !ok {
		replyPage(c, 0, &l)
		return nil
	}
	o, err := parseScanOptions(c.Args[2:], false)
	if err != nil {
		return err
	}
	next, err := add(&k, cursor, &o, &l)
	if err != nil {
		return err
	}
	replyPage(c, next, &l)
	return nil
}

// subRange is the range of ids that follow a prefix with a sub-key that begins
// as the pattern does.
func subRange(prefix, pattern []byte) (from, to []byte) {
	from = prefix
	if literal, _ := glob.Literal(pattern); len(literal) > 0 {
		from = tuple.AppendBytes(bytes.Clone(prefix), literal)
		from = from[:len(from)-1] // without the end mark, which longer ones do not have there
	}
	return from, tuple.PrefixEnd(from)
}

// step walks over up to o.count entries of a range of an index by id, from
// where the cursor stands, and returns the cursor to go on with, 0 at the end.
func step(c *Call, index *firn.Index, prefix []byte, cursor uint64, o *scanOptions, visit func(firn.Item) error) (uint64, error) {
	from, to := subRange(prefix, o.pattern)
	position := ""
	if cursor != 0 {
		position = c.cursors.position(cursor)
	}
	if strings.HasPrefix(position, string(prefix)) && position >= string(from) {
		from = append([]byte(position), 0) // the least id behind it
	}
	last, seen := "", 0
	for item, err := range c.R.Scan(firn.Range{Index: index, From: from, To: to, Limit: o.count + 1}) {
		if err != nil {
			return 0, err
		}
		if seen == o.count {
			return c.cursors.put(last), nil
		}
		if err := visit(item); err != nil {
			return 0, err
		}
		last = item.Key
		seen++
	}
	return 0, nil
}

// list collects the elements of an array whose length is known at the end.
type list struct {
	body resp.Writer
	n    int
}

func (l *list) add(b []byte) {
	l.body.Bulk(b)
	l.n++
}

// replyList replies the array.
func replyList(c *Call, l *list) {
	c.Reply.Array(l.n)
	c.Reply.Buf = append(c.Reply.Buf, l.body.Buf...)
}

// replyPage replies one step of a scan.
func replyPage(c *Call, cursor uint64, l *list) {
	c.Reply.Array(2)
	c.Reply.BulkString(strconv.FormatUint(cursor, 10))
	replyList(c, l)
}

// addKey adds the key of a document to the list if it is live and wanted.
func addKey(c *Call, l *list, o *scanOptions, prefixBytes int, item firn.Item) error {
	k, ok, err := c.live(item.Doc)
	if err != nil || !ok {
		return err
	}
	if o.kind != nil && !strings.EqualFold(string(o.kind), k.Kind.String()) {
		return nil
	}
	key, err := c.subKey(item.Key, prefixBytes)
	if err == nil && o.matches(key) {
		l.add(key)
	}
	return err
}

func scan(c *Call) error {
	cursor, err := parseCursor(c.Args[0])
	if err != nil {
		return err
	}
	o, err := parseScanOptions(c.Args[1:], true)
	if err != nil {
		return err
	}
	prefix, err := c.keyPrefix()
	if err != nil {
		return err
	}
	var l list
	next, err := step(c, c.keys.ByID(), prefix, cursor, &o, func(item firn.Item) error {
		return addKey(c, &l, &o, len(prefix), item)
	})
	if err != nil {
		return err
	}
	replyPage(c, next, &l)
	return nil
}

func keysMatching(c *Call) error {
	prefix, err := c.keyPrefix()
	if err != nil {
		return err
	}
	var l list
	var o scanOptions
	o.setPattern(c.Args[0])
	from, to := subRange(prefix, o.pattern)
	for item, err := range c.R.Scan(firn.Range{Index: c.keys.ByID(), From: from, To: to}) {
		if err != nil {
			return err
		}
		if err := addKey(c, &l, &o, len(prefix), item); err != nil {
			return err
		}
	}
	replyList(c, &l)
	return nil
}
