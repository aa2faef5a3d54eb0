package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// Random commands get the same replies from us and from a real Redis.
//
// FIRN_SOAK is how many to send instead of 10,000; FIRN_SEED repeats a run.

func TestRandomCommandsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for _, proto := range []string{"2", "3"} {
		t.Run("proto="+proto, func(t *testing.T) {
			testRandom(t, newCouple(t, connect(), proto, firn.Options{}), seed.Steps(t, 10_000))
		})
	}
}

// TestRandomCommandsAgreeHotAndCold: the replies do not depend on what is in
// memory, nor on what is merged.
func TestRandomCommandsAgreeHotAndCold(t *testing.T) {
	connect := startRedis(t)
	for name, o := range coldOptions {
		if testing.Short() && name != "both" {
			continue // the others take the same ways through the code
		}
		t.Run(name, func(t *testing.T) {
			testRandom(t, newCouple(t, connect(), "3", o), seed.Steps(t, 10_000)/5)
		})
	}
}

func testRandom(t *testing.T, p *couple, n int) {
	for range n {
		p.step(t)
	}
	t.Logf("%d commands, %d of them refused", p.sent, p.refused)
	if p.sent < 1000 || p.refused*5 > p.sent*3 {
		t.Errorf("%d commands, of which %d refused: too little to say anything", p.sent, p.refused)
	}
}

// couple is a session of ours and a connection to a real Redis that are told the
// same.
type couple struct {
	mine          *ours
	redis         *theirs
	g             *generator
	inMulti       bool
	watches       bool
	sent, refused int
	script        []string // the last commands, shortened: the seed repeats them
}

func newCouple(t *testing.T, redis *theirs, proto string, o firn.Options) *couple {
	o.Durability = firn.None
	mine := newOurs(t, New(openStore(t, o), Options{}))
	for _, who := range []talker{mine, redis} {
		who.tell(t, []byte("FLUSHALL"))
		who.tell(t, []byte("HELLO"), []byte(proto))
	}
	return &couple{mine: mine, redis: redis, g: newGenerator(t)}
}

// step draws a command, tells it to both and compares the replies.
func (p *couple) step(t *testing.T) {
	t.Helper()
	words := p.g.command()
	for p.inMulti && p.g.alone(words) {
		words = p.g.command()
	}
	if (p.inMulti || p.watches) && p.g.IntN(12) == 0 {
		words, p.g.fleeting = [][]byte{[]byte("MULTI")}, false
		if p.inMulti {
			words = [][]byte{[]byte("EXEC")}
		}
	}
	switch name := string(words[0]); {
	case p.watches && !p.inMulti && p.g.unwatched[name]:
		p.ask(t, []byte("UNWATCH"))
		p.watches = false
		p.ask(t, words...)
	case name == "DBSIZE":
		if !p.inMulti {
			// Redis counts keys whose end has passed until it meets them.
			p.ask(t, []byte("SCAN"), []byte("0"), []byte("COUNT"), []byte("100000"))
		}
		p.ask(t, words...)
	case name == "DUMP" && len(words) == 2:
		to := p.g.draw("$anykey")
		if bytes.HasPrefix(words[1], []byte("big")) {
			to = words[1]
		}
		p.transplant(t, words[1], to)
	default:
		p.ask(t, words...)
		switch name {
		case "WATCH":
			p.watches = true
		case "MULTI":
			p.inMulti = true
		case "EXEC", "DISCARD":
			p.watches = false
			p.inMulti = p.inMulti && len(words) > 1 // with an argument it is refused
		}
	}
	if p.g.fleeting {
		<-time.After(soon + time.Millisecond) // nobody can move the clock of the real Redis
	}
}

// ask tells both the same and compares their replies.
func (p *couple) ask(t *testing.T, words ...[]byte) {
	t.Helper()
	p.note(words)
	p.compare(t, words, p.mine.tell(t, words...), p.redis.tell(t, words...))
}

func (p *couple) note(words [][]byte) {
	p.sent++
	if p.script = append(p.script, fmt.Sprintf("%.300s", quoteWords(words))); len(p.script) > 800 {
		p.script = append(p.script[:0], p.script[400:]...)
	}
}

