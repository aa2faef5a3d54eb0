package redis

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// policyCommands are the subcommands of HISTORY about how much is kept.
var policyCommands = []Command{
	{
		Name: "CLEAR", Args: "key [BEFORE when]", Min: 1, Max: 3, Flags: Local | Admin | onWorker | NoMulti | OwnName, Keys: Keys{1, 1, 1}, Since: "0.2.0",
		Complexity: "O(N) where N is the number of versions forgotten",
		Summary:    "Forgets the history of a key, or what was replaced at or before a moment; the key stays. Returns how many versions are gone.",
		Run:        historyClear,
	},
	{
		Name: "CONFIG", Flags: Local | onWorker | OwnName, Since: "0.2.0", Complexity: "O(N) where N is the number of policies",
		Summary: "Lists the policies that are set, the global one first.",
		Run:     historyConfig,
	},
	{
		Name: "DISABLE", Args: "<GLOBAL | DATABASE number | KEY key>", Min: 1, Max: 2, Flags: Local | Admin | onWorker | NoMulti | OwnName, Since: "0.2.0",
		Complexity: "O(1)",
		Summary:    "Keeps no history of a key, a database or everything from now on; what there is goes.",
		Run:        func(c *Call) error { return setPolicy(c, &firn.Retention{Off: true}) },
	},
	{
		Name: "ENABLE", Args: "<GLOBAL | DATABASE number | KEY key> [RETENTION <UNLIMITED | TIME ms | COUNT n>]", Min: 1, Max: 5,
		Flags: Local | Admin | onWorker | NoMulti | OwnName, Since: "0.2.0", Complexity: "O(1)",
		Summary: "Sets how much history of a key, a database or everything is kept. Without RETENTION, as much as the tier above keeps.",
		Run:     func(c *Call) error { return setPolicy(c, nil) },
	},
	{
		Name: "POLICY", Args: "key", Min: 1, Flags: Local | onWorker | OwnName, Keys: Keys{1, 1, 1}, Since: "0.2.0", Complexity: "O(1)",
		Summary: "Returns which policy holds for a key, which tier it comes from, and how far back the key can be read.",
		Run:     historyPolicy,
	},
	{
		Name: "PRUNE", Args: "BEFORE when", Min: 2, Flags: Local | Admin | onWorker | NoMulti | OwnName, Since: "0.2.0",
		Complexity: "O(N) where N is the number of versions forgotten",
		Summary:    "Forgets what was replaced at or before a moment, whatever the policies say, unless it is held. Returns how many versions are gone.",
		Run:        historyPrune,
	},
}

// Names of the tiers.
const (
	tierGlobal   = "global"
	tierDatabase = "database"
	tierKey      = "key"
)

var errTier = Error("ERR syntax error, expected GLOBAL, DATABASE number or KEY key")

// tier is what a policy is set for.
func (c *Call) tier(args [][]byte) (scope firn.Scope, rest [][]byte, err error) {
	switch {
	case is(args[0], "GLOBAL"):
		return firn.Scope{}, args[1:], nil
	case len(args) < 2:
		return scope, nil, errTier
	case is(args[0], "DATABASE"):
		db, ok := resp.ParseInt(args[1])
		if !ok || db < 0 || db >= int64(c.work.databaseCount) {
			return scope, nil, errDatabase
		}
		scope, _, err = c.scopeOf(int(db), nil)
		scope.Member = ""
		return scope, args[2:], err
	case is(args[0], "KEY"):
		scope, _, err = c.scopeOf(c.DB, args[1])
		return scope, args[2:], err
	}
	return scope, nil, errTier
}

// scopeOf is whose history a key of a database is, and the id of its document.
func (c *Call) scopeOf(db int, key []byte) (scope firn.Scope, id []byte, err error) {
	err = c.Session.srv.store.View(func(snap *firn.Snapshot) error {
		c.R = snap
		space, err := c.keyspace(db)
		scope, id = firn.Scope{Group: space.group(), Member: string(key)}, appendKeyID(nil, space, key)
		return err
	})
	return scope, id, err
}

