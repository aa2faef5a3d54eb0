package redis

import "strings"

// Where the scores of a large set differ, Redis leaves open what a range by
// member is. So such ranges are asked of keys of their own: $onekey has one
// score only, and $smallkey only short members.
var zsetGrammar = grammar{
	templates: `
ZADD $key $score $member
ZADD $key $score $member $score $member
ZADD $key $score $member $score $member $score $member
ZADD $key $addopt $score $member
ZADD $key $addopt $addopt $score $member $score $member
ZADD $key $addopt $addopt $addopt $score $member
ZADD $key INCR $score $member
ZADD $key INCR $addopt $score $member
ZINCRBY $key $score $member
ZREM $key $member
ZREM $key $member $member $member
ZSCORE $key $member
ZMSCORE $key $member $member
ZCARD $key
ZCOUNT $key $bound $bound
ZRANK $key $member
ZREVRANK $key $member
ZRANGE $key $small $small
ZRANGE $key 0 -1 WITHSCORES
ZRANGE $key $small $small $rangeopt
ZRANGE $key $bound $bound BYSCORE $rangeopt
ZRANGE $key $bound $bound BYSCORE REV $rangeopt $rangeopt
ZREVRANGE $key $small $small $rangeopt
ZRANGEBYSCORE $key $bound $bound
ZRANGEBYSCORE $key $bound $bound $rangeopt $rangeopt
ZREVRANGEBYSCORE $key $bound $bound $rangeopt
ZRANGESTORE $key $key $small $small
ZRANGESTORE $key $key $small $small $rangeopt
ZRANGESTORE $key $key $bound $bound BYSCORE $rangeopt
ZREMRANGEBYRANK $key $small $small
ZREMRANGEBYSCORE $key $bound $bound
ZPOPMIN $key
ZPOPMAX $key
ZPOPMIN $key $count
ZPOPMAX $key $count
ZMPOP $numkeys $key $key $end
ZMPOP 2 $key $key $end COUNT $count
BZPOPMIN $key $key $timeout
BZPOPMAX $key $timeout
BZMPOP $timeout 2 $key $key $end COUNT $count
ZUNION $numkeys $key $key
ZUNION 2 $key $key $algebraopt $algebraopt
ZUNION 3 $key $key $key WITHSCORES
ZINTER $numkeys $key $key
ZINTER 2 $key $key $algebraopt $algebraopt
ZDIFF $numkeys $key $key
ZDIFF 3 $key $key $key WITHSCORES
ZINTERCARD 2 $key $key
ZINTERCARD $numkeys $key $key LIMIT $count
ZUNIONSTORE $key 2 $key $key $algebraopt
ZUNIONSTORE $key $numkeys $key $key
ZINTERSTORE $key 2 $key $key $algebraopt
ZDIFFSTORE $key 2 $key $key
ZRANDMEMBER $key 0
ZSCAN $key 0 COUNT 1000
ZSCAN $key 0 MATCH $pattern COUNT 1000
ZADD $onekey 0 $member 0 $member
ZADD $onekey 0 $member 0 $member 0 $member
ZREM $onekey $member
ZADD $smallkey $score $short
ZREM $smallkey $short
ZRANGEBYLEX $lexkey $lex $lex
ZRANGEBYLEX $lexkey $lex $lex $rangeopt
ZREVRANGEBYLEX $lexkey $lex $lex $rangeopt
ZRANGE $lexkey $lex $lex BYLEX $rangeopt
ZRANGE $lexkey $lex $lex BYLEX REV $rangeopt
ZLEXCOUNT $lexkey $lex $lex
ZREMRANGEBYLEX $lexkey $lex $lex
ZRANGESTORE $key $lexkey $lex $lex BYLEX $rangeopt
`,
	choices: map[string][]string{
		"$member":     {"a", "b", "c", "ab", "", "a\x00", "a\x00b", "\xff\xfe", "10", strings.Repeat("m", 65)},
		"$short":      {"a", "b", "c", "ab", "", "a\x00", "\xff"},
		"$score":      {"0", "-0", "1", "1", "2", "3", "2.5", "-1.5", "0.1", "1e20", "4e18", "-4e18", "inf", "-inf", "+3", "0x10", "x", "nan", "", " 1", "1e400", "1e-400"},
		"$bound":      {"-inf", "+inf", "0", "1", "(1", "2", "(2", "(0", "-0", "3", "(3.5", "-2", "1e400", "(-1e400", "", "(", " 1", "x", "nan", "1\x00x", "4e18"},
		"$lex":        {"-", "+", "[a", "(a", "[b", "(b", "[", "(", "[c", "[\xff", "(a\x00", "[a\x00", "[mm", "a", "", "+x", "-\x00x"},
		"$addopt":     {"NX", "XX", "GT", "LT", "CH", "CH", "incr", "xx", "FOO"},
		"$rangeopt":   {"WITHSCORES", "withscores", "LIMIT 0 2", "LIMIT 1 -1", "LIMIT 1 1", "LIMIT -1 2", "LIMIT 0 0", "LIMIT 0 -1", "LIMIT x 1", "LIMIT 1", "LIMIT 9223372036854775807 1", "REV", "BYSCORE", "BYLEX", "FOO"},
		"$algebraopt": {"WITHSCORES", "WEIGHTS 2 3", "WEIGHTS 1.5 -1", "WEIGHTS inf -inf", "WEIGHTS 0 inf", "WEIGHTS 1", "WEIGHTS x 1", "AGGREGATE SUM", "AGGREGATE MIN", "AGGREGATE max", "AGGREGATE x", "AGGREGATE", "LIMIT 1"},
		"$numkeys":    {"1", "2", "2", "3", "0", "-1", "x"},
		"$count":      {"0", "1", "2", "3", "100", "-1", "x", "9223372036854775807"},
		"$end":        {"MIN", "MAX", "min", "FOO"},
		"$timeout":    {"-1", "x", "nan"},
		"$onekey":     {"one", "eno"},
		"$smallkey":   {"small"},
		"$lexkey":     {"one", "eno", "small", "nosuch"},
	},
	unordered: map[string]int{"ZSCAN": 2},
	exact:     map[string]bool{"ZRANDMEMBER": true, "BZPOPMIN": true, "BZPOPMAX": true, "BZMPOP": true, "ZRANK": true, "ZREVRANK": true},
	reads: `
ZRANGE $key 0 -1 WITHSCORES
ZRANGE $key $small $small
ZREVRANGE $key $small $small WITHSCORES
ZRANGEBYSCORE $key $bound $bound WITHSCORES
ZRANGEBYLEX $lexkey $lex $lex
ZLEXCOUNT $lexkey $lex $lex
ZCOUNT $key $bound $bound
ZRANK $key $member
ZREVRANK $key $member
ZMSCORE $key a b c ab
ZCARD $key
ZSCAN $key 0 COUNT 1000
ZUNION 2 $key $key WITHSCORES
ZINTER 2 $key $key AGGREGATE MAX
`,
	ownReads: "ZREVRANK $key $member WITHSCORE\n",
}
