package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// Random commands get the same replies from us and from a real Redis.
//
// FIRN_SOAK is how many to send instead of 3,000; FIRN_SEED repeats a run.

func TestRandomCommandsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for _, proto := range []string{"2", "3"} {
		t.Run("proto="+proto, func(t *testing.T) { testRandom(t, connect(), []byte(proto)) })
	}
}

// testRandom compares random commands in one version of the protocol.
func testRandom(t *testing.T, redis *theirs, proto []byte) {
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, who := range []talker{mine, redis} {
		who.tell(t, []byte("FLUSHALL"))
		who.tell(t, []byte("HELLO"), proto)
	}
	g := newGenerator(t)
	var script []string
	inMulti := false
	for i := range envNumber(t, "FIRN_SOAK", 3000) {
		words := g.command()
		for inMulti && g.unordered[string(words[0])] > 0 {
			words = g.command() // its reply would be inside EXEC's
		}
		script = append(script, quoteWords(words))
		got, want := mine.tell(t, words...), redis.tell(t, words...)
		switch name := string(words[0]); name {
		case "MULTI":
			inMulti = true
		case "EXEC", "DISCARD":
			inMulti = inMulti && len(words) > 1 // with an argument it is refused
		default:
			if step := g.unordered[name]; step > 0 {
				got, want = []byte(inOneOrder(got, step)), []byte(inOneOrder(want, step))
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d, command %d\n got %q\nwant %q\nafter\n%s", g.seed, i, got, want,
				strings.Join(script[max(0, len(script)-40):], "\n"))
		}
	}
	if len(script) < 1000 {
		t.Errorf("only %d commands: too few to say anything", len(script))
	}
}

// envNumber is a number from the environment.
func envNumber(t testing.TB, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
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
	lines []string // templates, one a line
	seed  uint64
}

func newGenerator(t testing.TB) *generator {
	seed := uint64(envNumber(t, "FIRN_SEED", int(rand.Uint32())))
	t.Logf("seed %d", seed)
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), grammar: wholeGrammar(), seed: seed}
	g.lines = strings.Split(g.templates, "\n")
	return g
}

// command draws a command, in one case of thirty with an argument too few or
// too many.
func (g *generator) command() [][]byte {
	template := g.lines[g.IntN(len(g.lines))]
	if strings.HasPrefix(template, "FLUSHDB") && g.IntN(10) > 0 {
		template = "DBSIZE" // so that something gathers between two of them
	}
	var words [][]byte
	for i, word := range strings.Fields(template) {
		drawn := word
		if from, ok := g.choices[word]; ok {
			drawn = from[g.IntN(len(from))]
		}
		if strings.HasSuffix(word, "opt") && i > 0 {
			for _, part := range strings.Split(drawn, " ") {
				words = append(words, []byte(part))
			}
			continue
		}
		words = append(words, []byte(drawn))
	}
	if template == "EXEC" || g.exact[string(words[0])] {
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
