package reply

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// A reply becomes JSON of which nothing can be taken for something else.
func TestRepliesAsJSON(t *testing.T) {
	for _, tt := range []struct{ resp, want string }{
		{"+OK\r\n", `"OK"`},
		{":-12\r\n", `-12`},
		{":9223372036854775807\r\n", `9223372036854775807`},
		{",1.5\r\n", `1.5`},
		{",inf\r\n", `"inf"`},
		{",-nan\r\n", `"-nan"`},
		{",.5\r\n", `0.5`},
		{"(3492890328409238509324850943850943825024385\r\n", `3492890328409238509324850943850943825024385`},
		{"#t\r\n", `true`},
		{"_\r\n", `null`},
		{"$-1\r\n", `null`},
		{"*-1\r\n", `null`},
		{"$0\r\n\r\n", `""`},
		{"$7\r\na\"\\\n\x01\u00e4\r\n", `"a\"\\\n\u0001ä"`},
		{"$3\r\n\u2028\r\n", `"\u2028"`},
		{"$2\r\n\xff\x00\r\n", `{"base64":"/wA="}`},
		{"=7\r\ntxt:abc\r\n", `"abc"`},
		{"-ERR no\r\n", `{"error":"ERR no"}`},
		{"!6\r\nERR no\r\n", `{"error":"ERR no"}`},
		{"*2\r\n:1\r\n~1\r\n+a\r\n", `[1,["a"]]`},
		{"*0\r\n", `[]`},
		{"%0\r\n", `{}`},
		{"%2\r\n+b\r\n:1\r\n+a\r\n_\r\n", `{"b":1,"a":null}`},
		{"%1\r\n:7\r\n:1\r\n", `{"7":1}`},
		{"%1\r\n$1\r\n\xff\r\n:1\r\n", `[[{"base64":"/w=="},1]]`},
		{"%1\r\n+base64\r\n+QQ==\r\n", `[["base64","QQ=="]]`},
		{"%1\r\n+error\r\n+QQ==\r\n", `[["error","QQ=="]]`},
		{"%2\r\n+error\r\n+a\r\n+base64\r\n+b\r\n", `{"error":"a","base64":"b"}`},
		{"|1\r\n+ttl\r\n:3\r\n+OK\r\n", `"OK"`},
		{">2\r\n+live\r\n:1\r\n", `["live",1]`},
	} {
		v, rest, err := Parse([]byte(tt.resp + "+next\r\n"))
		if got := string(v.AppendJSON(nil)); err != nil || got != tt.want || string(rest) != "+next\r\n" {
			t.Errorf("%q: got %s, %q and %v, want %s", tt.resp, got, rest, err, tt.want)
		}
		if !json.Valid(v.AppendJSON(nil)) {
			t.Errorf("%q: not JSON", tt.resp)
		}
	}
}

// What ends early is told from what is no reply, wherever it is cut.
func TestRepliesThatEndEarly(t *testing.T) {
	whole := "*3\r\n%1\r\n$1\r\na\r\n,1.5\r\n=5\r\ntxt:x\r\n|1\r\n+a\r\n:1\r\n-ERR x\r\n"
	if _, rest, err := Parse([]byte(whole)); err != nil || len(rest) != 0 {
		t.Fatalf("got %q and %v", rest, err)
	}
	for n := range len(whole) {
		if _, _, err := Parse([]byte(whole[:n])); !errors.Is(err, ErrShort) {
			t.Errorf("%q: got %v, want %v", whole[:n], err, ErrShort)
		}
	}
	deep := strings.Repeat("*1\r\n", maxDepth+2) + ":1\r\n"
	for _, bad := range []string{"\r\n", "?1\r\n", "$x\r\n", "$-2\r\n", "*1x\r\n", "$1\r\nabc", deep} {
		if _, _, err := Parse([]byte(bad)); !errors.Is(err, ErrForm) {
			t.Errorf("%q: got %v, want %v", bad, err, ErrForm)
		}
	}
	if _, _, err := Parse([]byte("*1000000000\r\n:1\r\n")); !errors.Is(err, ErrShort) {
		t.Errorf("a count alone takes memory: got %v, want %v", err, ErrShort)
	}
}

// Strings come back as they were, whatever they are.
func FuzzStringsAsJSON(f *testing.F) {
	for _, seed := range []string{"", "a", "\"\\\x00\x1f\u2029\u00e4", "\xff", "\U0001f600</script>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var back any
		text := AppendString(nil, s)
		if err := json.Unmarshal(text, &back); err != nil || strings.ContainsAny(string(text), "\r\n") {
			t.Fatalf("%s: %v", text, err)
		}
		if object, ok := back.(map[string]any); ok && !utf8.ValidString(s) {
			raw, _ := base64.StdEncoding.DecodeString(object[BinaryForm].(string))
			back = string(raw)
		}
		if back != s {
			t.Errorf("got %q, want %q", back, s)
		}
	})
}
