package redis

import (
	"errors"
	"math"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// A database is a document that names a keyspace, so emptying one or
// exchanging two is a single write, and the past keeps its keys.
var databaseCommands = []Command{
	{
		Name: "DBSIZE", Flags: ReadOnly | Fast,
		Group: "server", Since: "1.0.0", Complexity: "O(1), and the expired keys that are not swept yet",
		Summary: "Returns how many keys the database has.",
		Differs: "Does not count keys that have expired.",
		Run:     dbSize,
	},
	{
		Name: "FLUSHDB", Args: "[ASYNC | SYNC]", Max: -1, Flags: Writes,
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "Empties the database.",
		Differs: "Constant time; the keys stay readable in the past.",
		Run:     flushDB,
	},
	{
		Name: "FLUSHALL", Args: "[ASYNC | SYNC]", Max: -1, Flags: Writes,
		Group: "server", Since: "1.0.0", Complexity: "O(n), n the databases",
		Summary: "Empties all databases.",
		Differs: "Constant time; the keys stay readable in the past.",
		Run:     flushAll,
	},
	{
		Name: "SWAPDB", Args: "index1 index2", Min: 2, Flags: Writes | Fast,
		Group: "server", Since: "4.0.0", Complexity: "O(1)",
		Summary: "Exchanges two databases.",
		Run:     swapDB,
	},
}

// present calls fn with the call's database at present.
func (c *Call) present(fn func(v *View) error) error {
	return c.store.View(func(snap *firn.Snapshot) error { return fn(c.at(snap)) })
}

// eachDatabase calls fn with every database in turn, and with what the ids of
// its keys begin with.
func (v *View) eachDatabase(fn func(v *View, prefix []byte) error) error {
	for db := range v.databaseCount {
		one := v.in(db)
		prefix, err := one.keyPrefix()
		if err != nil {
			return err
		}
		if err := fn(one, prefix); err != nil {
			return err
		}
	}
	return nil
}

func dbSize(c *Call) error {
	prefix, err := c.keyPrefix()
	if err != nil {
		return err
	}
	n, err := c.R.Count(c.keys, prefix)
	if err != nil {
		return err
	}
	gone, err := countExpired(c.View, string(prefix))
	if err != nil {
		return err
	}
	c.Reply.Int(int64(n - gone))
	return nil
}

// countExpired counts the keys under a prefix of ids that have expired and
// were not swept yet.
func countExpired(v *View, prefix string) (n int, err error) {
	due := firn.Range{Index: v.expiry, To: tuple.AppendInt(nil, v.now())}
	for item, err := range v.R.Scan(due) {
		if errors.Is(err, firn.ErrCompacted) {
			return countEnded(v, prefix) // a key of another database is forgotten
		}
		if err != nil {
			return 0, err
		}
		if !strings.HasPrefix(item.Doc.ID, prefix) {
			continue
		}
		_, ok, err := v.live(item.Doc) // a hash may have lost a field only
		if err != nil {
			return 0, err
		}
		if !ok {
			n++
		}
	}
	return n, nil
}

// countEnded is countExpired by a walk over all keys under the prefix.
func countEnded(v *View, prefix string) (n int, err error) {
	for item, err := range v.R.Scan(firn.Range{Index: v.keys.ByID(), Prefix: []byte(prefix)}) {
		if err != nil {
			return 0, err
		}
		if _, ok, err := v.live(item.Doc); err != nil {
			return 0, err
		} else if !ok {
			n++
		}
	}
	return n, nil
}

// checkFlushOptions accepts nothing, ASYNC or SYNC. They mean the same here.
func checkFlushOptions(args [][]byte) error {
	if len(args) > 1 || len(args) == 1 && !is(args[0], "ASYNC") && !is(args[0], "SYNC") {
		return errSyntax
	}
	return nil
}

func flushDB(c *Call) error {
	if err := checkFlushOptions(c.Args); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	c.witness.Changed(c.DB, nil)
	return c.flush(c.DB)
}

func flushAll(c *Call) error {
	if err := checkFlushOptions(c.Args); err != nil {
		return err
	}
	for db := range c.databaseCount {
		if err := c.flush(db); err != nil {
			return err
		}
	}
	c.witness.Changed(c.DB, nil)
	c.Reply.Simple("OK")
	return nil
}

// flush gives a database a keyspace without keys. One that is empty keeps the
// one that it has.
func (v *View) flush(db int) error {
	space, err := v.keyspace(db)
	if err != nil {
		return err
	}
	n, err := v.R.Count(v.keys, appendUID(nil, space))
	if err != nil || n == 0 {
		return err
	}
	return v.showKeyspace(db, space.nextKeyspace(v.Tx.Timestamp()))
}

// showKeyspace makes a database show a keyspace.
func (v *View) showKeyspace(db int, space uid) error {
	v.witness.Awaited(db, nil)
	id := tuple.AppendInt(nil, int64(db))
	return v.Tx.Put(v.databases, id, appendDatabase(nil, v.Operation, space))
}

func swapDB(c *Call) error {
	first, err := swapIndex(c.Args[0], "ERR invalid first DB index")
	if err != nil {
		return err
	}
	second, err := swapIndex(c.Args[1], "ERR invalid second DB index")
	if err != nil {
		return err
	}
	if count := c.databaseCount; uint(first) >= uint(count) || uint(second) >= uint(count) {
		return errDatabase
	}
	c.Reply.Simple("OK")
	if first == second {
		return nil
	}
	a, err := c.keyspace(first)
	if err != nil {
		return err
	}
	b, err := c.keyspace(second)
	if err != nil {
		return err
	}
	if err := c.showKeyspace(first, b); err != nil {
		return err
	}
	c.witness.Changed(c.DB, nil)
	return c.showKeyspace(second, a)
}

func swapIndex(arg []byte, text resp.Error) (int, error) {
	n, ok := resp.ParseInt(arg)
	if !ok || n < math.MinInt32 || n > math.MaxInt32 {
		return 0, text
	}
	return int(n), nil
}
