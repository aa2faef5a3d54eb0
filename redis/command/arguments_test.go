package command

import (
	"strings"
	"testing"
)

// The arguments that COMMAND DOCS tells follow from the syntax.

// String shows a tree on one line: name:kind, with its token before and its
// flags behind.
func (a argument) String() string {
	text := a.name + ":" + a.kind
	if a.token != "" {
		text = a.token + "=" + text
	}
	if a.parts != nil {
		text += "(" + showArguments(a.parts) + ")"
	}
	if a.optional {
		text += "?"
	}
	if a.multiple {
		text += "+"
	}
	return text
}

func showArguments(all []argument) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, " ")
}

func TestArgumentsFollowFromTheSyntax(t *testing.T) {
	for _, tt := range []struct{ syntax, want string }{
		{"", ""},
		{"key", "key:key"},
		{"key [key ...]", "key:key+"},
		{"key value [key value ...]", "data:block(key:key value:string)+"},
		{"[message]", "message:string?"},
		{"[command-name [command-name ...]]", "command-name:string?+"},
		{"command [arg ...]", "command:string arg:string?+"},
		{"key [NX | XX] [GET] [EX seconds | KEEPTTL]", "key:key nx:oneof(NX=nx:pure-token XX=xx:pure-token)? GET=get:pure-token? seconds:oneof(EX=seconds:integer KEEPTTL=keepttl:pure-token)?"},
		{"key cursor [MATCH pattern] [COUNT count]", "key:key cursor:integer MATCH=pattern:pattern? COUNT=count:integer?"},
		{"key [LIMIT offset count]", "key:key LIMIT=offset:block(offset:integer count:integer)?"},
		{"source destination <LEFT | RIGHT> <LEFT | RIGHT>", "source:key destination:key left:oneof(LEFT=left:pure-token RIGHT=right:pure-token) left:oneof(LEFT=left:pure-token RIGHT=right:pure-token)"},
		{"key LEFT|RIGHT [COUNT count]", "key:key left:oneof(LEFT=left:pure-token RIGHT=right:pure-token) COUNT=count:integer?"},
		{"A | B | C key", "a:oneof(A=a:pure-token B=b:pure-token C=c:pure-token) key:key"},
		{"numkeys key [key ...] [WEIGHTS weight [weight ...]]", "numkeys:integer key:key+ WEIGHTS=weight:string?+"},
		{"key [count [WITHVALUES]]", "key:key count:block(count:integer WITHVALUES=withvalues:pure-token?)?"},
		// What is not well formed is read somehow.
		{"] a | | > [", "a:oneof(a:string) :block?"},
	} {
		if got := showArguments(ParseArguments(tt.syntax)); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.syntax, got, tt.want)
		}
	}
}
