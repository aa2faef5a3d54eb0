package redis

import "strings"

var setGrammar = grammar{
	templates: `
SADD $key $member
SADD $key $member $member
SADD $key $intmember $intmember $intmember
SADD $set $intmember $intmember $intmember
SADD $set $intmember $intmember $intmember
SADD $set $member $member $intmember
SREM $key $member
SREM $set $member $intmember $member
SREM $set $intmember $intmember $intmember
SMEMBERS $set
SISMEMBER $set $member
SMISMEMBER $set $member $intmember
SCARD $set
SMOVE $set $set $member
SMOVE $set $set $intmember
SMOVE $set $key $intmember
SPOP $set $all
SRANDMEMBER $set $allrandom
SINTER $set $set
SINTER $set
SINTER $set $set $set
SINTER $set $key
SINTERCARD $numkeys $set $set
SINTERCARD $numkeys $set $set LIMIT $small
SINTERCARD $numkeys $set $set $cardopt
SINTERSTORE $set $set $set
SINTERSTORE $key $set
SUNION $set $set
SUNION $set $key $set
SUNIONSTORE $set $set $set
SUNIONSTORE $key $set $set
SDIFF $set $set
SDIFF $set $set $set
SDIFF $set $key
SDIFFSTORE $set $set $set $set $set
SDIFFSTORE $key $set $set
SSCAN $set 0 COUNT 1000
SSCAN $set 0 COUNT 1000 MATCH $pattern
TYPE $set
OBJECT ENCODING $set
OBJECT ENCODING $set
DEL $set
EXPIREAT $set $moment
RENAME $set $set
COPY $set $set
COPY $set $set REPLACE
`,
	choices: map[string][]string{
		"$set":       {"s", "t", "u", "v", "s", "t", "u", "v", "s", "t", "a"},
		"$member":    {"m", "n", "o", "", "1", "01", "-0", "m\x00", "\xff", "9223372036854775808", strings.Repeat("x", 65)},
		"$intmember": {"1", "2", "3", "10", "-1", "-20", "0", "300", "70000", "-70000", "9223372036854775807", "-9223372036854775808"},
		"$all":       {"0", "100000", "0", "100000", "9223372036854775807", "-1", "x", ""},
		"$allrandom": {"0", "100000", "0", "100000", "9223372036854775807", "-9223372036854775808", "x", ""},
		"$numkeys":   {"1", "2", "2", "2", "3", "0", "-1", "x"},
		"$cardopt":   {"LIMIT 1", "limit 2", "LIMIT 0", "LIMIT", "LIMIT x", "LIMIT -1", "FOO", "LIMIT 1 LIMIT 2"},
	},
	unordered: map[string]int{
		"SMEMBERS": 1, "SINTER": 1, "SUNION": 1, "SDIFF": 1, "SSCAN": 1, "SPOP": 1, "SRANDMEMBER": 1,
	},
	exact: map[string]bool{"SPOP": true, "SRANDMEMBER": true},
	reads: `
SMEMBERS $set
SCARD $set
SMISMEMBER $set m 1 -20
SINTER $set $set
SUNION $set $set
SDIFF $set $set
SINTERCARD 2 $set $set
SSCAN $set 0 COUNT 1000
OBJECT ENCODING $set
`,
}
