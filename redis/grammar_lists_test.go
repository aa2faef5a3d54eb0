package redis

// No RANK is the least number there is: in Redis it is its own opposite, and
// LPOS then finds more than COUNT.
var listGrammar = grammar{
	templates: `
LPUSH $key $item
LPUSH $key $item $item $item
RPUSH $key $item
RPUSH $key $item $item $item $item $item
LPUSHX $key $item
RPUSHX $key $item $item
LPOP $key
LPOP $key $count
RPOP $key
RPOP $key $count
LLEN $key
LRANGE $key $small $small
LRANGE $key 0 -1
LRANGE $key 0 -1
LINDEX $key $small
LSET $key $small $item
LINSERT $key $where $item $item
LINSERT $key $where $item $item
LINSERT $key $where $item $item
LINSERT $key $where $item $item
LREM $key $small $item
LREM $key $small $item
LTRIM $key $small $small
LPOS $key $item
LPOS $key $item $posopt
LPOS $key $item $posopt $posopt
LPOS $key $item $posopt $posopt $posopt
LMOVE $key $key $side $side
LMOVE $key $key $side $side
RPOPLPUSH $key $key
LMPOP 1 $key $side
LMPOP 2 $key $key $side $popopt
LMPOP $count $key $side
BLPOP $key $key 0.001
BRPOP $key 0.001
BLMOVE $key $key $side $side 0.001
BRPOPLPUSH $key $key 0.001
BLMPOP 0.001 1 $key $side
BLMPOP 0.001 2 $key $key $side $popopt
`,
	choices: map[string][]string{
		"$item":   {"a", "b", "c", "a", "b", "c", "", "10", "x\x00\xff"},
		"$count":  {"0", "1", "2", "3", "100", "-1", "x", "9223372036854775807"},
		"$where":  {"BEFORE", "AFTER", "before", "after", "BEFORE", "AFTER", "AMID"},
		"$side":   {"LEFT", "RIGHT", "left", "right", "LEFT", "RIGHT", "UP"},
		"$posopt": {"RANK 1", "RANK -1", "RANK 2", "RANK -2", "RANK 0", "COUNT 0", "COUNT 1", "COUNT 2", "COUNT -1", "MAXLEN 2", "MAXLEN 0", "MAXLEN -1", "RANK", "COUNT x", "RANK -9223372036854775807"},
		"$popopt": {"COUNT 1", "COUNT 3", "COUNT 0", "COUNT x", "COUNT", "count 2", "FOO 1"},
	},
	reads: `
LRANGE $key 0 -1
LRANGE $key $small $small
LLEN $key
LINDEX $key $small
LPOS $key $item
`,
}
