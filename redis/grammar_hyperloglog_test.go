package redis

// PFCOUNT of one key is asked for in testdata/hyperloglog.txt alone: in Redis
// it is a write, and GET would tell.
var hyperLogLogGrammar = grammar{
	templates: `
PFADD $hll $value $value $value
PFADD $hll $value $number $float
PFADD $hll $field $pattern
PFADD $hll
PFADD $key $value
PFCOUNT $hll $hll
PFCOUNT $hll $key
PFMERGE $hll $hll
PFMERGE $hll $hll $hll
PFMERGE $hll
PFMERGE $hll $key
PFDEBUG ENCODING $hll
PFDEBUG DECODE $hll
PFDEBUG DECODE $key
PFDEBUG TODENSE $rarehll
GET $hll
STRLEN $hll
OBJECT ENCODING $hll
DEL $hll
`,
	choices: map[string][]string{
		"$hll":     {"hll1", "hll2", "hll3", "hll4", "hll5"},
		"$rarehll": {"hll1", "nosuch", "nosuch", "nosuch", "nosuch", "nosuch"},
	},
	exact: map[string]bool{"PFCOUNT": true},
	reads: `
PFCOUNT hll1 hll2 hll3
GET $hll
`,
	ownReads: "PFCOUNT $hll\n",
}
