package e2e

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

// What the server says unasked reaches the clients' own machinery: caches and
// subscriptions.

// TestRueidisCaches has a client keep copies, which another client makes old.
func TestRueidisCaches(t *testing.T) {
	ctx, address := t.Context(), startFirn(t)
	var clients []rueidis.Client
	for range 2 {
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, ForceSingleClient: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		clients = append(clients, client)
	}
	reader, writer := clients[0], clients[1]
	read := func() (string, bool) {
		reply := reader.DoCache(ctx, reader.B().Get().Key("k").Cache(), time.Minute)
		value, err := reply.ToString()
		must(t, err)
		return value, reply.IsCacheHit()
	}
	for _, want := range []string{"one", "two", "three"} {
		must(t, writer.Do(ctx, writer.B().Set().Key("k").Value(want).Build()).Error())
		deadline := time.Now().Add(startLimit)
		for got, _ := read(); got != want; got, _ = read() { // the invalidation is on its way
			if time.Now().After(deadline) {
				t.Fatalf("the copy: got %s, want %s", got, want)
			}
		}
		if got, hit := read(); got != want || !hit {
			t.Errorf("again: got %s, from the cache %t, want %s and true", got, hit, want)
		}
	}
}

func TestGoRedisSubscribes(t *testing.T) {
	ctx := t.Context()
	for _, protocol := range []int{2, 3} {
		client := redis.NewClient(&redis.Options{Addr: startFirn(t), Protocol: protocol})
		t.Cleanup(func() { client.Close() })
		must(t, client.ConfigSet(ctx, "notify-keyspace-events", "KEA").Err())
		sub := client.PSubscribe(ctx, "__keyevent@0__:*")
		t.Cleanup(func() { sub.Close() })
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		must(t, sub.Subscribe(ctx, "news"))
		if _, err := sub.Receive(ctx); err != nil {
			t.Fatal(err)
		}
		must(t, client.Publish(ctx, "news", "hello").Err())
		must(t, client.Set(ctx, "k", "v", 50*time.Millisecond).Err())
		for _, want := range []string{"news hello", "__keyevent@0__:set k", "__keyevent@0__:expire k", "__keyevent@0__:expired k"} {
			m, err := sub.ReceiveMessage(ctx)
			must(t, err)
			if got := m.Channel + " " + m.Payload; got != want {
				t.Errorf("protocol %d: got %s, want %s", protocol, got, want)
			}
		}
	}
}
