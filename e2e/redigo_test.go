package e2e

import (
	"slices"
	"testing"

	"github.com/gomodule/redigo/redis"
)

// redigo says nothing when it connects and speaks RESP2: the plainest client
// there is, with pipelines by hand.

func redigo(t *testing.T) redis.Conn {
	t.Helper()
	conn, err := redis.Dial("tcp", startFirn(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Errorf("close connection: %v", err)
		}
	})
	return conn
}

func TestRedigoCommands(t *testing.T) {
	conn := redigo(t)
	if got, err := redis.String(conn.Do("SET", "k", []byte{0, 255, '\n'})); err != nil || got != "OK" {
		t.Errorf("SET: got %q, %v, want OK", got, err)
	}
	if got, err := redis.Bytes(conn.Do("GET", "k")); err != nil || string(got) != "\x00\xff\n" {
		t.Errorf("GET: got %q, %v, want the bytes as they were", got, err)
	}
	if _, err := redis.String(conn.Do("GET", "absent")); err != redis.ErrNil {
		t.Errorf("GET absent: got %v, want %v", err, redis.ErrNil)
	}
	if _, err := conn.Do("MSET", "a", 1, "b", 2.5); err != nil {
		t.Fatal(err)
	}
	if got, err := redis.Strings(conn.Do("MGET", "a", "absent", "b")); err != nil || !slices.Equal(got, []string{"1", "", "2.5"}) {
		t.Errorf("MGET: got %q, %v, want 1, nothing and 2.5", got, err)
	}
	if got, err := redis.StringMap(conn.Do("HGETALL", "absent")); err != nil || len(got) != 0 {
		t.Errorf("HGETALL absent: got %v, %v, want nothing", got, err)
	}
}

func TestRedigoPipelineMixesErrorsAndReplies(t *testing.T) {
	conn := redigo(t)
	for _, command := range [][]any{{"SET", "k", "v"}, {"INCR", "k"}, {"NOSUCH"}, {"GET", "k"}} {
		if err := conn.Send(command[0].(string), command[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"OK",
		"ERR value is not an integer or out of range",
		"ERR unknown command 'NOSUCH', with args beginning with: ",
		"v",
	} {
		got, err := redis.String(conn.Receive())
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("reply: got %q, want %q", got, want)
		}
	}
}

func TestRedigoTransactionIsDiscarded(t *testing.T) {
	conn := redigo(t)
	for _, command := range [][]any{{"MULTI"}, {"SET", "k", "v"}, {"DISCARD"}} {
		if _, err := conn.Do(command[0].(string), command[1:]...); err != nil {
			t.Fatalf("%v: %v", command, err)
		}
	}
	if got, err := redis.Int(conn.Do("EXISTS", "k")); err != nil || got != 0 {
		t.Errorf("EXISTS after DISCARD: got %d, %v, want 0", got, err)
	}
}

func TestRedigoReadsThePast(t *testing.T) {
	conn := redigo(t)
	if _, err := conn.Do("SET", "k", "old"); err != nil {
		t.Fatal(err)
	}
	then, err := redis.Int64(conn.Do("LASTTS"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Do("SET", "k", "new"); err != nil {
		t.Fatal(err)
	}
	if got, err := redis.String(conn.Do("AT", then, "GET", "k")); err != nil || got != "old" {
		t.Errorf("AT %d GET: got %q, %v, want old", then, got, err)
	}
	if got, err := redis.String(conn.Do("GET", "k")); err != nil || got != "new" {
		t.Errorf("GET: got %q, %v, want new", got, err)
	}
}

func TestRedigoSubscribes(t *testing.T) {
	addr := startFirn(t)
	var conns [2]redis.Conn
	for i := range conns {
		conn, err := redis.Dial("tcp", addr, redis.DialReadTimeout(startLimit))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns[i] = conn
	}
	sub := redis.PubSubConn{Conn: conns[0]}
	must(t, sub.Subscribe("news"), sub.PSubscribe("w*"), sub.Ping("still there"))
	for _, want := range []any{
		redis.Subscription{Kind: "subscribe", Channel: "news", Count: 1},
		redis.Subscription{Kind: "psubscribe", Channel: "w*", Count: 2},
		redis.Pong{Data: "still there"},
	} {
		if got := sub.Receive(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for _, channel := range []string{"news", "weather"} {
		if got, err := redis.Int(conns[1].Do("PUBLISH", channel, "snow")); err != nil || got != 1 {
			t.Errorf("PUBLISH %s: got %d, %v, want 1", channel, got, err)
		}
	}
	for _, want := range []redis.Message{{Channel: "news"}, {Pattern: "w*", Channel: "weather"}} {
		got, ok := sub.Receive().(redis.Message)
		if !ok || got.Channel != want.Channel || got.Pattern != want.Pattern || string(got.Data) != "snow" {
			t.Errorf("got %+v, want snow on %s", got, want.Channel)
		}
	}
	must(t, sub.Unsubscribe(), sub.PUnsubscribe())
	for _, kind := range []string{"unsubscribe", "punsubscribe"} {
		if got, ok := sub.Receive().(redis.Subscription); !ok || got.Kind != kind {
			t.Errorf("got %+v, want %s", got, kind)
		}
	}
	if got, err := redis.String(conns[0].Do("PING")); err != nil || got != "PONG" {
		t.Errorf("PING after all: got %q, %v, want PONG", got, err)
	}
}