func (p *couple) compare(t *testing.T, words [][]byte, got, want []byte) {
	t.Helper()
	if want[0] == '-' {
		p.refused++
	}
	if step := p.g.unordered[string(words[0])]; step > 0 {
		got, want = []byte(inOneOrder(got, step)), []byte(inOneOrder(want, step))
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("seed %d, command %d\n got %.2000q\nwant %.2000q\nafter\n%s", p.g.seed, p.sent, got, want, strings.Join(p.script, "\n"))
	}
}

// transplant gives the dump of a key that one of the two has made to both.
func (p *couple) transplant(t *testing.T, from, to []byte) {
	t.Helper()
	words := [][]byte{[]byte("DUMP"), from}
	p.note(words)
	dumps := [][]byte{p.mine.tell(t, words...), p.redis.tell(t, words...)}
	mine, _, _ := parseValue(dumps[0])
	theirs, _, _ := parseValue(dumps[1])
	if mine.null != theirs.null || mine.mark != theirs.mark {
		p.compare(t, words, dumps[0], dumps[1])
	}
	if mine.null {
		return
	}
	payload := []byte(theirs.text)
	if p.g.IntN(2) == 0 {
		payload = []byte(mine.text)
	}
	p.ask(t, []byte("RESTORE"), to, []byte("0"), payload, []byte("REPLACE"))
}

// quoteWords shows a command as it can be typed.
func quoteWords(words [][]byte) string {
	var out []string
	for _, w := range words {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return strings.Join(out, " ")
}

// generator makes commands over few keys and fields, so that they meet.
type generator struct {
	*rand.Rand
	grammar
	lines    []string // templates, one a line
	seed     seed.Value
	template string // the last command's
	again    int    // how often it comes again
	fleeting bool   // the last command gives a key an end that comes within soon
}

// soon is how far off the end of a key is that shall have passed when the next
// command comes.
const soon = 2 * time.Millisecond

// newGenerator draws the same commands in every run of make test: a difference
// that only new ones find is no news about the change that is tested. A soak
// draws new ones.
func newGenerator(t testing.TB) *generator {
	seed := seed.Fixed(t, 1)
	g := &generator{Rand: seed.Rand(0), grammar: wholeGrammar(), seed: seed}
	g.lines = strings.Split(g.templates, "\n")
	return g
}

// command draws a command, in one case of thirty with an argument too few or
// too many.
func (g *generator) command() [][]byte {
	if g.again--; g.again < 0 {
		g.template = g.lines[g.IntN(len(g.lines))]
		if times, template, ok := strings.Cut(g.template, "* "); ok && times[0] <= '9' {
			g.template = template
			g.again, _ = strconv.Atoi(times)
		}
	}
	if strings.HasPrefix(g.template, "FLUSHDB") && g.IntN(10) > 0 {
		g.template = "DBSIZE" // so that something gathers between two of them
	}
	words := g.fill(g.template)
	g.fleeting = strings.Contains(g.template, "soon")
	if g.template == "EXEC" || g.exact[string(words[0])] {
		return words
	}
	switch g.IntN(60) {
	case 0:
		words = words[:max(1, len(words)-1)]
	case 1:
		words = append(words, []byte("extra"))
	}
	return words
}

// fill draws the words of a template.
func (g *generator) fill(template string) (words [][]byte) {
	for i, word := range strings.Fields(template) {
		drawn := []byte(word)
		if g.choices[word] != nil {
			drawn = g.draw(word)
		}
		if strings.HasSuffix(word, "opt") && i > 0 {
			words = append(words, bytes.Split(drawn, []byte(" "))...)
			continue
		}
		words = append(words, drawn)
	}
	return words
}

func (g *generator) draw(word string) []byte {
	from := g.choices[word]
	return []byte(from[g.IntN(len(from))])
}

// alone says whether a command is kept out of MULTI: its reply, inside EXEC's,
// could not be compared.
func (g *generator) alone(words [][]byte) bool {
	name := string(words[0])
	return g.fleeting || g.unordered[name] > 0 || name == "DBSIZE" || name == "DUMP"
}
