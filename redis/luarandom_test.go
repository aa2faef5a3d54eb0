package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// Random programs reply what they reply in a real Redis, to the byte, and leave
// the same data. A program that does not is made smaller as long as it does
// not.
//
// FIRN_SOAK/20 is how many programs to run instead of 3,000; FIRN_SEED repeats
// a run.

func TestRandomScriptsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	s := seed.Fixed(t, 1)
	var pairs []*scriptCouple
	for _, proto := range []string{"2", "3"} {
		pairs = append(pairs, newScriptCouple(t, connect(), proto, s))
	}
	g := newLuaGenerator(s, pairs[0].commands)
	n, refused := seed.Steps(t, 60_000)/20, 0
	for i := range n {
		program, p := g.program(), pairs[i%2]
		how := g.IntN(4)
		mine, theirs := p.run(t, program, how)
		if mine == theirs {
			if strings.HasPrefix(mine, "-") {
				refused++
			}
			continue
		}
		program = p.shrink(t, program, how)
		mine, theirs = p.run(t, program, how)
		t.Fatalf("program %d, protocol %s, way %d, keys %q, args %q, read-only %v\n%s%s\n got %.3000s\nwant %.3000s",
			i, p.proto, how, program.keys, program.args, program.readOnly, program.shebang, program.body(), mine, theirs)
	}
	t.Logf("%d programs, %d of them refused", n, refused)
	if refused*3 > n*2 {
		t.Errorf("%d of %d programs were refused: too much to say anything", refused, n)
	}
}

// scriptCouple is a session of ours and a connection to a real Redis that run
// the same programs.
type scriptCouple struct {
	mine     manyTalker
	redis    manyTalker
	proto    string
	commands *generator
}

func newScriptCouple(t *testing.T, redis *theirs, proto string, s seed.Value) *scriptCouple {
	mine := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
	for _, who := range []talker{mine, redis} {
		who.tell(t, []byte("HELLO"), []byte(proto))
	}
	commands := &generator{Rand: s.Rand(1), grammar: wholeGrammar(), seed: s}
	return &scriptCouple{mine: mine, redis: redis, proto: proto, commands: commands}
}

func newLuaGenerator(s seed.Value, commands *generator) *luaGenerator {
	g := &luaGenerator{Rand: s.Rand(2), commands: commands}
	for template := range strings.SplitSeq(commands.templates, "\n") {
		_, plain, counted := strings.Cut(template, "* ")
		if counted && template[0] <= '9' {
			template = plain
		}
		name, _, _ := strings.Cut(template, " ")
		if !notInPrograms[name] && !strings.Contains(name, "RAND") && !strings.Contains(template, "soon") && !strings.Contains(template, "big") {
			g.calls = append(g.calls, template)
		}
	}
	return g
}

// run has both run a program, on no data, and returns what came of it.
func (p *scriptCouple) run(t *testing.T, program *luaProgram, how int) (mine, theirs string) {
	t.Helper()
	text := []byte(program.text())
	name, loaded := "EVAL", [][]byte(nil)
	if how == 0 {
		name, loaded = "EVALSHA", [][]byte{[]byte("SCRIPT"), []byte("LOAD"), text}
		sum := sha1.Sum(text)
		text = []byte(hex.EncodeToString(sum[:]))
	}
	if program.readOnly {
		name += "_RO"
	}
	words := [][]byte{[]byte(name), text, strconv.AppendInt(nil, int64(len(program.keys)), 10)}
	for _, w := range slices.Concat(program.keys, program.args) {
		words = append(words, []byte(w))
	}
	commands := [][][]byte{{[]byte("FLUSHALL")}, {[]byte("SELECT"), []byte("0")}, {[]byte("HELLO"), []byte(p.proto)}}
	if loaded != nil {
		commands = append(commands, loaded)
	}
	commands = append(commands, words)
	return outcome(t, p.mine, commands), outcome(t, p.redis, commands)
}

// outcome is the reply to the last of the commands, and all data then.
func outcome(t *testing.T, who manyTalker, commands [][][]byte) string {
	t.Helper()
	replies := who.tellAll(t, commands)
	return strings.TrimPrefix(strconv.Quote(string(replies[len(replies)-1])), `"`) + "\n" + allData(t, who)
}

// shrink makes a program smaller while the two do not agree on it.
func (p *scriptCouple) shrink(t *testing.T, program *luaProgram, how int) *luaProgram {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for smaller := true; smaller; {
		smaller = false
		for _, candidate := range program.smaller() {
			if time.Now().After(deadline) {
				return program
			}
			if mine, theirs := p.run(t, candidate, how); mine != theirs && !strings.Contains(theirs, "compiling") {
				program, smaller = candidate, true
				break
			}
		}
	}
	return program
}
