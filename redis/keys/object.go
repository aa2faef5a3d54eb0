package keys

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// OBJECT answers as Redis 7.0 would: Firn keeps all strings, and all hashes, in
// one way.

var objectCommands = []command.Command{
	{
		Name: "ENCODING", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Looks),
		Group: "generic", Since: "2.2.3", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Returns the name of the encoding that Redis would use, or nil.",
		Run:     objectEncoding,
	},
	{
		Name: "FREQ", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Looks),
		Group: "generic", Since: "4.0.0", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Fails, as in Redis without an LFU policy; nil if there is no such key.",
		Run:     objectFreq,
	},
	{
		Name: "IDLETIME", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Looks),
		Group: "generic", Since: "2.2.3", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns the seconds since the key was last written, or nil.",
		Differs: "Counts from the last write: accesses are not recorded.",
		Run:     objectIdleTime,
	},
	{
		Name: "REFCOUNT", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Looks),
		Group: "generic", Since: "2.2.3", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Returns how many references Redis would hold to the value, or nil.",
		Differs: "Answers as for a value that SET has just stored.",
		Run:     objectRefCount,
	},
	{
		Name: "HELP", Flags: command.Local | command.Loading | command.Stale,
		Group: "generic", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Returns a text about the subcommands.",
		Run:     objectHelp,
	},
}

// Limits of Redis's encodings of strings.
const (
	sharedIntegers = 10000 // OBJ_SHARED_INTEGERS
)

func objectEncoding(c *command.Call) error {
	k, ok, err := c.Look(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	c.Reply.BulkString(k.EncodingName())
	return nil
}

func objectFreq(c *command.Call) error {
	_, ok, err := c.Look(c.Args[0])
	if err != nil {
		return err
	}
	if ok {
		return resp.Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. " +
			"Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	}
	c.Reply.Null()
	return nil
}

func objectIdleTime(c *command.Call) error {
	doc, _, ok, err := c.FindLive(c.Args[0])
	if err != nil {
		return err
	}
	if ok {
		c.Reply.Int((c.Now() - doc.TS.Millis()) / 1000)
	} else {
		c.Reply.Null()
	}
	return nil
}

func objectRefCount(c *command.Call) error {
	k, ok, err := c.Look(c.Args[0])
	if err != nil {
		return err
	}
	if !ok {
		c.Reply.Null()
		return nil
	}
	if n, isInt := resp.ParseInt(k.Value); isInt && k.Encoding == keyspace.Compact && n >= 0 && n < sharedIntegers {
		c.Reply.Int(math.MaxInt32)
		return nil
	}
	c.Reply.Int(1)
	return nil
}

func objectHelp(c *command.Call) error {
	lines := []string{
		"OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
		"ENCODING <key>",
		"    Return the kind of internal representation used in order to store the value",
		"    associated with a <key>.",
		"FREQ <key>",
		"    Return the access frequency index of the <key>. The returned integer is",
		"    proportional to the logarithm of the recent access frequency of the key.",
		"IDLETIME <key>",
		"    Return the idle time of the <key>, that is the approximated number of",
		"    seconds elapsed since the last access to the key.",
		"REFCOUNT <key>",
		"    Return the number of references of the value associated with the specified",
		"    <key>.",
		"HELP",
		"    Prints this help.",
	}
	return command.ReplyLines(c, lines)
}
