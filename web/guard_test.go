package web

import (
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// Users, passwords and rights are those of RESP, on every route that says what
// the store holds.
func TestUsersAreThoseOfRESP(t *testing.T) {
	r := start(t, Options{}, redis.Options{Password: "secret: \u00e4"})
	for _, user := range []string{
		"reader on >pw ~app:* +history|getat +info +hget", "nobody on >pw", "off off >pw ~* +@all",
	} {
		if err := r.redis.SetUser(user); err != nil {
			t.Fatal(err)
		}
	}
	admin := basic("default", "secret: \u00e4")
	for _, tt := range []struct {
		path, authorization string
		status              int
		code                string
	}{
		{"/v1/get?key=app:1", "", 401, "NOAUTH"},
		{"/v1/get?key=app:1", admin, 404, ""},
		{"/v1/get?key=app:1", basic("", "secret: \u00e4"), 404, ""},
		{"/v1/get?key=app:1", "bearer  secret: \u00e4", 404, ""},
		{"/v1/get?key=app:1", "Bearer pw", 401, "WRONGPASS"},
		{"/v1/get?key=app:1", "Bearer", 401, "WRONGPASS"},
		{"/v1/get?key=app:1", "Digest x", 401, "WRONGPASS"},
		{"/v1/get?key=app:1", "Basic x", 401, "WRONGPASS"},
		{"/v1/get?key=app:1", "Basic " + base64.StdEncoding.EncodeToString([]byte("reader")), 401, "WRONGPASS"},
		{"/v1/get?key=app:1", basic("reader", "wrong"), 401, "WRONGPASS"},
		{"/v1/get?key=app:1", basic("off", "pw"), 401, "WRONGPASS"},
		{"/v1/get?key=app:1", basic("reader", "pw"), 404, ""},
		{"/v1/get?key=other", basic("reader", "pw"), 403, "NOPERM"},
		{"/v1/get?key=app:1&db=1", basic("reader", "pw"), 403, "NOPERM"},
		{"/v1/get?key=app:1", basic("nobody", "pw"), 403, "NOPERM"},
		{"/metrics", "", 401, "NOAUTH"},
		{"/metrics", basic("nobody", "pw"), 403, "NOPERM"},
		{"/metrics", basic("reader", "pw"), 200, ""},
		{"/healthz", "", 200, ""},
		{"/readyz", "", 200, ""},
		{"/elsewhere", "", 404, "ERR"},
	} {
		headers := []string{}
		if tt.authorization != "" {
			headers = []string{"Authorization", tt.authorization}
		}
		a := r.get(tt.path, headers...)
		if a.status != tt.status {
			t.Errorf("%s as %q: got %d %.200s, want %d", tt.path, tt.authorization, a.status, a.body, tt.status)
		}
		if tt.code != "" {
			if code, message := a.problem(t); code != tt.code || strings.Contains(message, "HELLO") {
				t.Errorf("%s as %q: got %s, %s, want %s, and nothing about HELLO", tt.path, tt.authorization, code, message, tt.code)
			}
		}
		asks := a.header["Www-Authenticate"]
		if (a.status == 401) != (len(asks) == 2 && strings.HasPrefix(asks[0], "Basic ") && strings.HasPrefix(asks[1], "Bearer ")) {
			t.Errorf("%s as %q: got %d with the challenges %q", tt.path, tt.authorization, a.status, asks)
		}
	}
	if f, err := r.redis.Figures(); err != nil || f.Clients != 0 {
		t.Errorf("got %d sessions and %v, want none left", f.Clients, err)
	}
}

// Without a password nobody from elsewhere is let in, and no page that makes
// its own name lead here.
func TestWithoutPasswordOnlyThisMachine(t *testing.T) {
	r := start(t, Options{Hosts: []string{"Firn.example"}}, redis.Options{})
	for host, status := range map[string]int{
		"localhost": 404, "LOCALHOST:8379": 404, "app.localhost": 404, "127.0.0.1:1": 404, "[::1]:8379": 404, "::1": 404,
		"10.0.0.7": 404, "firn.example:80": 404, "FIRN.EXAMPLE.": 404,
		"evil.example": 403, "evil.example:8379": 403, "127.0.0.1.evil.example": 403, "localhost.evil.example": 403, "": 403,
	} {
		if host == "" {
			continue // a client of Go's sends the address then
		}
		if a := r.get("/v1/get?key=k", "Host", host); a.status != status {
			t.Errorf("host %q: got %d %s, want %d", host, a.status, a.body, status)
		}
		if a := r.get("/healthz", "Host", host); a.status != 200 {
			t.Errorf("health as %q: got %d, want 200", host, a.status)
		}
	}
	if got := r.raw("GET /v1/get?key=k HTTP/1.0\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.0 403 ") {
		t.Errorf("no host at all: got %q", got)
	}
	withPassword := start(t, Options{}, redis.Options{Password: "pw"})
	if a := withPassword.get("/v1/get?key=k", "Host", "any.example", "Authorization", "Bearer pw"); a.status != 404 {
		t.Errorf("with a password: got %d %s", a.status, a.body)
	}
}

// A request from another machine is refused in protected mode.
func TestProtectedMode(t *testing.T) {
	address := otherAddress(t)
	for _, tt := range []struct {
		o      redis.Options
		status int
	}{
		{redis.Options{}, 403}, {redis.Options{Exposed: true}, 404},
	} {
		r := startAt(t, address, Options{}, tt.o)
		a := r.get("/v1/get?key=k")
		if a.status != tt.status {
			t.Errorf("exposed %t: got %d %s, want %d", tt.o.Exposed, a.status, a.body, tt.status)
		}
		if a := r.get("/healthz"); a.status != 200 {
			t.Errorf("health: got %d, want 200", a.status)
		}
	}
}

// otherAddress is an address of this machine that is not a loopback one.
func otherAddress(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses only")
	return ""
}

// Pages of other origins may read only what they are allowed to.
func TestOrigins(t *testing.T) {
	for _, tt := range []struct {
		allowed []string
		origin  string
		status  int
		echoed  string
	}{
		{nil, "", 404, ""},
		{nil, "https://app.example", 403, ""},
		{nil, "null", 403, ""},
		{nil, "own", 404, ""},
		{[]string{"https://app.example"}, "https://app.example", 404, "https://app.example"},
		{[]string{"https://app.example"}, "https://app.example.evil", 403, ""},
		{[]string{"https://app.example"}, "http://app.example", 403, ""},
		{[]string{"*"}, "https://any.example", 404, "*"},
		{[]string{"null"}, "null", 404, "null"},
	} {
		r := start(t, Options{AllowOrigins: tt.allowed}, redis.Options{})
		origin := tt.origin
		if origin == "own" {
			origin = r.url
		}
		a := r.get("/v1/get?key=k", "Origin", origin)
		if echoed := a.header.Get("Access-Control-Allow-Origin"); a.status != tt.status || echoed != tt.echoed {
			t.Errorf("%v from %q: got %d and %q, want %d and %q", tt.allowed, origin, a.status, echoed, tt.status, tt.echoed)
		}
		credentials := a.header.Get("Access-Control-Allow-Credentials")
		if (credentials == "true") != (tt.echoed != "" && tt.echoed != "*") {
			t.Errorf("%v from %q: got credentials %q", tt.allowed, origin, credentials)
		}
		asks := r.ask(r.request("OPTIONS", "/v1/live?command=GET", "Origin", origin, "Access-Control-Request-Method", "GET",
			"Access-Control-Request-Headers", "authorization"))
		want := http.StatusNoContent
		switch {
		case tt.status == 403:
			want = 403
		case tt.echoed == "":
			want = 405
		}
		if asks.status != want || (want == 204) != strings.Contains(asks.header.Get("Access-Control-Allow-Headers"), "Authorization") {
			t.Errorf("preflight, %v from %q: got %d %v, want %d", tt.allowed, origin, asks.status, asks.header, want)
		}
	}
}

// This is for reading only.
func TestMethods(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	for _, route := range []string{"/v1/get?key=k", "/v1/changes", "/v1/live?command=GET&arg=k", "/metrics", "/healthz", "/readyz", "/elsewhere"} {
		for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"} {
			if a := r.ask(r.request(method, route)); a.status != 405 || !strings.HasPrefix(a.header.Get("Allow"), "GET") {
				t.Errorf("%s %s: got %d %v, want 405", method, route, a.status, a.header)
			}
		}
	}
	for _, route := range []string{"/v1/changes", "/v1/live?command=GET&arg=k"} {
		if a := r.ask(r.request("HEAD", route)); a.status != 405 {
			t.Errorf("HEAD %s: got %d, want 405", route, a.status)
		}
	}
	// A body is not waited for.
	if got := r.raw("GET /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
		t.Errorf("a body: got %q", got)
	}
	if got := r.raw("POST /v1/get?key=k HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhalf"); !strings.HasPrefix(got, "HTTP/1.1 405 ") {
		t.Errorf("a body in chunks: got %q", got)
	}
}
