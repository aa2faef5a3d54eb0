package web

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// /v1/live is LIVE as events: the reply now, and each new one.

func (e event) reply() string {
	_, reply, _ := strings.Cut(e.data, `"reply":`)
	return strings.TrimSuffix(reply, "}")
}

func TestLiveIsEvents(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	r.do("HSET", "cart:7", "apples", "1")
	s := r.open("/v1/live?command=HGETALL&arg=cart:7")
	first := s.next(eventLive)
	if first.reply() != `{"apples":"1"}` || first.id == "" {
		t.Errorf("got %+v", first)
	}
	if a := r.get("/v1/get?key=cart:7&at=" + first.id); !strings.Contains(a.body, `"value":{"apples":"1"}`) {
		t.Errorf("as of the first token: got %s", a.body)
	}
	r.do("HSET", "cart:7", "pears", "\xff")
	if e := s.next(eventLive); e.reply() != `{"apples":"1","pears":{"base64":"/w=="}}` || e.id == first.id {
		t.Errorf("got %+v", e)
	}
	r.do("SET", "other", "1")
	r.do("DEL", "cart:7")
	if e := s.next(eventLive); e.reply() != `{}` || !strings.HasPrefix(e.data, fmt.Sprintf(`{"ts":%d,`, r.store.Bounds().Newest)) {
		t.Errorf("got %+v", e)
	}
	s.body.Close()
	r.until("the session has ended", func() bool { return r.sessions() == 0 })
}

// Several commands are one query, whose replies are of one moment; a database
// is a parameter; a command may have two words.
func TestLiveQueries(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	r.do("SET", "a", "1")
	r.do("XADD", "x", "1-1", "f", "v")
	s := r.open("/v1/live?command=GET&arg=a&command=MGET&arg=a&arg=b")
	if e := s.next(eventLive); e.reply() != `["1",["1",null]]` {
		t.Errorf("got %+v", e)
	}
	r.do("MSET", "a", "2", "b", "3")
	if e := s.next(eventLive); e.reply() != `["2",["2","3"]]` {
		t.Errorf("got %+v", e)
	}
	other := r.open("/v1/live?command=GET&arg=a&db=3")
	if e := other.next(eventLive); e.reply() != `null` {
		t.Errorf("another database: got %+v", e)
	}
	words := r.open("/v1/live?command=OBJECT+ENCODING&arg=a")
	if e := words.next(eventLive); e.reply() != `"int"` {
		t.Errorf("two words: got %+v", e)
	}
}

// A mistake is a status, before the stream begins.
func TestLiveRefusals(t *testing.T) {
	r := start(t, Options{}, redis.Options{Password: "pw"})
	if err := r.redis.SetUser("reader on >pw ~app:* +live +get"); err != nil {
		t.Fatal(err)
	}
	if err := r.redis.SetUser("nobody on >pw ~* +get"); err != nil {
		t.Fatal(err)
	}
	admin := basic("", "pw")
	for _, tt := range []struct {
		query, authorization string
		status               int
	}{
		{"command=GET&arg=app:1", "", 401},
		{"command=GET&arg=k", basic("reader", "pw"), 403},
		{"command=GET&arg=app:1&command=GET&arg=k", basic("reader", "pw"), 403},
		{"command=STRLEN&arg=app:1", basic("reader", "pw"), 403},
		{"command=GET&arg=k", basic("nobody", "pw"), 403},
		{"", admin, 400},
		{"arg=k&command=GET", admin, 400},
		{"command=", admin, 400},
		{"command=GET", admin, 400},
		{"command=NOSUCH&arg=k", admin, 400},
		{"command=SET&arg=k&arg=v", admin, 400},
		{"command=GET&arg=a&command=SET&arg=k&arg=v", admin, 400},
		{"command=BLPOP&arg=k&arg=0", admin, 400},
		{"command=RANDOMKEY", admin, 400},
		{"command=LIVE&arg=1&arg=GET&arg=k", admin, 400},
		{"command=MULTI", admin, 400},
		{"command=RESUME&arg=x&arg=GET&arg=k", admin, 400},
		{"command=EXEC", admin, 400},
		{"command=GET&arg=k&command=EXEC", admin, 400},
		{"command=GET&arg=k&command=DISCARD", admin, 400},
		{"command=GET&arg=k&command=RESET", admin, 400},
		{"command=GET&arg=k&command=QUIT", admin, 400},
		{"command=GET&arg=k&db=99", admin, 400},
		{"command=GET&arg=k&from=nonsense", admin, 400},
		{"command=GET&arg=k&since=1", admin, 400},
		{"command=LRANGE&arg=k&arg=a&arg=b", admin, 400},
	} {
		headers := []string{}
		if tt.authorization != "" {
			headers = []string{"Authorization", tt.authorization}
		}
		a := r.get("/v1/live?"+tt.query, headers...)
		if a.header.Get("Content-Type") != "application/json" {
			t.Errorf("%q: got %d %s", tt.query, a.status, a.header)
			continue
		}
		if code, _ := a.problem(t); a.status != tt.status || code == "" {
			t.Errorf("%q as %.12q: got %d %s, want %d", tt.query, tt.authorization, a.status, a.body, tt.status)
		}
	}
	if r.sessions() != 0 {
		t.Errorf("%d sessions are left over", r.sessions())
	}
}

