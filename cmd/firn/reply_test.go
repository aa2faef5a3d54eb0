package main

import (
	"strings"
	"testing"
	"time"

	answer "github.com/firndb/firn/resp/reply"
)

// Replies print as redis-cli 7 prints them.

func parsed(t *testing.T, resp string) answer.Value {
	t.Helper()
	r, rest, err := answer.Parse([]byte(resp))
	if err != nil || len(rest) != 0 {
		t.Fatalf("%q: got %q left and %v", resp, rest, err)
	}
	return r
}

func TestRepliesPrintLikeRedisCLI(t *testing.T) {
	for _, tt := range []struct{ resp, shown, raw, json string }{
		{"+OK\r\n", "OK\n", "OK\n", `"OK"`},
		{":42\r\n", "(integer) 42\n", "42\n", "42"},
		{"$5\r\na\n\"\x00\xff\r\n", `"a\n\"\x00\xff"` + "\n", "a\n\"\x00\xff\n", `{"base64":"YQoiAP8="}`},
		{"_\r\n", "(nil)\n", "\n", "null"},
		{"$-1\r\n", "(nil)\n", "\n", "null"},
		{",1.5\r\n", "(double) 1.5\n", "1.5\n", "1.5"},
		{",inf\r\n", "(double) inf\n", "inf\n", `"inf"`},
		{"#t\r\n", "(true)\n", "true\n", "true"},
		{"=5\r\ntxt:x\r\n", "x\n", "x\n", `"x"`},
		{"*0\r\n", "(empty array)\n", "", "[]"},
		{"%0\r\n", "(empty hash)\n", "", "{}"},
		{"*2\r\n:1\r\n*2\r\n$1\r\na\r\n_\r\n", "1) (integer) 1\n2) 1) \"a\"\n   2) (nil)\n", "1\na\n\n", `[1,["a",null]]`},
		{"%1\r\n$1\r\nf\r\n*1\r\n:7\r\n", "1# \"f\" => 1) (integer) 7\n", "f\n7\n", `{"f":[7]}`},
		{"~1\r\n$1\r\nm\r\n", "1~ \"m\"\n", "m\n", `["m"]`},
	} {
		r := parsed(t, tt.resp)
		var raw, asJSON strings.Builder
		printRaw(&raw, &r)
		err := printJSON(&asJSON, &r)
		if got := shown(&r, ""); got != tt.shown || raw.String() != tt.raw || asJSON.String() != tt.json+"\n" || err != nil {
			t.Errorf("%q:\n got %q, %q, %s, %v\nwant %q, %q, %s", tt.resp, got, raw.String(), asJSON.String(), err, tt.shown, tt.raw, tt.json)
		}
	}
}

func TestDiffsShowWhatChanged(t *testing.T) {
	for _, tt := range []struct{ resp, want string }{
		{"%7\r\n+type_before\r\n+hash\r\n+type_after\r\n+hash\r\n+expires_before\r\n:-1\r\n+expires_after\r\n:1000\r\n" +
			"+added\r\n%1\r\n$1\r\na\r\n$1\r\n1\r\n+removed\r\n%1\r\n$1\r\nb\r\n$1\r\n2\r\n+changed\r\n*1\r\n*3\r\n$1\r\nc\r\n$1\r\n3\r\n$1\r\n4\r\n",
			"type hash\nexpires - -> 1970-01-01T00:00:01.000000Z\n+ \"a\" => \"1\"\n- \"b\" => \"2\"\n~ \"c\" => \"3\" -> \"4\"\n"},
		{"%4\r\n+type_before\r\n+string\r\n+type_after\r\n+none\r\n+before\r\n$1\r\nx\r\n+after\r\n_\r\n",
			"type string -> none\n- \"x\"\n"},
		{"%2\r\n+before\r\n$1\r\nx\r\n+after\r\n$1\r\nx\r\n", "  \"x\"\n"},
		{"%3\r\n+added\r\n~1\r\n$1\r\nm\r\n+removed\r\n~0\r\n+changed\r\n*0\r\n", "+ \"m\"\n"},
	} {
		r := parsed(t, tt.resp)
		var got strings.Builder
		if printDiff(&got, &r); got.String() != tt.want {
			t.Errorf("got %q, want %q", got.String(), tt.want)
		}
	}
}

func TestProgressHasRateAndTimeLeft(t *testing.T) {
	var out strings.Builder
	now := time.Unix(0, 0)
	p := &progress{out: &out, terminal: true, began: now, now: func() time.Time { return now }}
	p.show(10e6, 100e6)
	now = now.Add(2 * time.Second)
	p.show(20e6, 100e6)
	now = now.Add(time.Millisecond)
	p.show(21e6, 100e6) // too soon
	now = now.Add(3 * time.Second)
	p.show(100e6, 100e6)
	p.show(100e6, 100e6) // nothing new
	p.end()
	want := "\r\x1b[K 10 %  copying\r\x1b[K 20 %  copying  10.0 MB/s  8s left\r\x1b[K100 %  checking  20.0 MB/s  0s left\r\x1b[K"
	if out.String() != want {
		t.Errorf("terminal:\n got %q\nwant %q", out.String(), want)
	}
	out.Reset()
	p = &progress{out: &out, began: now, now: func() time.Time { return now }}
	p.show(1, 100)
	now = now.Add(lineEvery)
	p.show(50, 100)
	p.show(51, 100)
	if got, want := out.String(), " 50 %  checking  5 B/s  10s left\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	out.Reset()
	p = &progress{out: &out, quiet: true, terminal: true, began: now.Add(-time.Hour), now: time.Now}
	if p.show(50, 100); out.Len() > 0 {
		t.Errorf("quiet: got %q", out.String())
	}
}
