package zsets

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

const rangeComplexity = "O(log n + m), n the members of the set, m those replied; by rank O(n) if the set is large and not in memory"

// Sorted sets.
var ZSetCommands = []command.Command{
	{
		Name: "ZADD", Args: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]", Min: 3, Max: -1, Flags: command.Writes | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(m · log n), m the members given, n those of the set",
		Summary: "Gives members of the sorted set at key their scores and returns how many are new.",
		Run:     zAdd,
	},
	{
		Name: "ZINCRBY", Args: "key increment member", Min: 3, Flags: command.Writes | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(log n), n the members of the set",
		Summary: "Adds a number to a member's score and returns the sum.",
		Run:     zIncrBy,
	},
	{
		Name: "ZREM", Args: "key member [member ...]", Min: 2, Max: -1, Flags: command.Writes | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(m · log n), m the members given, n those of the set",
		Summary: "Removes members of the sorted set at key and returns how many there were. A set without members is gone.",
		Run:     zRem,
	},
	{
		Name: "ZREMRANGEBYRANK", Args: "key start stop", Min: 3, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(m · log n), m the members removed, n those of the set",
		Summary: "Removes the members from one rank to another and returns how many there were.",
		Run:     zRemRange(keyspace.ByRank),
	},
	{
		Name: "ZREMRANGEBYSCORE", Args: "key min max", Min: 3, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(m · log n), m the members removed, n those of the set",
		Summary: "Removes the members with scores from min to max and returns how many there were.",
		Run:     zRemRange(keyspace.ByScore),
	},
	{
		Name: "ZREMRANGEBYLEX", Args: "key min max", Min: 3, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.8.9", Complexity: "O(m · log n), m the members removed, n those of the set",
		Summary: "Removes the members from min to max, of a set with one score, and returns how many there were.",
		Run:     zRemRange(keyspace.ByLex),
	},
	{
		Name: "ZPOPMIN", Args: "key [count]", Min: 1, Max: -1, Flags: command.Writes | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "5.0.0", Complexity: "O(m · log n), m the members removed, n those of the set",
		Summary: "Removes the members with the lowest scores and returns them.",
		Run:     zPop(false),
	},
	{
		Name: "ZPOPMAX", Args: "key [count]", Min: 1, Max: -1, Flags: command.Writes | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "5.0.0", Complexity: "O(m · log n), m the members removed, n those of the set",
		Summary: "Removes the members with the highest scores and returns them.",
		Run:     zPop(true),
	},
	{
		Name: "ZMPOP", Args: "numkeys key [key ...] <MIN | MAX> [COUNT count]", Min: 3, Max: -1, Flags: command.Writes, KeyCount: 1,
		Group: "sorted-set", Since: "7.0.0", Complexity: "O(k + m · log n), k the keys, m the members removed, n those of the set",
		Summary: "Removes members from an end of the first of several sorted sets that has any.",
		Run:     zsetPopper.Run,
	},
	{
		Name: "BZPOPMIN", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.Blocks, Keys: command.Keys{First: 1, Last: -2, Step: 1},
		Group: "sorted-set", Since: "5.0.0", Complexity: "O(k + log n), k the keys, n the members of the set",
		Summary: "ZPOPMIN on the first of several keys that has members, waiting for one if none has.",
		Run:     zsetPopper.OneOrWait(false),
	},
	{
		Name: "BZPOPMAX", Args: "key [key ...] timeout", Min: 2, Max: -1, Flags: command.Writes | command.Fast | command.Blocks, Keys: command.Keys{First: 1, Last: -2, Step: 1},
		Group: "sorted-set", Since: "5.0.0", Complexity: "O(k + log n), k the keys, n the members of the set",
		Summary: "ZPOPMAX on the first of several keys that has members, waiting for one if none has.",
		Run:     zsetPopper.OneOrWait(true),
	},
	{
		Name: "BZMPOP", Args: "timeout numkeys key [key ...] <MIN | MAX> [COUNT count]", Min: 4, Max: -1, Flags: command.Writes | command.Blocks, KeyCount: 2,
		Group: "sorted-set", Since: "7.0.0", Complexity: "O(k + m · log n), k the keys, m the members removed, n those of the set",
		Summary: "ZMPOP that waits if none of the sorted sets has members.",
		Run:     zsetPopper.RunOrWait,
	},
	{
		Name: "ZCARD", Args: "key", Min: 1, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Returns how many members the sorted set at key has.",
		Run:     zCard,
	},
	{
		Name: "ZSCORE", Args: "key member", Min: 2, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: "O(1)",
		Summary: "Returns a member's score, or nil.",
		Run:     zScore,
	},
	{
		Name: "ZMSCORE", Args: "key member [member ...]", Min: 2, Max: -1, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(m), m the members",
		Summary: "Returns the scores of several members, nil where there is none.",
		Run:     zMScore,
	},
	{
		Name: "ZCOUNT", Args: "key min max", Min: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(log n) if the set of n members is in memory, else O(m), m the members counted",
		Summary: "Returns how many members have scores from min to max.",
		Run:     zCount,
	},
	{
		Name: "ZLEXCOUNT", Args: "key min max", Min: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.8.9", Complexity: "O(log n) if the set of n members is in memory, else O(m), m the members counted",
		Summary: "Returns how many members lie from min to max, in a set with one score.",
		Run:     zLexCount,
	},
	{
		Name: "ZRANK", Args: "key member [WITHSCORE]", Min: 2, Max: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(log n) if the set of n members is in memory, else O(n)",
		Summary: "Returns how many members come before one, or nil if it is not there.",
		Run:     zRank(false),
	},
	{
		Name: "ZREVRANK", Args: "key member [WITHSCORE]", Min: 2, Max: 3, Flags: command.ReadOnly | command.Fast, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(log n) if the set of n members is in memory, else O(n)",
		Summary: "Returns how many members come after one, or nil if it is not there.",
		Run:     zRank(true),
	},
	{
		Name: "ZRANGE", Args: "key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: rangeComplexity,
		Summary: "Returns the members of a range by rank, score or name.",
		Run:     zRange(rangeForm{free: true}),
	},
	{
		Name: "ZREVRANGE", Args: "key start stop [WITHSCORES]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.2.0", Complexity: rangeComplexity,
		Summary: "Returns the members of a range by rank, counted from the highest score.",
		Run:     zRange(rangeForm{reverse: true}),
	},
	{
		Name: "ZRANGEBYSCORE", Args: "key min max [WITHSCORES] [LIMIT offset count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "1.0.5", Complexity: rangeComplexity,
		Summary: "Returns the members with scores from min to max.",
		Run:     zRange(rangeForm{by: keyspace.ByScore}),
	},
	{
		Name: "ZREVRANGEBYSCORE", Args: "key max min [WITHSCORES] [LIMIT offset count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.2.0", Complexity: rangeComplexity,
		Summary: "Returns the members with scores from max down to min.",
		Run:     zRange(rangeForm{by: keyspace.ByScore, reverse: true}),
	},
	{
		Name: "ZRANGEBYLEX", Args: "key min max [LIMIT offset count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.8.9", Complexity: rangeComplexity,
		Summary: "Returns the members from min to max, of a set with one score.",
		Run:     zRange(rangeForm{by: keyspace.ByLex}),
	},
	{
		Name: "ZREVRANGEBYLEX", Args: "key max min [LIMIT offset count]", Min: 3, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.8.9", Complexity: rangeComplexity,
		Summary: "Returns the members from max down to min, of a set with one score.",
		Run:     zRange(rangeForm{by: keyspace.ByLex, reverse: true}),
	},
	{
		Name: "ZRANGESTORE", Args: "dst src min max [BYSCORE | BYLEX] [REV] [LIMIT offset count]", Min: 4, Max: -1, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 2, Step: 1},
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(log n + m · log m), n the members of the set, m those stored",
		Summary: "Stores the members of a range as a sorted set and returns how many they are.",
		Run:     zRangeStore,
	},
	{
		Name: "ZUNION", Args: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]", Min: 2, Max: -1, Flags: command.ReadOnly, KeyCount: 1,
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(n + m · log m), n the members of all sets, m those of the result",
		Summary: "Returns the members that any of several sorted sets has, with their scores added up.",
		Run:     zAlgebra(algebraForm{op: union}),
	},
	{
		Name: "ZUNIONSTORE", Args: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]", Min: 3, Max: -1, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1}, KeyCount: 2,
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(n + m · log m), n the members of all sets, m those of the result",
		Summary: "Stores the union of several sorted sets and returns how many members it has.",
		Run:     zAlgebra(algebraForm{op: union, store: true}),
	},
	{
		Name: "ZINTER", Args: "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]", Min: 2, Max: -1, Flags: command.ReadOnly, KeyCount: 1,
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(n · k + m · log m), n the members of the smallest of k sets, m those of the result",
		Summary: "Returns the members that all of several sorted sets have, with their scores added up.",
		Run:     zAlgebra(algebraForm{op: intersection}),
	},
	{
		Name: "ZINTERSTORE", Args: "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]", Min: 3, Max: -1, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1}, KeyCount: 2,
		Group: "sorted-set", Since: "2.0.0", Complexity: "O(n · k + m · log m), n the members of the smallest of k sets, m those of the result",
		Summary: "Stores the intersection of several sorted sets and returns how many members it has.",
		Run:     zAlgebra(algebraForm{op: intersection, store: true}),
	},
	{
		Name: "ZINTERCARD", Args: "numkeys key [key ...] [LIMIT limit]", Min: 2, Max: -1, Flags: command.ReadOnly, KeyCount: 1,
		Group: "sorted-set", Since: "7.0.0", Complexity: "O(n · k), n the members of the smallest of k sets",
		Summary: "Returns how many members all of several sorted sets have, or limit if that is less.",
		Run:     zInterCard,
	},
	{
		Name: "ZDIFF", Args: "numkeys key [key ...] [WITHSCORES]", Min: 2, Max: -1, Flags: command.ReadOnly, KeyCount: 1,
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(n · k + m · log m), n the members of the first of k sets, m those of the result",
		Summary: "Returns the members that the first of several sorted sets has and no other.",
		Run:     zAlgebra(algebraForm{op: difference}),
	},
	{
		Name: "ZDIFFSTORE", Args: "destination numkeys key [key ...]", Min: 3, Max: -1, Flags: command.Writes, Keys: command.Keys{First: 1, Last: 1, Step: 1}, KeyCount: 2,
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(n · k + m · log m), n the members of the first of k sets, m those of the result",
		Summary: "Stores the difference of several sorted sets and returns how many members it has.",
		Run:     zAlgebra(algebraForm{op: difference, store: true}),
	},
	{
		Name: "ZRANDMEMBER", Args: "key [count [WITHSCORES]]", Min: 1, Max: -1, Flags: command.ReadOnly | command.Random, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "6.2.0", Complexity: "O(count · log n), n the members of the set",
		Summary: "Returns members chosen at random, different ones if count is positive.",
		Differs: "At most 10,000,000 with a negative count. Of a large set that is not in memory every member can come, but not all equally often.",
		Run:     zRandMember,
	},
	{
		Name: "ZSCAN", Args: "key cursor [MATCH pattern] [COUNT count]", Min: 2, Max: -1, Flags: command.ReadOnly, Keys: command.Keys{First: 1, Last: 1, Step: 1},
		Group: "sorted-set", Since: "2.8.0", Complexity: "O(count) per call",
		Summary: "Walks over the members of the sorted set at key in steps; 0 begins, and is the cursor at the end.",
		Differs: "Goes in the order of the members' bytes.",
		Run:     zScan,
	},
}