// parseRetention reads [RETENTION …]; nil says that nothing is said.
func parseRetention(args [][]byte) (*firn.Retention, error) {
	switch {
	case len(args) == 0:
		return nil, nil
	case !is(args[0], "RETENTION") || len(args) < 2:
		return nil, errSyntax
	case is(args[1], "UNLIMITED") && len(args) == 2:
		return &firn.Retention{}, nil
	case len(args) != 3:
		return nil, errSyntax
	}
	n, ok := resp.ParseInt(args[2])
	switch {
	case !ok || n < 1:
		return nil, errNotInteger
	case is(args[1], "TIME") && n <= math.MaxInt64/int64(time.Millisecond):
		return &firn.Retention{Age: time.Duration(n) * time.Millisecond}, nil
	case is(args[1], "COUNT") && n <= math.MaxInt32:
		return &firn.Retention{Versions: int(n)}, nil
	case is(args[1], "TIME"), is(args[1], "COUNT"):
		return nil, errNotInteger
	}
	return nil, errSyntax
}

// setPolicy sets the policy of what the arguments name; nil is what they say.
func setPolicy(c *Call, policy *firn.Retention) error {
	scope, rest, err := c.tier(c.Args)
	if err != nil {
		return err
	}
	if policy != nil && len(rest) > 0 {
		return errSyntax
	}
	if policy == nil {
		if policy, err = parseRetention(rest); err != nil {
			return err
		}
		if policy == nil {
			policy = c.inherited(scope)
		}
	}
	if err := c.Session.srv.store.SetRetention(context.Background(), scope, policy); err != nil {
		return err
	}
	c.Reply.Simple("OK")
	return nil
}

// inherited is nil if the tiers above a scope keep history, so that it may
// follow them; otherwise everything is kept.
func (c *Call) inherited(scope firn.Scope) *firn.Retention {
	above := firn.Scope{}
	if scope.Member != "" {
		above.Group = scope.Group
	}
	if p, _ := c.Session.srv.store.Retention(above); p.Off && scope != above {
		return &firn.Retention{}
	}
	return nil
}

// replyPolicy appends the four fields that tell a policy and its tier.
func (c *Call) replyPolicy(p firn.Retention, tier firn.Scope) {
	r := &c.Reply
	r.BulkString("level")
	switch {
	case tier.Member != "":
		r.BulkString(tierKey)
		r.BulkString("target")
		r.BulkString(tier.Group + ":" + tier.Member)
	case tier.Group != "":
		r.BulkString(tierDatabase)
		r.BulkString("target")
		r.BulkString(tier.Group)
	default:
		r.BulkString(tierGlobal)
		r.BulkString("target")
		r.BulkString("*")
	}
	r.BulkString("enabled")
	r.Bool(!p.Off)
	r.BulkString("retention")
	switch {
	case p.Off:
		r.BulkString("off")
	case p.Age > 0:
		r.BulkString("time " + strconv.FormatInt(p.Age.Milliseconds(), 10))
	case p.Versions > 0:
		r.BulkString("count " + strconv.Itoa(p.Versions))
	default:
		r.BulkString("unlimited")
	}
}

func historyConfig(c *Call) error {
	store := c.Session.srv.store
	type set struct {
		scope  firn.Scope
		policy firn.Retention
	}
	global, _ := store.Retention(firn.Scope{})
	all := []set{{firn.Scope{}, global}}
	for scope, p := range store.Policies() {
		if scope != (firn.Scope{}) {
			all = append(all, set{scope, p})
		}
	}
	c.Reply.Array(len(all))
	for _, s := range all {
		c.Reply.Map(4)
		c.replyPolicy(s.policy, s.scope)
	}
	return nil
}

func historyPolicy(c *Call) error {
	scope, _, err := c.scopeOf(c.DB, c.Args[0])
	if err != nil {
		return err
	}
	store := c.Session.srv.store
	p, tier := store.Retention(scope)
	c.Reply.Map(5)
	c.replyPolicy(p, tier)
	c.Reply.BulkString("oldest")
	c.Reply.Int(int64(store.Oldest(scope)))
	return nil
}

// before reads [BEFORE when]; without it, now.
func (c *Call) before(args [][]byte) (firn.Timestamp, error) {
	switch {
	case len(args) == 0:
		return c.Session.srv.store.Bounds().Newest, nil
	case len(args) != 2 || !is(args[0], "BEFORE"):
		return 0, errSyntax
	}
	ts, err := c.Session.moment(args[1])
	if err != nil {
		return 0, err
	}
	if newest := c.Session.srv.store.Bounds().Newest; ts > newest {
		ts = newest
	}
	return ts, nil
}

