package redis

// sortGrammar sorts texts and stores them, which is all that is the same on
// every run of Redis: it may refuse to sort numbers after another command has
// met one out of range, because errno is still set; it takes texts as equal
// that are so up to a NUL, and puts equal ones in any order. It sorts keys of
// its own, because Redis changes the encoding of a sorted set that it sorts.
// What it does otherwise is in sort.txt.
var sortGrammar = grammar{
	templates: `
RPUSH tosortlist $value
LPOP tosortlist
SADD tosortset $value
SREM tosortset $value
SORT $tosort ALPHA STORE $key
SORT $tosort ALPHA $sortopt STORE $key
SORT $tosort ALPHA $sortopt $sortopt STORE $key
SORT $tosort STORE $key ALPHA BY nosort
SORT tosortlist BY nosort $sortopt
SORT_RO tosortlist BY nosort $sortopt $sortopt
SORT_RO nosuch $sortopt
`,
	choices: map[string][]string{
		"$tosort":  {"tosortlist", "tosortset"},
		"$sortopt": {"ASC", "DESC", "LIMIT 0 2", "LIMIT 1 -1", "LIMIT -1 3", "LIMIT x 1", "GET #", "GET *", "GET *->f", "GET", "FOO"},
	},
	ownReads: `
SORT_RO $key
SORT_RO $key ALPHA
SORT_RO $key ALPHA DESC LIMIT 1 2 GET # GET *
SORT_RO $key BY *->f ALPHA
SORT_RO tosortset ALPHA
`,
}