// A client that comes back with the last id is told the reply only if it is a
// new one: also through a restart, and after its own first reply.
func TestLiveResumes(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	const query = "/v1/live?command=GET&arg=k"
	r.do("SET", "k", "one")
	s := r.open(query)
	if e := s.next(eventLive); e.reply() != `"one"` {
		t.Fatalf("got %+v", e)
	}
	s.body.Close()
	comeBack := func(want string) {
		t.Helper()
		last := s.id
		s = r.open(query, "Last-Event-ID", last)
		e, err := s.any()
		if err != nil || want == "" && e.kind != eventBookmark || want != "" && (e.kind != eventLive || e.reply() != want) || e.id == "" {
			t.Errorf("back with %s: got %+v and %v, want %s", last, e, err, want)
		}
		s.body.Close()
	}
	comeBack("")
	r.do("SET", "other", "1")
	comeBack("")
	r.do("SET", "k", "two")
	comeBack(`"two"`)
	comeBack("")
	r.do("SET", "k", "three")
	r.do("SET", "k", "two") // what the client has is what is
	comeBack("")
	r.end()
	r.begin(Options{}, redis.Options{})
	comeBack("")
	r.do("SET", "k", "four")
	comeBack(`"four"`)
	r.do("DEL", "k")
	comeBack(`null`)
}

// A token that leads nowhere any more is told, and then the reply as it is.
func TestLiveReset(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	other := start(t, Options{}, redis.Options{})
	r.do("SET", "k", "old")
	old := r.store.Token(r.store.Bounds().Newest)
	r.do("SET", "k", "new")
	if _, err := r.store.Prune(t.Context(), r.store.Bounds().Newest); err != nil {
		t.Fatal(err)
	}
	for want, from := range map[string]string{
		"COMPACTED": old,
		"FORKED":    other.store.Token(r.store.Bounds().Newest),
		"FUTURE":    r.store.Token(r.store.Bounds().Newest + 1e12),
	} {
		s := r.open("/v1/live?command=GET&arg=k&from=" + from)
		reset := s.next(eventReset)
		if !strings.Contains(reset.data, `{"error":"`+want+`","message":"`+want) {
			t.Errorf("%s: got %+v", want, reset)
		}
		if e := s.next(eventLive); e.reply() != `"new"` || e.id == "" {
			t.Errorf("%s: after the reset: got %+v", want, e)
		}
		s.body.Close()
	}
}

// What a client is sent in the end is the state, however fast that changes, and
// whether it reads or not.
func TestLiveSettlesOnTheNewest(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	r.do("SET", "k", "0")
	s := r.open("/v1/live?command=GET&arg=k")
	s.next(eventLive)
	for i := range 500 {
		r.do("SET", "k", strconv.Itoa(i+1))
	}
	last, before := 0, s.id
	for last < 500 {
		e := s.next(eventLive)
		n, err := strconv.Atoi(strings.Trim(e.reply(), `"`))
		if err != nil || n <= last || e.id == before {
			t.Fatalf("got %s with %s after %d with %s", e.data, e.id, last, before)
		}
		last, before = n, e.id
	}
}

// A stream ends when the query cannot be answered any more, and says why.
func TestLiveEndsWithItsRights(t *testing.T) {
	r := start(t, Options{}, redis.Options{Password: "pw"})
	if err := r.redis.SetUser("reader on >pw ~app:* +live +get"); err != nil {
		t.Fatal(err)
	}
	admin := func(words ...string) {
		t.Helper()
		c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
		defer c.close()
		for _, w := range [][]string{{"AUTH", "pw"}, words} {
			if v, err := c.ask(t.Context(), w...); err != nil || v.IsError() {
				t.Fatalf("%s: %v %v", w, v.Text, err)
			}
		}
	}
	admin("SET", "app:1", "x")
	s := r.open("/v1/live?command=GET&arg=app:1", "Authorization", basic("reader", "pw"))
	s.next(eventLive)
	admin("ACL", "SETUSER", "reader", "resetkeys", "~other")
	admin("SET", "app:1", "secret")
	for {
		e, err := s.any()
		if err != nil || strings.Contains(e.data, "secret") {
			t.Fatalf("got %+v and %v", e, err)
		}
		if e.kind == eventEnd {
			if !strings.Contains(e.data, "NOPERM") {
				t.Errorf("got %+v", e)
			}
			break
		}
	}
	s.over()
	if a := r.get("/v1/live?command=GET&arg=app:1", "Authorization", basic("reader", "pw")); a.status != 403 {
		t.Errorf("coming back: got %d %s", a.status, a.body)
	}
}
