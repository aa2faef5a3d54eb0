package command

import (
	"slices"
	"strings"
	"sync"
)

// What COMMAND INFO tells about commands beside what follows from their
// entries: facts of Redis 7.0 that mean little to Firn, but that clients and
// proxies ask for. Each list has the commands of one fact. "acl|*" stands for
// all subcommands but HELP.

// factList is commands that share a fact.
type factList struct{ fact, commands string }

// moreFlags are the flags that do not follow from Flags. In addition every
// HELP has loading and stale.
var moreFlags = []factList{
	{"denyoom", "append bitfield bitop blmove brpoplpush copy decr decrby geoadd georadius georadiusbymember geosearchstore getset " +
		"hincrby hincrbyfloat hmset hset hsetnx incr incrby incrbyfloat linsert lmove lpush lpushx lset mset msetnx pfadd pfdebug " +
		"pfmerge psetex restore rpoplpush rpush rpushx sadd sdiffstore set setbit setex setnx setrange sinterstore sort sunionstore " +
		"xadd xgroup|create xgroup|createconsumer xsetid zadd zdiffstore zincrby zinterstore zrangestore zunionstore " +
		"hexpire hexpireat hpexpire hpexpireat"},
	{"noscript", "acl|* auth bgrewriteaof bgsave blmove blpop brpop brpoplpush bzpopmax bzpopmin client|* config|* debug discard exec hello " +
		"latency|* monitor multi psubscribe punsubscribe quit replicaof reset role save shutdown slaveof ssubscribe subscribe sunsubscribe " +
		"unsubscribe unwatch wait watch"},
	{"loading", loadingCommands},
	{"stale", loadingCommands + " replicaof slaveof"},
	{"skip_monitor", ""},
	{"skip_slowlog", "exec"},
	{"no_async_loading", "bgrewriteaof bgsave replicaof save slaveof"},
	{"allow_busy", "auth discard hello multi quit reset shutdown unwatch watch"},
}

const loadingCommands = "acl|* auth client|* command command|* config|* debug discard echo exec hello info lastsave latency|* monitor multi " +
	"psubscribe publish pubsub|* punsubscribe quit reset role select shutdown slowlog|* spublish ssubscribe subscribe sunsubscribe " +
	"time unsubscribe unwatch watch"

// tipLists are hints to clients and proxies.
var tipLists = []factList{
	{"nondeterministic_output", "client|info client|list dump hrandfield hscan info lastsave latency|doctor latency|graph latency|histogram " +
		"latency|history latency|latest memory|doctor memory|malloc-stats memory|stats object|encoding object|freq object|idletime " +
		"object|refcount pttl randomkey scan slowlog|get slowlog|len spop srandmember sscan time ttl xadd xautoclaim xclaim " +
		"xinfo|consumers xpending xtrim zrandmember zscan"},
	{"nondeterministic_output_order", "command command|docs command|info command|list hgetall hkeys hvals keys sdiff sinter smembers sunion"},
	{"request_policy:all_nodes", "config|set latency|* slowlog|get slowlog|len slowlog|reset"},
	{"request_policy:all_shards", "dbsize flushall flushdb info keys memory|doctor memory|malloc-stats memory|purge memory|stats ping randomkey wait"},
	{"request_policy:multi_shard", "del exists mget mset msetnx touch unlink"},
	{"request_policy:special", "scan"},
	{"response_policy:agg_min", "msetnx wait"},
	{"response_policy:agg_sum", "dbsize del exists slowlog|len touch unlink"},
	{"response_policy:all_succeeded", "config|set flushall flushdb latency|reset memory|purge mset ping slowlog|reset"},
	{"response_policy:special", "info latency|doctor latency|graph latency|histogram latency|history latency|latest memory|doctor " +
		"memory|malloc-stats memory|stats"},
}

// Deprecated is since when another command is to be preferred, and which.
var Deprecated = map[string][2]string{
	"brpoplpush":           {"6.2.0", "`BLMOVE` with the `RIGHT` and `LEFT` arguments"},
	"georadius":            {"6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument"},
	"georadius_ro":         {"6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument"},
	"georadiusbymember":    {"6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments"},
	"georadiusbymember_ro": {"6.2.0", "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments"},
	"getset":               {"6.2.0", "`SET` with the `!GET` argument"},
	"hmset":                {"4.0.0", "`HSET` with multiple field-value pairs"},
	"rpoplpush":            {"6.2.0", "`LMOVE` with the `RIGHT` and `LEFT` arguments"},
	"substr":               {"2.0.0", "`GETRANGE`"},
	"zrangebylex":          {"6.2.0", "`ZRANGE` with the `BYLEX` argument"},
	"zrangebyscore":        {"6.2.0", "`ZRANGE` with the `BYSCORE` argument"},
	"zrevrange":            {"6.2.0", "`ZRANGE` with the `REV` argument"},
	"zrevrangebylex":       {"6.2.0", "`ZRANGE` with the `REV` and `BYLEX` arguments"},
	"zrevrangebyscore":     {"6.2.0", "`ZRANGE` with the `REV` and `BYSCORE` arguments"},
}

// facts maps a command to the facts whose list it is in.
type facts map[string][]string

func newFacts(lists []factList) facts {
	f := facts{}
	for _, l := range lists {
		for name := range strings.FieldsSeq(l.commands) {
			f[name] = append(f[name], l.fact)
		}
	}
	return f
}

// Of is the facts of a command, those of all its siblings included.
func (f facts) Of(e *Entry) []string {
	container, name, isSub := strings.Cut(e.Full, "|")
	if !isSub || name == "help" {
		return f[e.Full]
	}
	return append(slices.Clone(f[e.Full]), f[container+"|*"]...)
}

// The lists by command, made when they are first asked for.
var (
	flagFacts     = sync.OnceValue(func() facts { return newFacts(moreFlags) })
	TipFacts      = sync.OnceValue(func() facts { return newFacts(tipLists) })
	categoryFacts = sync.OnceValue(func() facts { return newFacts(moreCategories) })
)

// FlagNames are a command's flags as COMMAND INFO shows them. A container that
// cannot be run itself has none.
func (e *Entry) FlagNames() []string {
	if e.Run == nil {
		return nil
	}
	f := e.Flags
	var names []string
	for _, flag := range []struct {
		on   bool
		name string
	}{
		{f&Writes != 0, "write"},
		{e.reads(), "readonly"},
		{f&Admin != 0, "admin"},
		{e.publishes(), "pubsub"},
		{f&Blocks != 0, "blocking"},
		{f&Fast != 0, "fast"},
		{f&NoAuth != 0, "no_auth"},
		{f&NoMulti != 0, "no_multi"},
		{e.movableKeys(), "movablekeys"},
		{e.Name == "HELP", "loading"},
		{e.Name == "HELP", "stale"},
	} {
		if flag.on {
			names = append(names, flag.name)
		}
	}
	for _, name := range flagFacts().Of(e) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// reads says whether the command is one that only reads data. INFO reads some,
// but tells nothing of what is in it.
func (e *Entry) reads() bool {
	return e.Flags&(Writes|Local|NoQueue) == 0 && e.Full != "info"
}

// publishes says whether the command is about channels. The flag PubSub is
// another thing: PING has it.
func (e *Entry) publishes() bool { return e.Group == "pubsub" && e.Name != "HELP" }
