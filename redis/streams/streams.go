package streams

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// Streams: see keyspace/streamdoc.go and keyspace/streamgroups.go for how they
// are kept.
var streamCommands = []command.Command{
	{
		Name: "XADD", Args: "key [NOMKSTREAM] [MAXLEN|MINID [=|~] threshold [LIMIT count]] *|id field value [field value ...]", Min: 4, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM,
		Keys:  command.FirstKey(command.Updates).Noted("UPDATE instead of INSERT because of the optional trimming feature"),
		Group: "stream", Since: "5.0.0", Complexity: "O(1), or O(n) with n entries cut off",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Adds an entry to the stream at key and returns its id.",
		Run:     xAdd,
	},
	{
		Name: "XLEN", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.FirstKey(command.Looks),
		Group: "stream", Since: "5.0.0", Complexity: "O(1)",
		Live:    command.Live{On: keyspace.AspectLength, What: "the number of entries"},
		Summary: "Returns how many entries the stream at key has.",
		Run:     xLen,
	},
	{
		Name: "XRANGE", Args: "key start end [COUNT count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n + m), n the entries of the stream, m those returned",
		Live:    command.Live{On: keyspace.AspectFront, What: "the entries in the interval, with COUNT those up to the last that is replied; the stream's first entry"},
		Summary: "Returns the entries of the stream at key in an interval of ids.",
		Run:     xRange,
	},
	{
		Name: "XREVRANGE", Args: "key end start [COUNT count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n + m), n the entries of the stream, m those returned",
		Live:    command.Live{On: keyspace.AspectFront, What: "the entries in the interval, with COUNT those down to the last that is replied; the stream's first entry"},
		Summary: "XRANGE from the end.",
		Run:     xRevRange,
	},
	{
		Name: "XREAD", Args: "[COUNT count] [BLOCK milliseconds] STREAMS key [key ...] id [id ...]", Min: 3, Max: -1,
		Flags: command.ReadOnly | command.Blocks, Keys: command.KeysAfter("STREAMS", 1, command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n + m) for each stream, n its entries, m those returned",
		Summary: "Returns the entries of streams that follow an id, or waits for one.",
		Differs: "Takes the id + for the last entry, as Redis 7.4 does.",
		Run:     xRead,
	},
	{
		Name: "XTRIM", Args: "key MAXLEN|MINID [=|~] threshold [LIMIT count]", Min: 3, Max: -1, Flags: command.Writes,
		Keys:  command.FirstKey(command.Deletes),
		Group: "stream", Since: "5.0.0", Complexity: "O(n), n the entries cut off",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Cuts the first entries off the stream at key and returns how many.",
		Run:     xTrim,
	},
	{
		Name: "XDEL", Args: "key id [id ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Deletes),
		Group: "stream", Since: "5.0.0", Complexity: "O(m · log n), n the entries of the stream, m the ids",
		Summary: "Deletes entries of the stream at key and returns how many there were.",
		Run:     xDel,
	},
	{
		Name: "XSETID", Args: "key last-id [ENTRIESADDED entries-added] [MAXDELETEDID max-deleted-id]", Min: 2, Max: -1,
		Flags: command.Writes | command.Fast | command.DenyOOM, Keys: command.FirstKey(command.Updates),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n), n the entries of the stream",
		Summary: "Sets the last id of the stream at key, which the next entry's must exceed.",
		Run:     xSetID,
	},
	{
		Name: "XACK", Args: "key group id [id ...]", Min: 3, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Updates),
		Group: "stream", Since: "5.0.0", Complexity: "O(m · log n), n the pending entries, m the ids",
		Summary: "Ends that entries are pending in a group and returns how many were.",
		Run:     xAck,
	},
	{
		Name: "XPENDING", Args: "key group [[IDLE min-idle-time] start end count [consumer]]", Min: 2, Max: -1, Flags: command.ReadOnly,
		Keys:  command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n + m), n the pending entries, m those looked at",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Returns entries that are pending in a group, or how many each consumer has.",
		Run:     xPending,
	},
	{
		Name: "XCLAIM",
		Args: "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID lastid]",
		Min:  5, Max: -1, Flags: command.Writes | command.Fast, Keys: command.FirstKey(command.Updates),
		Group: "stream", Since: "5.0.0", Complexity: "O(m · log n), n the pending entries, m the ids",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Gives pending entries to a consumer and returns them.",
		Run:     xClaim,
	},
	{
		Name: "XAUTOCLAIM", Args: "key group consumer min-idle-time start [COUNT count] [JUSTID]", Min: 5, Max: -1, Flags: command.Writes | command.Fast,
		Keys:  command.FirstKey(command.Deletes),
		Group: "stream", Since: "6.2.0", Complexity: "O(log n + count), n the pending entries",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Gives pending entries that were idle to a consumer, in steps, and returns them.",
		Run:     xAutoClaim,
	},
	{
		Name: "XREADGROUP", Args: "GROUP group consumer [COUNT count] [BLOCK milliseconds] [NOACK] STREAMS key [key ...] id [id ...]", Min: 6, Max: -1,
		Flags: command.Writes | command.Blocks, Keys: command.KeysAfter("STREAMS", 4, command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(log n + m) for each stream, n its entries, m those returned",
		Summary: "Delivers entries of streams to a consumer of a group, or waits for one.",
		Differs: "A consumer that asks again for what is pending with it, which is nothing, is not seen by that.",
		Run:     xReadGroup,
	},
	{
		Name: "XGROUP", Group: "stream", Since: "5.0.0",
		Summary: "Makes, changes and deletes groups and consumers.",
		Sub:     xGroupCommands,
	},
	{
		Name: "XINFO", Group: "stream", Since: "5.0.0",
		Summary: "Tells about a stream, its groups and their consumers.",
		Sub:     xInfoCommands,
	},
}