func historyClear(c *Call) error {
	before, err := c.before(c.Args[1:])
	if err != nil {
		return err
	}
	_, id, err := c.scopeOf(c.DB, c.Args[0])
	if err != nil {
		return err
	}
	n, err := c.Session.srv.store.Forget(context.Background(), c.work.keys, id, before)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

func historyPrune(c *Call) error {
	before, err := c.before(c.Args)
	if err != nil {
		return err
	}
	n, err := c.Session.srv.store.Prune(context.Background(), before)
	if err != nil {
		return err
	}
	c.Reply.Int(n)
	return nil
}

// retentionCommands keep moments back, and do now what else is done in time.
var retentionCommands = []Command{
	{
		Name: "COMPACT", Args: "[BEFORE when]", Max: 2, Flags: Local | Admin | onWorker | NoMulti | OwnName, Group: "history", Since: "0.2.0",
		Complexity: "O(N) where N is the number of rows that passed the horizon",
		Summary:    "Forgets now what the policies do not keep, and with BEFORE everything that was replaced at or before a moment. Returns what it did.",
		Run:        compactNow,
	},
	{
		Name: "HOLD", Args: "name [AT when] TTL s", Min: 3, Max: 5, Flags: Local | Admin | onWorker | NoMulti | OwnName, Group: "history", Since: "0.2.0",
		Complexity: "O(1)",
		Summary:    "Keeps everything from a moment on readable, for a while; without AT from now on.",
		Run:        hold,
	},
	{
		Name: "HOLDS", Flags: Local | onWorker | OwnName, Group: "history", Since: "0.2.0", Complexity: "O(N) where N is the number of holds",
		Summary: "Lists the holds: name, moment and seconds left.",
		Run:     holds,
	},
	{
		Name: "RELEASE", Args: "name", Min: 1, Flags: Local | Admin | onWorker | NoMulti | OwnName, Group: "history", Since: "0.2.0", Complexity: "O(1)",
		Summary: "Ends a hold. Returns 1, or 0 if there is none of that name.",
		Run:     release,
	},
}

func compactNow(c *Call) error {
	store := c.Session.srv.store
	run := store.Compact
	if len(c.Args) > 0 {
		before, err := c.before(c.Args)
		if err != nil {
			return err
		}
		run = func(ctx context.Context) (int64, error) { return store.Prune(ctx, before) }
	}
	began := clock()
	versions, err := run(context.Background())
	if err != nil {
		return err
	}
	c.Reply.Map(3)
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"versions", versions}, {"elapsed_ms", (clock() - began).Milliseconds()}, {"horizon", int64(store.Bounds().Oldest)},
	} {
		c.Reply.BulkString(field.name)
		c.Reply.Int(field.value)
	}
	return nil
}

var errHoldTTL = Error("ERR syntax error, a hold needs TTL and a number of seconds")

func hold(c *Call) error {
	h := firn.Hold{Name: string(c.Args[0])}
	rest := c.Args[1:]
	if len(rest) == 4 && is(rest[0], "AT") {
		ts, err := c.Session.moment(rest[1])
		if err != nil {
			return err
		}
		h.At, rest = ts, rest[2:]
	}
	if len(rest) != 2 || !is(rest[0], "TTL") {
		return errHoldTTL
	}
	seconds, ok := resp.ParseInt(rest[1])
	if !ok || seconds < 1 || seconds > math.MaxInt32 {
		return errNotInteger
	}
	srv := c.Session.srv
	h.Until = srv.opts.Now().Add(time.Duration(seconds) * time.Second)
	if err := srv.store.Hold(context.Background(), h); err != nil {
		return holdError(err)
	}
	c.Reply.Simple("OK")
	return nil
}

// holdError tells what is wrong with a hold; moments have words of their own.
func holdError(err error) error {
	if errors.Is(err, firn.ErrCompacted) || errors.Is(err, firn.ErrFuture) || !errors.Is(err, firn.ErrMoment) {
		return err
	}
	return Error("ERR " + err.Error())
}

func release(c *Call) error {
	had, err := c.Session.srv.store.Release(context.Background(), string(c.Args[0]))
	if err != nil {
		return err
	}
	n := int64(0)
	if had {
		n = 1
	}
	c.Reply.Int(n)
	return nil
}

func holds(c *Call) error {
	srv := c.Session.srv
	all, now := srv.store.Holds(), srv.opts.Now()
	c.Reply.Array(len(all))
	for _, h := range all {
		c.Reply.Map(3)
		c.Reply.BulkString("name")
		c.Reply.BulkString(h.Name)
		c.Reply.BulkString("ts")
		c.Reply.Int(int64(h.At))
		c.Reply.BulkString("ttl")
		c.Reply.Int(int64(h.Until.Sub(now).Round(time.Second) / time.Second))
	}
	return nil
}
