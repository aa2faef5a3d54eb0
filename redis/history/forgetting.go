package history

import (
	"context"
	"errors"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Forgetting on purpose. The present stays, and so does what a hold keeps.

var forgettingCommands = []command.Command{
	{
		Name: "CLEAR", Args: "key [BEFORE when]", Min: 1, Max: 3,
		Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName, Keys: command.FirstKey(command.Deletes),
		Since: "0.1.0", Complexity: "O(n), n the versions forgotten",
		Summary: "Forgets the history of a key, or what was replaced at or before a moment; the key stays. " +
			"Returns how many versions are gone, those of its elements included; what a hold keeps is not. A key that has no history is an error.",
		Run: historyClear,
	},
	{
		Name: "PRUNE", Args: "BEFORE when", Min: 2, Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName,
		Since: "0.1.0", Complexity: "O(n), n the rows of the log up to the moment",
		Summary: "Forgets what was replaced at or before a moment, in all databases and whatever the policies say, but nothing that a hold keeps. Returns how many versions are gone.",
		Run:     historyPrune,
	},
}

// compactCommands do what is otherwise done in time.
var compactCommands = []command.Command{{
	Name: "COMPACT", Args: "[BEFORE when]", Max: 2, Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName,
	Group: "history", Since: "0.1.0", Complexity: "O(n), n the rows of the log that passed the horizon",
	Summary: "Forgets now what the policies do not keep, which the server does by itself as time passes; with BEFORE, does what HISTORY PRUNE does. " +
		"Returns how many versions are gone, how long it took, and the horizon.",
	Run: compactNow,
}}

const errBefore = resp.Error("ERR syntax error, expected BEFORE and a moment")

// before reads [BEFORE when]; without it, the newest commit. A moment that has
// not come is a *FutureError.
func before(c *command.Call, args [][]byte) (firn.Timestamp, error) {
	store := c.Store
	newest := store.Bounds().Newest
	switch {
	case len(args) == 0:
		return newest, nil
	case len(args) != 2 || !command.Is(args[0], "BEFORE"):
		return 0, errBefore
	}
	ts, err := c.Client.Moment(args[1])
	if err != nil {
		return 0, err
	}
	if now, err := c.Client.Moment([]byte("now")); err != nil || ts > now {
		return 0, errors.Join(err, &firn.FutureError{Asked: ts, Newest: newest})
	}
	return min(ts, newest), nil
}

func historyClear(c *command.Call) error {
	key := c.Args[0]
	before, err := before(c, c.Args[1:])
	if err != nil {
		return err
	}
	if len(key) == 0 {
		return errEmptyKey
	}
	ids, err := documentsOf(c, key)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return command.ErrNoSuchKey
	}
	var all int64
	for _, id := range ids {
		n, err := c.Store.Forget(context.Background(), c.Keys, id, before)
		if err != nil {
			return err
		}
		all += n
	}
	c.Reply.Int(all)
	return nil
}

// documentsOf are the ids of the documents that have a key's history: one in
// each keyspace that the call's database shows or has had, before FLUSHDB,
// wherever SWAPDB has taken them.
func documentsOf(c *command.Call, key []byte) (ids [][]byte, err error) {
	err = c.Present(func(v *keyspace.View) error {
		now, err := v.Keyspace(v.DB)
		if err != nil {
			return err
		}
		spaces, err := keyspace.KeyspacesOf(v, now.Home())
		if err != nil {
			return err
		}
		for _, space := range spaces {
			id := keyspace.AppendKeyID(nil, space, key)
			for _, err := range v.R.Versions(v.Keys, id, firn.VersionRange{Limit: 1}) {
				if err != nil {
					return err
				}
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids, err
}

func historyPrune(c *command.Call) error {
	before, err := before(c, c.Args)
	if err != nil {
		return err
	}
	n, err := c.Store.Prune(context.Background(), before)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

func compactNow(c *command.Call) error {
	store := c.Store
	run := store.Compact
	if len(c.Args) > 0 {
		before, err := before(c, c.Args)
		if err != nil {
			return err
		}
		run = func(ctx context.Context) (int64, error) { return store.Prune(ctx, before) }
	}
	began := command.Clock()
	versions, err := run(context.Background())
	if err != nil {
		return err
	}
	took := command.Clock() - began
	c.Reply.Map(3)
	command.ReplyNumber(&c.Reply, "versions", int(versions))
	command.ReplyNumber(&c.Reply, "elapsed_ms", int(took.Milliseconds()))
	command.ReplyNumber(&c.Reply, "horizon", int(store.Bounds().Oldest))
	return nil
}
