package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// go-redis with its default options: it opens with HELLO 3 and CLIENT SETINFO
// in one pipeline, and keeps a pool.

func goRedis(t *testing.T, args ...string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: startFirn(t, args...)})
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close client: %v", err)
		}
	})
	return client
}

func TestGoRedisSpeaksRESP3(t *testing.T) {
	client := goRedis(t)
	hello, err := client.Do(t.Context(), "HELLO").Result()
	if err != nil {
		t.Fatal(err)
	}
	fields, ok := hello.(map[any]any)
	if !ok || fields["proto"] != int64(3) {
		t.Errorf("HELLO: got %v, want a map with proto 3", hello)
	}
}

func TestGoRedisStrings(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	must(t, client.Set(ctx, "greeting", "hello\x00\r\nworld", 0).Err())
	want(t, client.Get(ctx, "greeting"), "hello\x00\r\nworld")
	if err := client.Get(ctx, "absent").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("GET absent: got %v, want redis.Nil", err)
	}
	want(t, client.IncrBy(ctx, "counter", 41), 41)
	want(t, client.Incr(ctx, "counter"), 42)
	won, err := client.SetNX(ctx, "greeting", "other", 0).Result()
	if err != nil || won {
		t.Errorf("SET NX on a key that is there: got %v, %v, want false", won, err)
	}
	err = client.HSet(ctx, "greeting", "f", "v").Err()
	if err == nil || !redis.HasErrorPrefix(err, "WRONGTYPE") {
		t.Errorf("HSET on a string: got %v, want WRONGTYPE", err)
	}
}

func TestGoRedisHashes(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.HSet(ctx, "user:1", "name", "Ada", "born", 1815), 2)
	want(t, client.HGet(ctx, "user:1", "name"), "Ada")
	got, err := client.HGetAll(ctx, "user:1").Result()
	if err != nil || !maps.Equal(got, map[string]string{"name": "Ada", "born": "1815"}) {
		t.Errorf("HGETALL: got %v, %v, want name and born", got, err)
	}
	want(t, client.HDel(ctx, "user:1", "born", "absent"), 1)
	want(t, client.HLen(ctx, "user:1"), 1)
}

func TestGoRedisExpiry(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	must(t, client.Set(ctx, "short", "v", time.Hour).Err())
	ttl, err := client.TTL(ctx, "short").Result()
	if err != nil || ttl <= 59*time.Minute || ttl > time.Hour {
		t.Errorf("TTL: got %v, %v, want about an hour", ttl, err)
	}
	want(t, client.Persist(ctx, "short"), true)
	want(t, client.PExpire(ctx, "short", time.Millisecond), true)
	eventually(t, "the key expires", func() bool { return client.Exists(ctx, "short").Val() == 0 })
}

func TestGoRedisTransactions(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	results, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "a", 1, 0)
		pipe.Incr(ctx, "a")
		pipe.Get(ctx, "a")
		return nil
	})
	if err != nil || len(results) != 3 {
		t.Fatalf("MULTI: got %d results, %v, want 3", len(results), err)
	}
	if got := results[2].(*redis.StringCmd).Val(); got != "2" {
		t.Errorf("GET in MULTI: got %q, want 2", got)
	}
}

func TestGoRedisWatchSeesInterference(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	must(t, client.Set(ctx, "balance", 10, 0).Err())
	spend := func(interfere bool) error {
		return client.Watch(ctx, func(tx *redis.Tx) error {
			balance, err := tx.Get(ctx, "balance").Int()
			if err != nil {
				return err
			}
			if interfere {
				if err := client.Set(ctx, "balance", 3, 0).Err(); err != nil {
					return err
				}
			}
			_, err = tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Set(ctx, "balance", balance-5, 0)
				return nil
			})
			return err
		}, "balance")
	}
	must(t, spend(false))
	want(t, client.Get(ctx, "balance"), "5")
	if err := spend(true); !errors.Is(err, redis.TxFailedErr) {
		t.Errorf("EXEC after interference: got %v, want %v", err, redis.TxFailedErr)
	}
	want(t, client.Get(ctx, "balance"), "3")
}

func TestGoRedisPipelineKeepsOrder(t *testing.T) {
	const commands = 10_000
	ctx, client := t.Context(), goRedis(t)
	results, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for range commands {
			pipe.Incr(ctx, "n")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, result := range results {
		if got := result.(*redis.IntCmd).Val(); got != int64(i+1) {
			t.Fatalf("reply %d: got %d, want %d", i, got, i+1)
		}
	}
}

func TestGoRedisScanVisitsEveryKeyOnce(t *testing.T) {
	const keys = 1000
	ctx, client := t.Context(), goRedis(t)
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for n := range keys {
			pipe.Set(ctx, fmt.Sprintf("scan:%03d", n), n, 0)
			pipe.Set(ctx, fmt.Sprintf("other:%03d", n), n, 0)
		}
		return nil
	})
	must(t, err)
	var got []string
	iterator := client.Scan(ctx, 0, "scan:*", 50).Iterator()
	for iterator.Next(ctx) {
		got = append(got, iterator.Val())
	}
	must(t, iterator.Err())
	slices.Sort(got)
	if distinct := len(slices.Compact(got)); distinct != keys {
		t.Errorf("keys scanned: got %d, want %d", distinct, keys)
	}
}

// want compares a command's reply.
func want[T comparable](t *testing.T, command interface{ Result() (T, error) }, want T) {
	t.Helper()
	got, err := command.Result()
	if err != nil || got != want {
		t.Errorf("%v: got %v, %v, want %v", command, got, err, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// eventually asks until the answer is yes, and fails the test when that takes
// longer than thirty seconds, far more than any server here needs.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain until %s", what)
		case <-again.C:
		}
	}
}
