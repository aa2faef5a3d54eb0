package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis"
)

// /v1/changes is CHANGES as events: each commit once, in order, with a token to
// come back with.

// commit is the data of a change event.
type commit struct {
	TS      int64
	Changes []struct {
		DB                         int
		Key, Table, ID             any
		Operation, Type, User, Who any
		Value                      any
	}
}

func (e event) commit(t *testing.T) (c commit) {
	t.Helper()
	if err := json.Unmarshal([]byte(e.data), &c); err != nil || e.kind != eventChange || len(c.Changes) == 0 {
		t.Fatalf("%+v: %v", e, err)
	}
	return c
}

func TestChangesAreEvents(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	s := r.open("/v1/changes")
	first := s.next(eventBookmark)
	if first.id == "" || !strings.HasPrefix(first.data, `{"ts":`) {
		t.Errorf("got %+v, want a token to come back with", first)
	}
	r.do("SET", "a", "1")
	r.do("SET", "b\xff", "2")
	r.do("DEL", "a")
	r.do("FLUSHALL")
	for _, want := range []string{
		`"changes":[{"db":0,"key":"a","operation":"SET","type":"string"}]`,
		`"changes":[{"db":0,"key":{"base64":"Yv8="},"operation":"SET","type":"string"}]`,
		`"changes":[{"db":0,"key":"a","operation":"DEL","type":"none"}]`,
	} {
		e := s.next(eventChange)
		if !strings.Contains(e.data, want) || e.id != r.store.Token(tsOf(e.commit(t).TS)) {
			t.Errorf("got %s with %s, want %s", e.data, e.id, want)
		}
	}
	if e := s.next(eventChange); !strings.Contains(e.data, `"key":null`) || !strings.Contains(e.data, `"type":"database"`) {
		t.Errorf("FLUSHALL: got %s", e.data)
	}
	s.body.Close()
	r.until("the session has ended", func() bool { return r.sessions() == 0 })
}

// Filters and what a change says are those of CHANGES.
func TestChangesWithFilters(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	from := r.store.Token(r.store.Bounds().Newest)
	for _, words := range []string{"SET app:1 x", "SET other y", "HSET app:2 f v", "SET app:3 z", "DEL app:1"} {
		r.do(strings.Fields(words)...)
	}
	for query, want := range map[string][]string{
		"match=app:*":               {"app:1", "app:2", "app:3", "app:1"},
		"match=app:1&match=other":   {"app:1", "other", "app:1"},
		"match=app:*&type=hash":     {"app:2"},
		"op=del":                    {"app:1"},
		"db=0&db=1&op=set&op=hset":  {"app:1", "other", "app:2", "app:3"},
		"match=app:%33&values&who=": {"app:3"},
	} {
		s := r.open("/v1/changes?from=" + from + "&" + query)
		for _, key := range want {
			e := s.next(eventChange)
			if got := e.commit(t).Changes[0].Key; got != key {
				t.Errorf("%s: got %v, want %s", query, got, key)
			}
			if strings.Contains(query, "values") != strings.Contains(e.data, `"value":"z"`) {
				t.Errorf("%s: got %s", query, e.data)
			}
		}
		s.body.Close()
	}
}

// A mistake is a status, before the stream begins.
func TestChangesRefusals(t *testing.T) {
	r := start(t, Options{}, redis.Options{Password: "pw"})
	if err := r.redis.SetUser("reader on >pw ~app:* +get"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query, authorization string
		status               int
	}{
		{"", "", 401},
		{"", basic("reader", "pw"), 403},
		{"from=nonsense", basic("", "pw"), 400},
		{"from=@short", basic("", "pw"), 400},
		{"from=%0d%0aid:1", basic("", "pw"), 400},
		{"db=99", basic("", "pw"), 400},
		{"db=x", basic("", "pw"), 400},
		{"type=nothing", basic("", "pw"), 400},
		{"table=nothing", basic("", "pw"), 400},
		{"values=perhaps", basic("", "pw"), 400},
		{"count=1", basic("", "pw"), 400},
		{"from=1&from=2", basic("", "pw"), 400},
	} {
		headers := []string{}
		if tt.authorization != "" {
			headers = []string{"Authorization", tt.authorization}
		}
		a := r.get("/v1/changes?"+tt.query, headers...)
		if code, _ := a.problem(t); a.status != tt.status || code == "" {
			t.Errorf("%q as %q: got %d %s, want %d", tt.query, tt.authorization, a.status, a.body, tt.status)
		}
	}
	if r.sessions() != 0 || r.web.streams.open() != 0 {
		t.Errorf("%d sessions and %d streams are left over", r.sessions(), r.web.streams.open())
	}
}

// A client that is cut off anywhere, comes back with the last id that it has
// seen, and finds the server started anew, sees each commit once and in order.
func TestChangesResumeWithoutGapOrDuplicate(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	const rounds, writes = 6, 40
	from, last, seen := r.store.Token(r.store.Bounds().Newest), "", []int64{}
	written := make(chan error, 1)
	for round := range rounds {
		s := r.open("/v1/changes?from="+from, "Last-Event-ID", last) // the address stays what it was
		go func() {
			c := converse(r.redis, "127.0.0.1:1", "127.0.0.1:2")
			defer c.close()
			for i := range writes {
				if _, err := c.ask(t.Context(), "SET", fmt.Sprint("k", i%3), strconv.Itoa(round*writes+i)); err != nil {
					written <- err
					return
				}
			}
			written <- nil
		}()
		for range round*7 + 1 { // cut off while more is written
			e := s.next(eventChange)
			seen, last = append(seen, e.commit(t).TS), e.id
		}
		s.body.Close()
		if err := <-written; err != nil {
			t.Fatal(err)
		}
		if round%2 == 1 {
			r.end()
			r.begin(Options{}, redis.Options{})
		}
	}
	s := r.open("/v1/changes", "Last-Event-ID", last)
	for len(seen) < rounds*writes {
		e := s.next(eventChange)
		seen = append(seen, e.commit(t).TS)
	}
	for i, ts := range seen {
		if i > 0 && ts <= seen[i-1] {
			t.Errorf("commit %d: got %d after %d", i, ts, seen[i-1])
		}
	}
	r.do("SET", "end", "1")
	if e := s.next(eventChange); !strings.Contains(e.data, `"key":"end"`) {
		t.Errorf("after %d commits: got %s, want the end", len(seen), e.data)
	}
}

