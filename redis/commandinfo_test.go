package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// COMMAND INFO tells of every command that both have what Redis tells.

// otherInfo are the differences that are meant: the command and what differs,
// with the reason.
var otherInfo = map[string]string{
	"pfcount keys":   "only reads here: Redis may store the count in the string",
	"zrank arity":    "takes WITHSCORE, which came with 7.2",
	"zrevrank arity": "takes WITHSCORE, which came with 7.2",
	"cluster arity":  "answers that there is no cluster, whatever is asked",
}

// described is one element of COMMAND's reply.
type described struct {
	name, arity, flags, keys, categories, tips, specs string
}

// describe takes the reply to COMMAND apart, subcommands included.
func describe(t testing.TB, who talker) map[string]described {
	t.Helper()
	all := map[string]described{}
	v, _, err := parseValue(who.tell(t, []byte("COMMAND")))
	if err != nil {
		t.Fatal(err)
	}
	var add func(v value)
	add = func(v value) {
		e := v.elements
		if len(e) != 10 {
			t.Fatalf("a command has %d elements, want 10", len(e))
		}
		d := described{
			name: e[0].text, arity: e[1].text, flags: inAnyOrder(e[2]), keys: e[3].text + " " + e[4].text + " " + e[5].text,
			categories: inAnyOrder(e[6]), tips: inAnyOrder(e[7]), specs: flat(e[8]),
		}
		all[d.name] = d
		for _, sub := range e[9].elements {
			add(sub)
		}
	}
	for _, e := range v.elements {
		add(e)
	}
	return all
}

func inAnyOrder(v value) string {
	var texts []string
	for _, e := range v.elements {
		texts = append(texts, e.text)
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

// flat is a reply on one line, without the notes that Redis has on some key
// specifications.
func flat(v value) string {
	if v.elements == nil {
		return v.text
	}
	var texts []string
	for i := 0; i < len(v.elements); i++ {
		if v.elements[i].text == "notes" {
			i++
			continue
		}
		texts = append(texts, flat(v.elements[i]))
	}
	return "(" + strings.Join(texts, " ") + ")"
}

func TestCommandInfoIsRedis(t *testing.T) {
	want := describe(t, startRedis(t)())
	got := describe(t, newOurs(t, New(openStore(t, firn.Options{}), Options{})))
	used := map[string]bool{}
	compared := 0
	for name, g := range got {
		w, both := want[name]
		if !both {
			continue
		}
		compared++
		for _, field := range []struct{ what, got, want string }{
			{"arity", g.arity, w.arity}, {"flags", g.flags, w.flags}, {"first, last, step", g.keys, w.keys},
			{"categories", g.categories, w.categories}, {"tips", g.tips, w.tips}, {"keys", g.specs, w.specs},
		} {
			if field.got == field.want {
				continue
			}
			about := name + " " + field.what
			if _, meant := otherInfo[about]; meant {
				used[about] = true
				continue
			}
			t.Errorf("%s:\n got %s\nwant %s", about, field.got, field.want)
		}
	}
	for about := range otherInfo {
		if name, _, _ := strings.Cut(about, " "); !used[about] && got[name].name != "" {
			t.Errorf("%s is no difference any more", about)
		}
	}
	if compared < 100 {
		t.Errorf("only %d commands were compared", compared)
	}
}
