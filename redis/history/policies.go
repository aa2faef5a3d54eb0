package history

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// How much of the past is kept is set in three tiers: for everything, for a
// database, for a key; the nearest holds.

// policyCommands are the subcommands of HISTORY about how much is kept.
var policyCommands = []command.Command{
	{
		Name: "CONFIG", Flags: command.Local | command.Admin | command.OnWorker | command.OwnName,
		Since: "0.1.0", Complexity: "O(n), n the policies",
		Summary: "Lists the policies that are set and since when, and the global one first, set or not: since 0 is that of --retention.",
		Run:     historyConfig,
	},
	{
		Name: "DISABLE", Args: "<GLOBAL | DATABASE number | KEY key>", Min: 1, Max: 2,
		Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName, Keys: command.KeyAfter("KEY", 1, command.Updates),
		Since: "0.1.0", Complexity: "O(n), n the policies",
		Summary: "Keeps no history of a key, a database or everything from now on, and forgets what there is. Nearer tiers that have a policy keep theirs.",
		Run:     historyDisable,
	},
	{
		Name: "ENABLE", Args: "<GLOBAL | DATABASE number | KEY key> [RETENTION <UNLIMITED | TIME ms | COUNT n>]", Min: 1, Max: 5,
		Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName, Keys: command.KeyAfter("KEY", 1, command.Updates),
		Since: "0.1.0", Complexity: "O(n), n the policies",
		Summary: "Sets how much history of a key, a database or everything is kept: all of it, what was current within a time, or so many versions. " +
			"Without RETENTION, as much as the tier above keeps: that of GLOBAL is --retention.",
		Run: historyEnable,
	},
	{
		Name: "POLICY", Args: "key", Min: 1, Flags: command.Local | command.OnWorker | command.OwnName, Keys: command.FirstKey(command.Looks),
		Since: "0.1.0", Complexity: "O(1)",
		Summary: "Returns which policy holds for a key, which tier it is set for and since when, and the oldest moment that the key can be read at. The key need not exist.",
		Run:     historyPolicy,
	},
}

// Names of the tiers.
const (
	tierGlobal   = "global"
	tierDatabase = "database"
	tierKey      = "key"
)

const (
	errTier      = resp.Error("ERR syntax error, expected GLOBAL, DATABASE number or KEY key")
	errRetention = resp.Error("ERR syntax error, expected RETENTION UNLIMITED, RETENTION TIME milliseconds or RETENTION COUNT versions")
)

// errEmptyKey is the answer to changing what is kept of the key without a name:
// its history is the database's.
const errEmptyKey = resp.Error("ERR the empty key has no history of its own, it is kept as its database is")

// tier is what a policy is set for, and the arguments behind it.
func tier(c *command.Call) (scope firn.Scope, rest [][]byte, err error) {
	args := c.Args
	switch {
	case command.Is(args[0], "GLOBAL"):
		return firn.Scope{}, args[1:], nil
	case len(args) < 2:
		return scope, nil, errTier
	case command.Is(args[0], "DATABASE"):
		db, ok := resp.ParseInt(args[1])
		if !ok {
			return scope, nil, command.ErrNotInteger
		}
		if db < 0 || db >= int64(c.DatabaseCount) {
			return scope, nil, command.ErrDatabase
		}
		scope, err = scopeOf(c, int(db), nil)
		return scope, args[2:], err
	case command.Is(args[0], "KEY") && len(args[1]) == 0:
		return scope, nil, errEmptyKey
	case command.Is(args[0], "KEY"):
		scope, err = scopeOf(c, c.DB, args[1])
		return scope, args[2:], err
	}
	return scope, nil, errTier
}

// scopeOf is whose history a key is that a database shows now; of a nil key,
// the database's own.
func scopeOf(c *command.Call, db int, key []byte) (scope firn.Scope, err error) {
	err = c.Present(func(v *keyspace.View) error {
		space, err := v.Keyspace(db)
		scope = firn.Scope{Group: space.Group(), Member: string(key)}
		return err
	})
	return scope, err
}

// parseRetention reads [RETENTION …]; nil says that nothing is said.
func parseRetention(args [][]byte) (*firn.Retention, error) {
	switch {
	case len(args) == 0:
		return nil, nil
	case !command.Is(args[0], "RETENTION"), len(args) < 2:
		return nil, errRetention
	case command.Is(args[1], "UNLIMITED") && len(args) == 2:
		return &firn.Retention{}, nil
	case len(args) != 3:
		return nil, errRetention
	}
	n, ok := resp.ParseInt(args[2])
	switch {
	case command.Is(args[1], "TIME"):
		if !ok || n < 1 || n > math.MaxInt64/int64(time.Millisecond) {
			return nil, command.ErrNotInteger
		}
		return &firn.Retention{Age: time.Duration(n) * time.Millisecond}, nil
	case command.Is(args[1], "COUNT"):
		if !ok || n < 1 || n > math.MaxInt32 {
			return nil, command.ErrNotInteger
		}
		return &firn.Retention{Versions: int(n)}, nil
	}
	return nil, errRetention
}

