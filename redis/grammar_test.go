package redis

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// grammar is what random commands are made of. Each type has one, and a run
// mixes all of them over the same few keys.
type grammar struct {
	// templates are commands, one a line. A word that begins with $ is drawn
	// from choices; one that ends in "opt" may be drawn as several words. "9* "
	// at the beginning has the command come nine times more.
	templates string

	// choices are what the words of templates are drawn from. A word that a
	// grammar does not explain means what it means in the first that does.
	// Expiries are fixed moments, because two servers do not run a
	// command at the same one, and SET takes none that has passed, because
	// Redis counts such a key in DBSIZE.
	choices map[string][]string

	// unordered are the commands whose reply has elements in no order of
	// their own, and how many elements belong together.
	unordered map[string]int

	// unwatched are the commands that change a key for us, but not for a
	// client of the real Redis that watches it.
	unwatched map[string]bool

	// exact are the commands that must not get an argument too many or too
	// few, because their reply would depend on chance.
	exact map[string]bool

	// newer are templates of commands that the real Redis has not: only the
	// time oracle sends them.
	newer string

	// reads are read commands that the time oracle asks, one a line. What
	// ownReads reply is not what the real Redis replies: it tells of idle
	// times, or the real Redis has not got the command, or differs.
	reads, ownReads string
}

// grammars are those of all types.
func grammars() []grammar {
	return []grammar{
		keyGrammar, hashGrammar, listGrammar, setGrammar, zsetGrammar, streamGrammar,
		bitmapGrammar, hyperLogLogGrammar, geoGrammar, lifetimeGrammar, sortGrammar, dumpGrammar, largeGrammar,
	}
}

// wholeGrammar is all grammars in one.
func wholeGrammar() grammar {
	all := grammar{choices: map[string][]string{}, unordered: map[string]int{}, unwatched: map[string]bool{}, exact: map[string]bool{}}
	var templates, newer, reads, ownReads []string
	for i, g := range grammars() {
		g.choices = withOwnKeys(g.choices, i)
		for word, choices := range g.choices {
			all.choices[ownWord(word, i)] = choices
			if all.choices[word] == nil {
				all.choices[word] = choices
			}
		}
		maps.Copy(all.unordered, g.unordered)
		maps.Copy(all.unwatched, g.unwatched)
		maps.Copy(all.exact, g.exact)
		templates = appendLines(templates, g.templates, g.choices, i)
		newer = appendLines(newer, g.newer, g.choices, i)
		reads = appendLines(reads, g.reads, g.choices, i)
		ownReads = appendLines(ownReads, g.ownReads, g.choices, i)
	}
	all.templates, all.newer = strings.Join(templates, "\n"), strings.Join(newer, "\n")
	all.reads, all.ownReads = strings.Join(reads, "\n"), strings.Join(ownReads, "\n")
	return all
}

// withOwnKeys gives the i-th grammar two keys that only its commands meet, so
// that some values grow old.
func withOwnKeys(choices map[string][]string, i int) map[string][]string {
	choices = maps.Clone(choices)
	if choices == nil {
		choices = map[string][]string{}
	}
	if i > 0 && choices["$key"] == nil {
		own := []string{fmt.Sprintf("own%d", i), fmt.Sprintf("two%d", i)}
		choices["$key"] = slices.Concat(keyGrammar.choices["$key"], own, own, own, own)
	}
	return choices
}

// ownWord is a word as the i-th grammar means it.
func ownWord(word string, i int) string { return fmt.Sprintf("$%d.%s", i, word[1:]) }

// appendLines appends the lines of a grammar, whose own words become unique.
func appendLines(to []string, text string, own map[string][]string, i int) []string {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		words := strings.Fields(line)
		for j, word := range words {
			if own[word] != nil {
				words[j] = ownWord(word, i)
			}
		}
		to = append(to, strings.Join(words, " "))
	}
	return to
}

