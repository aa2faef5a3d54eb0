package keys

import (
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// Walks over the keys of a database.
var scanCommands = []command.Command{
	{
		Name: "SCAN", Args: "cursor [MATCH pattern] [COUNT count] [TYPE type]", Min: 1, Max: -1, Flags: command.ReadOnly,
		Group: "generic", Since: "2.8.0", Complexity: "O(count) per call",
		Tips:    []string{"nondeterministic_output", "request_policy:special"},
		Live:    command.Live{Refused: command.LiveCursors},
		Summary: "Walks over the keys in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in key order. A pattern that begins with plain characters looks only at keys that begin so.",
		Run:     scan,
	},
	{
		Name: "KEYS", Args: "pattern", Min: 1, Flags: command.ReadOnly, Categories: command.CatKeyspace | command.CatDangerous,
		Group: "generic", Since: "1.0.0", Complexity: "O(n), n the keys that begin as the pattern does",
		Tips:    []string{"request_policy:all_shards", "nondeterministic_output_order"},
		Live:    command.Live{What: "any write to a key of the database that begins as the pattern does up to its first special character"},
		Summary: "Returns all keys that match a pattern.",
		Differs: "In key order.",
		Run:     keysMatching,
	},
}

// addKey adds the key of a document to the list if it is live and wanted.
func addKey(c *command.Call, l *command.List, o *command.ScanOptions, prefixBytes int, item firn.Item) error {
	k, ok, err := c.Live(item.Doc)
	if err != nil || !ok {
		return err
	}
	if o.Kind != nil && !strings.EqualFold(string(o.Kind), k.Kind.String()) {
		return nil
	}
	key, err := c.SubKey(item.Key, prefixBytes)
	if err == nil && o.Matches(key) {
		l.Add(key)
	}
	return err
}

func scan(c *command.Call) error {
	cursor, err := command.ParseCursor(c.Args[0])
	if err != nil {
		return err
	}
	o, err := command.ParseScanOptions(c.Args[1:], true)
	if err != nil {
		return err
	}
	prefix, err := c.KeyPrefix()
	if err != nil {
		return err
	}
	var l command.List
	next, err := command.Step(c, c.Keys.ByID(), prefix, cursor, &o, func(item firn.Item) error {
		return addKey(c, &l, &o, len(prefix), item)
	})
	if err != nil {
		return err
	}
	command.ReplyPage(c, next, &l)
	return nil
}

func keysMatching(c *command.Call) error {
	prefix, err := c.KeyPrefix()
	if err != nil {
		return err
	}
	var l command.List
	var o command.ScanOptions
	o.SetPattern(c.Args[0])
	from, to := command.SubRange(prefix, o.Pattern)
	for item, err := range c.R.Scan(firn.Range{Index: c.Keys.ByID(), From: from, To: to, Lent: true}) {
		if err != nil {
			return err
		}
		if err := addKey(c, &l, &o, len(prefix), item); err != nil {
			return err
		}
	}
	command.ReplyList(c, &l)
	return nil
}
