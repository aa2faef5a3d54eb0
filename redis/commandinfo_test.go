package redis

import (
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// COMMAND INFO tells of every command what Redis tells, and all of Redis's
// commands are here that are not named as missing.

// otherInfo are the differences that are meant: the command and what differs,
// with the reason.
var otherInfo = map[string]string{
	"zrank arity":    "takes WITHSCORE, which came with 7.2",
	"zrevrank arity": "takes WITHSCORE, which came with 7.2",
}

// missing are Redis's commands that Firn has not.
var missing = map[string]string{
	"migrate": "nothing moves to another server", "restore-asking": "is MIGRATE's, in a cluster",
	"psync": "there are no replicas", "sync": "there are no replicas", "replconf": "there are no replicas",
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
			name: e[0].text, arity: e[1].text, flags: flat(e[2]), keys: e[3].text + " " + e[4].text + " " + e[5].text,
			categories: flat(e[6]), tips: flat(e[7]), specs: flat(e[8]),
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

// flat is a reply on one line.
func flat(v value) string {
	if v.elements == nil {
		return v.text
	}
	var texts []string
	for _, e := range v.elements {
		texts = append(texts, flat(e))
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
	for name := range want {
		if _, here := got[name]; here == (missing[name] != "") {
			t.Errorf("%s: here %v, named as missing %v", name, here, !here)
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