// A token that leads nowhere any more is told, and the stream goes on from the
// token of that event: whoever reads the state as of it misses nothing.
func tsOf(ts int64) firn.Timestamp { return firn.Timestamp(ts) }

func TestChangesReset(t *testing.T) {
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
		s := r.open("/v1/changes?from=" + from)
		e := s.next(eventReset)
		if !strings.Contains(e.data, `{"error":"`+want+`","message":"`+want) || e.id == "" {
			t.Errorf("%s: got %+v", want, e)
		}
		if a := r.get("/v1/get?key=k&at=" + e.id); !strings.Contains(a.body, `"value":"new"`) {
			t.Errorf("%s: the state as of the reset: got %s", want, a.body)
		}
		r.do("SET", "next", want)
		if e := s.next(eventChange); !strings.Contains(e.data, `"key":"next"`) {
			t.Errorf("%s: after the reset: got %s", want, e.data)
		}
		s.body.Close()
	}
}

// A quiet stream shows that it lives, and its token does not grow old.
func TestQuietStreamsAreKept(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) { s.keepAlive = 20 * time.Millisecond })
	s := r.open("/v1/changes")
	s.next(eventBookmark)
	for range 3 {
		if e, err := s.any(); err != nil || e.comment == "" {
			t.Errorf("got %+v and %v, want a comment", e, err)
		}
	}
}

// The streams of one address have a limit; who leaves makes room.
func TestTooManyStreams(t *testing.T) {
	r := start(t, Options{MaxStreams: 2}, redis.Options{})
	first, second := r.open("/v1/changes"), r.open("/v1/changes")
	first.next(eventBookmark)
	second.next(eventBookmark)
	if a := r.get("/v1/changes"); a.status != http.StatusTooManyRequests {
		t.Errorf("got %d %s", a.status, a.body)
	}
	if a := r.get("/v1/get?key=k"); a.status != 404 {
		t.Errorf("no stream: got %d", a.status)
	}
	first.body.Close()
	r.until("there is room", func() bool { return r.web.streams.open() < 2 })
	r.open("/v1/changes").next(eventBookmark)
}

// A stream whose client does not read ends; the others, and writers, do not
// notice.
func TestStreamThatIsNotRead(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) { s.patience = 50 * time.Millisecond })
	value := strings.Repeat("x", 4<<20)
	stalled := r.dial()
	if _, err := stalled.Write([]byte("GET /v1/changes?values HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	reads := r.open("/v1/changes")
	reads.next(eventBookmark)
	r.until("both are there", func() bool { return r.web.streams.open() == 2 })
	for i := range 8 {
		r.do("SET", "k"+strconv.Itoa(i), value)
		reads.next(eventChange)
	}
	r.until("the stalled one has ended", func() bool { return r.web.streams.open() == 1 })
	if n := r.web.counts.slow.Load(); n != 1 {
		t.Errorf("got %d slow readers, want 1", n)
	}
	r.do("SET", "last", "1")
	reads.next(eventChange)
}

// Streams end when the server does, at once: nobody is waited for.
func TestServerEndsWhileStreamsRun(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) { s.lastWords = time.Hour })
	streams := []*stream{r.open("/v1/changes"), r.open("/v1/changes?match=x"), r.open("/v1/live?command=GET&arg=k")}
	r.until("all are there", func() bool { return r.web.streams.open() == 3 })
	r.end()
	for _, s := range streams {
		s.over()
	}
}

// Those that are not read are waited for, and not for long.
func TestServerEndsWhileStreamsStall(t *testing.T) {
	r := startWith(t, Options{}, redis.Options{}, func(s *Server) { s.lastWords, s.patience = 50*time.Millisecond, time.Hour })
	stalled := r.dial()
	if _, err := stalled.Write([]byte("GET /v1/changes?values HTTP/1.1\r\nHost: localhost\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func() bool { return r.web.streams.open() == 1 })
	for i := range 8 {
		r.do("SET", "k"+strconv.Itoa(i), strings.Repeat("x", 4<<20))
	}
	r.end()
}

// A client that another one kills is told, and gone.
func TestStreamsCanBeKilled(t *testing.T) {
	r := start(t, Options{}, redis.Options{})
	s := r.open("/v1/changes")
	s.next(eventBookmark)
	if list := r.do("CLIENT", "LIST"); !strings.Contains(list, "name=http") {
		t.Errorf("CLIENT LIST: got %s", list)
	}
	r.do("CLIENT", "KILL", "SKIPME", "yes")
	for {
		e, err := s.any()
		if err != nil {
			t.Fatalf("got %v before the end was told", err)
		}
		if e.kind == eventEnd {
			break
		}
	}
	s.over()
	r.until("the session has ended", func() bool { return r.sessions() == 0 })
}