func historyDisable(c *command.Call) error {
	scope, rest, err := tier(c)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return errTier
	}
	return setPolicy(c, scope, &firn.Retention{Off: true})
}

func historyEnable(c *command.Call) error {
	scope, rest, err := tier(c)
	if err != nil {
		return err
	}
	policy, err := parseRetention(rest)
	if err != nil {
		return err
	}
	if policy == nil && disabledAbove(c, scope) {
		policy = &firn.Retention{} // there is nothing to follow
	}
	return setPolicy(c, scope, policy)
}

// disabledAbove says whether the tier above a scope keeps nothing.
func disabledAbove(c *command.Call, scope firn.Scope) bool {
	if scope == (firn.Scope{}) {
		return false
	}
	above := firn.Scope{}
	if scope.Member != "" {
		above.Group = scope.Group
	}
	p, _ := c.Store.Retention(above)
	return p.Off
}

func setPolicy(c *command.Call, scope firn.Scope, policy *firn.Retention) error {
	if err := c.Store.SetRetention(context.Background(), scope, policy); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

// groupNames are the databases that show other keyspaces than the ones they
// were born with, or the same again, by the groups of these. Any other group
// is the database of its own number.
func groupNames(c *command.Call) (names map[string]string, err error) {
	names = map[string]string{}
	err = c.Present(func(v *keyspace.View) error {
		for item, err := range v.R.Scan(firn.Range{Index: v.Databases.ByID()}) {
			if err != nil {
				return err
			}
			db, _, err := tuple.TakeInt(item.Doc.ID)
			if err != nil {
				return err
			}
			space, _, err := keyspace.ParseDatabase(item.Doc)
			if err != nil {
				return err
			}
			names[space.Group()] = strconv.FormatInt(db, 10)
		}
		return nil
	})
	return names, err
}

// policyFields is how many fields replyPolicy appends.
const policyFields = 5

// replyPolicy appends the fields that tell a policy and what it is set for.
func replyPolicy(c *command.Call, p firn.Retention, tier firn.Scope, groupNames map[string]string) {
	db, shown := groupNames[tier.Group]
	if !shown {
		db = tier.Group
	}
	level, target := tierGlobal, "*"
	switch {
	case tier.Member != "":
		level, target = tierKey, db+":"+tier.Member
	case tier.Group != "":
		level, target = tierDatabase, db
	}
	kept := "unlimited"
	switch {
	case p.Off:
		kept = "off"
	case p.Age > 0:
		kept = "time " + strconv.FormatInt(p.Age.Milliseconds(), 10)
	case p.Versions > 0:
		kept = "count " + strconv.Itoa(p.Versions)
	}
	r := &c.Reply
	command.ReplyField(r, "level", level)
	command.ReplyField(r, "target", target)
	r.BulkString("enabled")
	r.Bool(!p.Off)
	command.ReplyField(r, "retention", kept)
	command.ReplyNumber(r, "since", int(c.Store.RetentionSince(tier)))
}

func historyConfig(c *command.Call) error {
	names, err := groupNames(c)
	if err != nil {
		return err
	}
	type set struct {
		scope  firn.Scope
		policy firn.Retention
	}
	store := c.Store
	global, _ := store.Retention(firn.Scope{})
	all := []set{{firn.Scope{}, global}}
	for scope, p := range store.Policies() {
		if scope != (firn.Scope{}) {
			all = append(all, set{scope, p})
		}
	}
	c.Reply.Array(len(all))
	for _, s := range all {
		c.Reply.Map(policyFields)
		replyPolicy(c, s.policy, s.scope, names)
	}
	return nil
}

func historyPolicy(c *command.Call) error {
	names, err := groupNames(c)
	if err != nil {
		return err
	}
	scope, err := scopeOf(c, c.DB, c.Args[0])
	if err != nil {
		return err
	}
	oldest, err := oldestOf(c, c.Args[0])
	if err != nil {
		return err
	}
	p, tier := c.Store.Retention(scope)
	c.Reply.Map(policyFields + 1)
	replyPolicy(c, p, tier, names)
	command.ReplyNumber(&c.Reply, "oldest", int(oldest))
	return nil
}

// oldestOf is the oldest moment at which a key can be read that the database
// shows now.
func oldestOf(c *command.Call, key []byte) (oldest firn.Timestamp, err error) {
	var id []byte
	err = c.Present(func(v *keyspace.View) error {
		space, err := v.Keyspace(v.DB)
		id = keyspace.AppendKeyID(nil, space, key)
		return err
	})
	for err == nil {
		err = c.Store.At(oldest, func(snap *firn.Snapshot) error {
			if _, err := snap.Last(c.Keys, id); err != nil && err != firn.ErrNotFound {
				return err
			}
			return nil
		})
		if err == nil {
			return oldest, nil
		}
		err = later(err, &oldest)
	}
	return 0, err
}
