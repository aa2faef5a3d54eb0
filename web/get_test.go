package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// /v1/get says what a key held, in the shape of its type.
func TestGetHasTheShapeOfTheType(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	for _, words := range []string{
		"SET s hello", "SET b \xff\x00", "SET n 12", "HSET h f v g \xfe", "HSET j base64 QQ==", "RPUSH l a b",
		"SADD t x", "ZADD z 1.5 m 2 o", "XADD x 1-1 f v", "XADD empty 1-1 f v", "XDEL empty 1-1",
	} {
		r.do(strings.Fields(words)...)
	}
	for _, tt := range []struct{ key, kind, want string }{
		{"s", "string", `"hello"`},
		{"b", "string", `{"base64":"/wA="}`},
		{"n", "string", `"12"`},
		{"h", "hash", `{"f":"v","g":{"base64":"/g=="}}`},
		{"j", "hash", `[["base64","QQ=="]]`},
		{"l", "list", `["a","b"]`},
		{"t", "set", `["x"]`},
		{"z", "zset", `[["m",1.5],["o",2]]`},
		{"x", "stream", `[["1-1",["f","v"]]]`},
		{"empty", "stream", `[]`},
	} {
		var got struct {
			DB               int
			Key, Token, Type string
			TS               int64
			Value            json.RawMessage
		}
		a := r.get("/v1/get?key=" + tt.key)
		if err := json.Unmarshal([]byte(a.body), &got); err != nil || a.status != 200 {
			t.Fatalf("%s: got %d %q and %v", tt.key, a.status, a.body, err)
		}
		if string(got.Value) != tt.want || got.Type != tt.kind || got.Key != tt.key || got.Token != r.store.Token(r.store.Bounds().Newest) {
			t.Errorf("%s: got %s, want %s %s", tt.key, a.body, tt.kind, tt.want)
		}
		if a.header.Get(binaryHeader) != "base64" || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: got the header %v", tt.key, a.header)
		}
	}
}

// /v1/get looks at the past, in any database, and says what it cannot tell.
func TestGetAtAMoment(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	r.do("SET", "k", "before")
	before := r.store.Token(r.store.Bounds().Newest)
	r.do("SET", "k", "after")
	r.do("SET", "key with \xff", "odd")
	if a := r.get("/v1/get?key=k&at=" + before); a.status != 200 || !strings.Contains(a.body, `"value":"before"`) || !strings.Contains(a.body, before) {
		t.Errorf("before: got %d %s", a.status, a.body)
	}
	if a := r.get("/v1/get?key=k&at=now"); a.status != 200 || !strings.Contains(a.body, `"value":"after"`) {
		t.Errorf("now: got %d %s", a.status, a.body)
	}
	if a := r.get("/v1/get?key=key+with+%ff"); a.status != 200 || !strings.Contains(a.body, `"value":"odd"`) {
		t.Errorf("any bytes: got %d %s", a.status, a.body)
	}
	if a := r.get("/v1/get?key=k&db=3"); a.status != 404 || !strings.Contains(a.body, `"type":"none","value":null`) || !strings.Contains(a.body, `"db":3`) {
		t.Errorf("another database: got %d %s", a.status, a.body)
	}
	if a := r.ask(r.request("HEAD", "/v1/get?key=k")); a.status != 200 || a.body != "" {
		t.Errorf("HEAD: got %d %q", a.status, a.body)
	}
	other := start(t, Options{}, redis.Options{})
	for _, tt := range []struct {
		query  string
		status int
		code   string
	}{
		{"", 400, "ERR"},
		{"key=k&key=l", 400, "ERR"},
		{"key=k&unknown=1", 400, "ERR"},
		{"key=%zz", 400, "ERR"},
		{"key=k&db=-1", 400, "ERR"},
		{"key=k&db=x", 400, "ERR"},
		{"key=k&db=99", 400, "ERR"},
		{"key=k&at=yesterday", 400, "ERR"},
		{"key=k&at=@short", 400, "ERR"},
		{"key=k&at=2199-01-01", 409, "FUTURE"},
		{"key=k&at=2001-01-01", 410, "COMPACTED"},
		{"key=k&at=" + other.store.Token(5), 409, "FORKED"},
		{"key=k" + strings.Repeat("&db=1", maxWords), 400, "ERR"},
	} {
		a := r.get("/v1/get?" + tt.query)
		if code, message := a.problem(t); a.status != tt.status || code != tt.code || !strings.HasPrefix(message, code) {
			t.Errorf("%.60s: got %d %s, want %d %s", tt.query, a.status, a.body, tt.status, tt.code)
		}
	}
}
