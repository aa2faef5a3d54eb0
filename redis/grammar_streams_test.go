package redis

// Idle times differ from server to server, so XPENDING with a range finds
// something only after XCLAIM with a TIME that is long ago, and what tells of
// times is left to TestStreamsAgreeWithRealRedis.
var streamGrammar = grammar{
	templates: `
XADD $key $sid f v
XADD $key $sid $field $value $field $value
XADD $key $nextid $field $value
XADD $key $nextid f v
XADD $key $nextid f v g w
XADD $key NOMKSTREAM $nextid f v
XADD $key $trimopt $nextid f v
XLEN $key
XRANGE $key $from $until
XRANGE $key $from $until COUNT $small
XREVRANGE $key $until $from
XREVRANGE $key $until $from COUNT $small
XREAD COUNT $small STREAMS $key $sid
XREAD STREAMS $key $key $sid $
XREAD BLOCK x STREAMS $key $sid
XTRIM $key $trimopt
XDEL $key $sid
XDEL $key $sid $sid
XSETID $key $sid
XSETID $key $sid $setidopt
XINFO GROUPS $key
XINFO CONSUMERS $key nosuch
XGROUP CREATE $key $group $sid
XGROUP CREATE $key $group $ $groupopt
XGROUP CREATE $key $group $sid MKSTREAM
XGROUP CREATE $key $group 0 MKSTREAM
XGROUP SETID $key $group $from
XGROUP SETID $key $group $from $groupopt
XGROUP DESTROY $key $group
XGROUP CREATECONSUMER $key $group $member
XGROUP DELCONSUMER $key $group $member
XREADGROUP GROUP $group $member STREAMS $key >
XREADGROUP GROUP $group $member COUNT $small STREAMS $key >
XREADGROUP GROUP $group $member NOACK COUNT 1 STREAMS $key >
XREADGROUP GROUP $group $member COUNT $small STREAMS $key $sid
XREADGROUP GROUP $group $member STREAMS $key $key > $sid
XACK $key $group $sid
XACK $key $group $sid $sid $sid
XPENDING $key $group
XPENDING $key $group IDLE 1000000000000000 $from $until $small
XPENDING $key $group $from $until $small nosuch
XCLAIM $key $group $member 0 $sid $sid $claimopt
XCLAIM $key $group $member 0 $sid $sid $claimopt $claimopt
XCLAIM $key $group $member 1000000000000 $sid FORCE
XAUTOCLAIM $key $group $member 0 $from COUNT $small
XAUTOCLAIM $key $group $member 0 $from JUSTID
XAUTOCLAIM $key $group $member 1000000000000 $from
`,
	choices: map[string][]string{
		"$sid":       {"1-1", "1-2", "2-1", "2-2", "3-0", "3-7", "4-1", "5-1", "5-2", "6", "7-1", "8-3", "9-1", "0", "0-0", "3", "x", "18446744073709551615-3"},
		"$nextid":    {"1-*", "2-*", "3-*", "4-*", "5-*", "6-*", "7-*", "9-*", "5-*", "6-*"},
		"$from":      {"-", "-", "0", "1-2", "2", "(3-7", "5-1", "(1", "8", "+"},
		"$until":     {"+", "+", "9", "(9", "5-1", "3", "(6", "-", "x"},
		"$group":     {"g", "g", "h", "", "g\x00h"},
		"$member":    {"c", "d", "e", "", "c\xff"},
		"$trimopt":   {"MAXLEN 0", "MAXLEN 2", "MAXLEN = 4", "MAXLEN ~ 3", "MAXLEN ~ 0", "MAXLEN ~ 0 LIMIT 3", "MINID 3", "MINID = 5-2", "MINID ~ 6", "MINID 9", "MAXLEN 1 LIMIT 1", "MAXLEN -1", "MAXLEN x", "LIMIT 0", "MINID 1 MAXLEN 1"},
		"$setidopt":  {"ENTRIESADDED 3", "ENTRIESADDED 10", "MAXDELETEDID 2-1", "ENTRIESADDED 7 MAXDELETEDID 1-1", "ENTRIESADDED x", "FOO"},
		"$groupopt":  {"MKSTREAM", "ENTRIESREAD 2", "ENTRIESREAD -1", "ENTRIESREAD 2 MKSTREAM", "ENTRIESREAD x", "FOO"},
		"$claimopt":  {"FORCE", "JUSTID", "TIME 1000", "RETRYCOUNT 3", "LASTID 4-1", "IDLE 5", "FORCE JUSTID", "TIME x", "FOO"},
		"$streamkey": {"a", "b", "c"},
	},
	unwatched: map[string]bool{
		"XGROUP": true, "XREADGROUP": true, "XACK": true, "XCLAIM": true, "XAUTOCLAIM": true, "XSETID": true,
	},
	reads: `
XRANGE $key - +
XRANGE $key $from $until
XREVRANGE $key + - COUNT 2
XLEN $key
XREAD COUNT 2 STREAMS $key $sid
XINFO GROUPS $key
XPENDING $key $group
`,
	ownReads: `
XINFO STREAM $key
XINFO STREAM $key FULL
XINFO CONSUMERS $key $group
XPENDING $key $group $from $until 10
XPENDING $key $group $from $until 10 $member
`,
}
