package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/rueidis"
)

// rueidis multiplexes all callers over few connections with automatic
// pipelining, in RESP3.

func rueidisClient(t *testing.T) rueidis.Client {
	t.Helper()
	client, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress:       []string{startFirn(t)},
		ForceSingleClient: true,
		DisableCache:      true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestRueidisCommands(t *testing.T) {
	ctx, client := t.Context(), rueidisClient(t)
	must(t, client.Do(ctx, client.B().Set().Key("k").Value("v").Build()).Error())
	if got, err := client.Do(ctx, client.B().Get().Key("k").Build()).ToString(); err != nil || got != "v" {
		t.Errorf("GET: got %q, %v, want v", got, err)
	}
	if err := client.Do(ctx, client.B().Get().Key("absent").Build()).Error(); !rueidis.IsRedisNil(err) {
		t.Errorf("GET absent: got %v, want a null", err)
	}
	must(t, client.Do(ctx, client.B().Hset().Key("h").FieldValue().FieldValue("f", "1").Build()).Error())
	got, err := client.Do(ctx, client.B().Hgetall().Key("h").Build()).AsStrMap()
	if err != nil || len(got) != 1 || got["f"] != "1" {
		t.Errorf("HGETALL: got %v, %v, want f=1", got, err)
	}
}

func TestRueidisCallersShareAConnection(t *testing.T) {
	const callers, each = 50, 100
	ctx, client := t.Context(), rueidisClient(t)
	var group sync.WaitGroup
	for n := range callers {
		group.Go(func() {
			key := fmt.Sprintf("k%d", n)
			for i := range int64(each) {
				got, err := client.Do(ctx, client.B().Incr().Key(key).Build()).AsInt64()
				if err != nil || got != i+1 {
					t.Errorf("INCR %s: got %d, %v, want %d", key, got, err, i+1)
					return
				}
				if err := client.Do(ctx, client.B().Incr().Key("sum").Build()).Error(); err != nil {
					t.Errorf("INCR sum: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
	if got, err := client.Do(ctx, client.B().Get().Key("sum").Build()).AsInt64(); err != nil || got != callers*each {
		t.Errorf("sum: got %d, %v, want %d", got, err, callers*each)
	}
}

func TestRueidisDedicatedTransaction(t *testing.T) {
	ctx, client := t.Context(), rueidisClient(t)
	err := client.Dedicated(func(c rueidis.DedicatedClient) error {
		must(t, c.Do(ctx, c.B().Watch().Key("k").Build()).Error())
		replies := c.DoMulti(ctx,
			c.B().Multi().Build(),
			c.B().Set().Key("k").Value("1").Build(),
			c.B().Incr().Key("k").Build(),
			c.B().Exec().Build(),
		)
		results, err := replies[3].ToArray()
		if err != nil || len(results) != 2 {
			t.Errorf("EXEC: got %d results, %v, want 2", len(results), err)
			return nil
		}
		if got, err := results[1].AsInt64(); err != nil || got != 2 {
			t.Errorf("INCR in EXEC: got %d, %v, want 2", got, err)
		}
		return nil
	})
	must(t, err)
}

// TestRueidisByDefault sets nothing but the address: the client finds out by
// itself that there is no cluster, and keeps copies of what it reads.
func TestRueidisByDefault(t *testing.T) {
	ctx := t.Context()
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{startFirn(t)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	must(t, client.Do(ctx, client.B().Zadd().Key("z").ScoreMember().ScoreMember(1.5, "a").ScoreMember(2, "b").Build()).Error())
	scores, err := client.Do(ctx, client.B().Zrange().Key("z").Min("0").Max("-1").Withscores().Build()).AsZScores()
	if err != nil || len(scores) != 2 || scores[0] != (rueidis.ZScore{Member: "a", Score: 1.5}) {
		t.Errorf("ZRANGE: got %v, %v, want a with 1.5, and b", scores, err)
	}
	for _, hit := range []bool{false, true} {
		reply := client.DoCache(ctx, client.B().Zcard().Key("z").Cache(), time.Minute)
		got, err := reply.AsInt64()
		if err != nil || got != 2 || reply.IsCacheHit() != hit {
			t.Errorf("ZCARD: got %d, %v, from the copy %v; want 2, from the copy %v", got, err, reply.IsCacheHit(), hit)
		}
	}
	must(t, client.Do(ctx, client.B().Mset().KeyValue().KeyValue("a", "1").KeyValue("b", "2").Build()).Error())
	got, err := rueidis.MGetCache(client, ctx, time.Minute, []string{"a", "b", "c"})
	if err != nil || len(got) != 3 {
		t.Errorf("MGET through copies: got %v, %v, want three replies", got, err)
	}
}