var xGroupCommands = []command.Command{
	{
		Name: "CREATE", Args: "key group id|$ [MKSTREAM] [ENTRIESREAD entries-read]", Min: 3, Max: -1, Flags: command.Writes | command.DenyOOM,
		Keys:  command.FirstKey(command.Inserts),
		Group: "stream", Since: "5.0.0", Complexity: "O(1)",
		Summary:   "Makes a group that reads the stream at key after an id.",
		Operation: "XGROUP",
		Run:       xGroupCreate,
	},
	{
		Name: "SETID", Args: "key group id|$ [ENTRIESREAD entries-read]", Min: 3, Max: -1, Flags: command.Writes, Keys: command.FirstKey(command.Updates),
		Group: "stream", Since: "5.0.0", Complexity: "O(1)",
		Summary:   "Sets the id after which a group goes on to read.",
		Operation: "XGROUP",
		Run:       xGroupSetID,
	},
	{
		Name: "DESTROY", Args: "key group", Min: 2, Flags: command.Writes, Keys: command.FirstKey(command.Deletes),
		Group: "stream", Since: "5.0.0", Complexity: "O(n), n the pending entries of the group",
		Summary:   "Deletes a group, its consumers and what is pending in it: 1 if it was there, else 0.",
		Operation: "XGROUP",
		Run:       xGroupDestroy,
	},
	{
		Name: "CREATECONSUMER", Args: "key group consumer", Min: 3, Flags: command.Writes | command.DenyOOM, Keys: command.FirstKey(command.Inserts),
		Group: "stream", Since: "6.2.0", Complexity: "O(1)",
		Summary:   "Makes a consumer: 1 if it is new, else 0.",
		Operation: "XGROUP",
		Run:       xGroupCreateConsumer,
	},
	{
		Name: "DELCONSUMER", Args: "key group consumer", Min: 3, Flags: command.Writes, Keys: command.FirstKey(command.Deletes),
		Group: "stream", Since: "5.0.0", Complexity: "O(n), n the pending entries of the consumer",
		Summary:   "Deletes a consumer and returns how many entries were pending with it; they are not pending any more.",
		Operation: "XGROUP",
		Run:       xGroupDelConsumer,
	},
	{
		Name: "HELP", Flags: command.Local | command.Loading | command.Stale,
		Group: "stream", Since: "5.0.0", Complexity: "O(1)",
		Summary: "Returns a text about the subcommands.",
		Run:     xGroupHelp,
	},
}

var xInfoCommands = []command.Command{
	{
		Name: "STREAM", Args: "key [FULL [COUNT count]]", Min: 1, Max: -1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(1), or with FULL O(n), n what is returned",
		Summary: "Tells about the stream at key.",
		Differs: "radix-tree-nodes is one more than radix-tree-keys.",
		Run:     xInfoStream,
	},
	{
		Name: "GROUPS", Args: "key", Min: 1, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(n), n the groups",
		Summary: "Tells about the groups of the stream at key.",
		Run:     xInfoGroups,
	},
	{
		Name: "CONSUMERS", Args: "key group", Min: 2, Flags: command.ReadOnly, Keys: command.FirstKey(command.Reads),
		Group: "stream", Since: "5.0.0", Complexity: "O(n), n the consumers",
		Tips:    []string{"nondeterministic_output"},
		Live:    command.Live{Refused: command.LiveClock},
		Summary: "Tells about the consumers of a group.",
		Run:     xInfoConsumers,
	},
	{
		Name: "HELP", Flags: command.Local | command.Loading | command.Stale,
		Group: "stream", Since: "5.0.0", Complexity: "O(1)",
		Summary: "Returns a text about the subcommands.",
		Run:     xInfoHelp,
	},
}