var keyGrammar = grammar{
	templates: `
GET $key
SET $key $value
SET $key $value
SET $key $value $setopt
SET $key $value $setopt $setopt
SET $key $value $setopt $setopt $setopt
SETEX $key $seconds $value
PSETEX $key $millis $value
SETNX $key $value
GETSET $key $value
GETDEL $key
GETEX $key
GETEX $key $getexopt
GETEX $key $getexopt $getexopt
MGET $key $key $key
MSET $key $value $key $value
MSETNX $key $value $key $value
STRLEN $key
APPEND $key $value
GETRANGE $key $small $small
SUBSTR $key $small $small
SETRANGE $key $small $value
INCR $key
DECR $key
INCRBY $key $number
DECRBY $key $number
INCRBYFLOAT $key $float
DEL $key
DEL $key $key
UNLINK $key
EXISTS $key $key
TOUCH $key
TYPE $key
TYPE $key
RENAME $key $key
RENAMENX $key $key
COPY $key $key
COPY $key $key REPLACE
COPY $key $key DB $db
COPY $key $key DB $db REPLACE
MOVE $key $db
SELECT $db
DBSIZE
KEYS $pattern
SCAN 0 COUNT 1000 MATCH $pattern
SCAN 0 COUNT 1000 TYPE $type
SWAPDB $db $db
FLUSHDB
EXPIREAT $key $moment
EXPIREAT $key $moment $expireopt
PEXPIREAT $key $momentms $expireopt
PEXPIREAT $key $momentms
EXPIREAT $key $moment $expireopt $expireopt
EXPIRE $key $seconds
PEXPIRE $key $millis
PERSIST $key
EXPIRETIME $key
PEXPIRETIME $key
OBJECT ENCODING $anykey
COPY $anykey $anykey DB $db
RENAME $anykey $anykey
PEXPIRE $key $soon
PEXPIRE $key $soon $expireopt
PSETEX $key $soon $value
SET $key $value PX $soon
GETEX $key PX $soon
PEXPIRE $anykey $soon
DUMP $anykey
DUMP $anykey
DUMP $anykey
WATCH $anykey
WATCH $key $key
UNWATCH
MULTI
MULTI
MULTI
EXEC
DISCARD
`,
	choices: map[string][]string{
		"$key":       {"a", "b", "c", "d", "", "\x00", "a\x00b", "k\r\n\xff"},
		"$anykey":    {"a", "b", "c", "own1", "own2", "own3", "own4", "own5", "own6", "own8", "two1", "two2", "two4", "two5", "s", "t", "geo", "hll1"},
		"$value":     {"", "v", "w w", "1", "10", "-5", "9999", "10000", "3.5", "1e3", "\x00\x01\xff", " 1", "9223372036854775807", "-9223372036854775808", strings.Repeat("y", 44), strings.Repeat("z", 70)},
		"$number":    {"1", "-1", "5", "100", "0", "9223372036854775807", "-9223372036854775808", "x", "1.5", "", "+1", " 1"},
		"$float":     {"1", "-1.5", "0.1", "1e3", "3.0e-3", "x", "", "inf", "nan", "1e400", "100000000000000000000"},
		"$small":     {"0", "1", "3", "-1", "-3", "10", "100", "-100", "9223372036854775807", "-9223372036854775808", "x"},
		"$seconds":   {"0", "-1", "x", "9223372036854775807"},
		"$millis":    {"0", "-1", "x", "9223372036854775807"},
		"$moment":    {"4102444800", "4102444801", "4102444799", "1", "0", "-1", "x", "9223372036854775807"},
		"$momentms":  {"4102444800123", "4102444800500", "4102444799000", "1", "x", "9223372036854775807"},
		"$soon":      {"1", "2"}, // milliseconds; see soon
		"$setopt":    {"NX", "XX", "GET", "KEEPTTL", "EXAT 4102444800", "PXAT 4102444800123", "EX 0", "EX x", "EX", "nx", "FOO", ""},
		"$getexopt":  {"PERSIST", "EXAT 4102444800", "PXAT 4102444800123", "PXAT 1", "EX 0", "EX x", "EX", "NX"},
		"$expireopt": {"NX", "XX", "GT", "LT", "gt", "FOO"},
		"$db":        {"0", "1", "2", "0", "1", "2", "15", "16", "-1", "x"},
		"$pattern":   {"*", "a*", "?", "[a-c]", "", "a\x00*", "*\xff", "f*", "nosuch"},
		"$type":      {"string", "hash", "HASH", "list", "foo"},
	},
	unordered: map[string]int{"KEYS": 1, "SCAN": 1},
	reads: `
GET $key
STRLEN $key
TYPE $key
EXISTS $key
PEXPIRETIME $key
OBJECT ENCODING $key
KEYS *
SCAN 0 COUNT 1000
SCAN 0 COUNT 1000 TYPE $type
MGET a b c d
`,
	ownReads: `
PTTL $key
PTTL $key
DBSIZE
`,
}

var hashGrammar = grammar{
	templates: `
HSET $key $field $value
HSET $key $field $value $field $value
HMSET $key $field $value $field $value
HSETNX $key $field $value
HGET $key $field
HMGET $key $field $field
HGETALL $key
HKEYS $key
HVALS $key
HLEN $key
HSTRLEN $key $field
HEXISTS $key $field
HDEL $key $field
HDEL $key $field $field $field
HINCRBY $key $field $number
HINCRBYFLOAT $key $field $float
HSCAN $key 0 COUNT 1000
HSCAN $key 0 MATCH $pattern COUNT 1000
HRANDFIELD $key 0
`,
	choices: map[string][]string{
		"$field": {"f", "g", "h", "", "f\x00", "\xff\xfe", strings.Repeat("x", 65)},
	},
	unordered: map[string]int{"HKEYS": 1, "HVALS": 1, "HGETALL": 2, "HSCAN": 2},
	exact:     map[string]bool{"HRANDFIELD": true},
	reads: `
HGETALL $key
HLEN $key
HKEYS $key
HMGET $key f g h
HSCAN $key 0 COUNT 1000
`,
}
