package redis

// lifetimeGrammar has no template that the real Redis understands.
var lifetimeGrammar = grammar{
	newer: `
HPEXPIRE $key $ttl FIELDS 1 $field
HPEXPIRE $key $ttl $expireopt FIELDS 2 $field $field
HPEXPIREAT $key $momentms FIELDS 1 $field
HPERSIST $key FIELDS 2 $field $field
`,
	choices: map[string][]string{
		"$key":   {"a", "b", "c", "d", "own1", "own1", "two1", "two1"},
		"$ttl":   {"1", "500", "1000", "2000", "5000", "20000"},
		"$field": {"f", "g", "h", ""},
	},
	ownReads: `
HPTTL $key FIELDS 3 f g h
HPEXPIRETIME $key FIELDS 2 f g
HGETALL $key
HLEN $key
EXISTS $key $key $key
`,
}
