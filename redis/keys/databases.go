package keys

import (
	"math"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A database is a document that names a keyspace, so emptying one or
// exchanging two is a single write, and the past keeps its keys.
var databaseCommands = []command.Command{
	{
		Name: "DBSIZE", Flags: command.ReadOnly | command.Fast, Categories: command.CatKeyspace,
		Group: "server", Since: "1.0.0", Complexity: "O(1), and the expired keys that are not swept yet",
		Tips:    []string{"request_policy:all_shards", "response_policy:agg_sum"},
		Live:    command.Live{What: "a key of the database that is made or removed, or ends"},
		Summary: "Returns how many keys the database has.",
		Differs: "Does not count keys that have expired.",
		Run:     dbSize,
	},
	{
		Name: "FLUSHDB", Args: "[ASYNC | SYNC]", Max: -1, Flags: command.Writes, Categories: command.CatKeyspace | command.CatDangerous,
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Summary: "Empties the database.",
		Differs: "Constant time; the keys stay readable in the past.",
		Run:     flushDB,
	},
	{
		Name: "FLUSHALL", Args: "[ASYNC | SYNC]", Max: -1, Flags: command.Writes, Categories: command.CatKeyspace | command.CatDangerous,
		Group: "server", Since: "1.0.0", Complexity: "O(n), n the databases",
		Tips:    []string{"request_policy:all_shards", "response_policy:all_succeeded"},
		Summary: "Empties all databases.",
		Differs: "Constant time; the keys stay readable in the past.",
		Run:     flushAll,
	},
	{
		Name: "SWAPDB", Args: "index1 index2", Min: 2, Flags: command.Writes | command.Fast, Categories: command.CatKeyspace | command.CatDangerous,
		Group: "server", Since: "4.0.0", Complexity: "O(1)",
		Summary: "Exchanges two databases.",
		Run:     swapDB,
	},
}

func dbSize(c *command.Call) error {
	prefix, err := c.KeyPrefix()
	if err != nil {
		return err
	}
	n, err := c.R.Count(c.Keys, prefix)
	if err != nil {
		return err
	}
	gone, err := keyspace.CountExpired(c.View, string(prefix))
	if err != nil {
		return err
	}
	c.Reply.Int(int64(n - gone))
	return nil
}

// checkFlushOptions accepts nothing, ASYNC or SYNC. They mean the same here.
func checkFlushOptions(args [][]byte) error {
	if len(args) > 1 || len(args) == 1 && !command.Is(args[0], "ASYNC") && !command.Is(args[0], "SYNC") {
		return command.ErrSyntax
	}
	return nil
}

func flushDB(c *command.Call) error {
	if err := checkFlushOptions(c.Args); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.Witness.Changed(c.DB, nil)
	return c.Flush(c.DB)
}

func flushAll(c *command.Call) error {
	if err := checkFlushOptions(c.Args); err != nil {
		return err
	}
	for db := range c.DatabaseCount {
		if err := c.Flush(db); err != nil {
			return err
		}
	}
	c.Witness.Changed(c.DB, nil)
	c.Reply.Simple("OK")
	return nil
}

func swapDB(c *command.Call) error {
	first, err := swapIndex(c.Args[0], "ERR invalid first DB index")
	if err != nil {
		return err
	}
	second, err := swapIndex(c.Args[1], "ERR invalid second DB index")
	if err != nil {
		return err
	}
	if count := c.DatabaseCount; uint(first) >= uint(count) || uint(second) >= uint(count) {
		return command.ErrDatabase
	}
	c.Reply.Simple("OK")
	if first == second {
		return nil
	}
	a, err := c.Keyspace(first)
	if err != nil {
		return err
	}
	b, err := c.Keyspace(second)
	if err != nil {
		return err
	}
	if err := c.ShowKeyspace(first, b); err != nil {
		return err
	}
	c.Witness.Changed(c.DB, nil)
	return c.ShowKeyspace(second, a)
}

func swapIndex(arg []byte, text resp.Error) (int, error) {
	n, ok := resp.ParseInt(arg)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, text
	}
	return int(n), nil
}
