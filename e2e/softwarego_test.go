package e2e

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redis/redis_rate/v10"
	"github.com/go-redsync/redsync/v4"
	redsyncpool "github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
	"github.com/ulule/limiter/v3"
	limiterstore "github.com/ulule/limiter/v3/drivers/store/redis"
)

// Locks and rate limiters of Go. asynq has a file of its own.

func TestSoftwareOfGo(t *testing.T) {
	for name, check := range map[string]func(*testing.T, string){
		"asynq":       checkAsynq,
		"redsync":     checkRedsync,
		"redislock":   checkRedislock,
		"rueidislock": checkRueidislock,
		"redis_rate":  checkRedisRate,
		"limiter":     checkLimiter,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachServer(t, check)
		})
	}
}

// clientOf is a client that ends with the test.
func clientOf(t *testing.T, addr string) *redis.Client {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// takeTurns lets callers count under a lock, and wants that none was lost and
// no two were inside at once.
func takeTurns(t *testing.T, client *redis.Client, locked func(func()) error) {
	t.Helper()
	const callers, each = 8, 5
	ctx := t.Context()
	var inside atomic.Int32
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range each {
				err := locked(func() {
					if inside.Add(1) != 1 {
						t.Error("two hold the lock at once")
					}
					n, err := client.Get(ctx, "count").Int()
					if err != nil && !errors.Is(err, redis.Nil) {
						t.Error(err)
					}
					if err := client.Set(ctx, "count", n+1, 0).Err(); err != nil {
						t.Error(err)
					}
					inside.Add(-1)
				})
				if err != nil {
					t.Errorf("lock: %v", err)
					return
				}
			}
		})
	}
	group.Wait()
	if got, err := client.Get(ctx, "count").Int(); err != nil || got != callers*each {
		t.Errorf("count: got %d, %v, want %d", got, err, callers*each)
	}
}

func checkRedsync(t *testing.T, addr string) {
	client := clientOf(t, addr)
	locks := redsync.New(redsyncpool.NewPool(client))
	takeTurns(t, client, func(work func()) error {
		mutex := locks.NewMutex("busy", redsync.WithTries(2000), redsync.WithRetryDelay(5*time.Millisecond), redsync.WithExpiry(time.Minute))
		if err := mutex.Lock(); err != nil {
			return err
		}
		work()
		_, err := mutex.Unlock()
		return err
	})
	mutex := locks.NewMutex("own", redsync.WithExpiry(30*time.Second))
	must(t, mutex.Lock())
	if err := locks.NewMutex("own", redsync.WithTries(1)).Lock(); err == nil {
		t.Error("lock what is held: got no error")
	}
	before := mutex.Until()
	if held, err := mutex.Extend(); err != nil || !held || !mutex.Until().After(before) {
		t.Errorf("extend: got %t, %v, until %v, want true and later than %v", held, err, mutex.Until(), before)
	}
	must(t, client.Set(t.Context(), "own", "another's", 0).Err())
	if freed, _ := mutex.Unlock(); freed {
		t.Error("unlock what another holds: got true")
	}
	if held, _ := mutex.Extend(); held {
		t.Error("extend what another holds: got true")
	}
}

func checkRedislock(t *testing.T, addr string) {
	ctx, client := t.Context(), clientOf(t, addr)
	locker := redislock.New(client)
	wait := &redislock.Options{RetryStrategy: redislock.LinearBackoff(5 * time.Millisecond)}
	takeTurns(t, client, func(work func()) error {
		lock, err := locker.Obtain(ctx, "busy", time.Minute, wait)
		if err != nil {
			return err
		}
		work()
		return lock.Release(ctx)
	})
	lock, err := locker.Obtain(ctx, "own", 10*time.Second, &redislock.Options{Metadata: "who"})
	must(t, err)
	if _, err := locker.Obtain(ctx, "own", time.Second, nil); !errors.Is(err, redislock.ErrNotObtained) {
		t.Errorf("obtain what is held: got %v, want ErrNotObtained", err)
	}
	must(t, lock.Refresh(ctx, time.Minute, nil))
	if left, err := lock.TTL(ctx); err != nil || left <= 10*time.Second {
		t.Errorf("TTL: got %v, %v, want more than 10s", left, err)
	}
	must(t, lock.Release(ctx))
	if err := lock.Release(ctx); !errors.Is(err, redislock.ErrLockNotHeld) {
		t.Errorf("release it again: got %v, want ErrLockNotHeld", err)
	}
	if left, err := lock.TTL(ctx); err != nil || left != 0 {
		t.Errorf("TTL of what was released: got %v, %v, want 0", left, err)
	}
}

func checkRueidislock(t *testing.T, addr string) {
	ctx, client := t.Context(), clientOf(t, addr)
	locker, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true},
		KeyMajority:  1,
	})
	must(t, err)
	defer locker.Close()
	takeTurns(t, client, func(work func()) error {
		_, release, err := locker.WithContext(ctx, "busy")
		if err != nil {
			return err
		}
		work()
		release()
		return nil
	})
	held, release, err := locker.WithContext(ctx, "own")
	must(t, err)
	other, err := rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption: rueidis.ClientOption{InitAddress: []string{addr}, ForceSingleClient: true},
		KeyMajority:  1,
	})
	must(t, err)
	defer other.Close()
	if _, _, err := other.TryWithContext(ctx, "own"); !errors.Is(err, rueidislock.ErrNotLocked) {
		t.Errorf("try what is held: got %v, want ErrNotLocked", err)
	}
	_, releaseForced, err := other.ForceWithContext(ctx, "own")
	must(t, err)
	select {
	case <-held.Done(): // the invalidation told the first of its loss
	case <-time.After(startLimit):
		t.Error("the first holder was not told that another took over")
	}
	release()
	releaseForced()
}

func checkRedisRate(t *testing.T, addr string) {
	ctx, client := t.Context(), clientOf(t, addr)
	limits := redis_rate.NewLimiter(client)
	limit := redis_rate.PerHour(10)
	var allowed atomic.Int32
	var group sync.WaitGroup
	for range 25 {
		group.Go(func() {
			result, err := limits.Allow(ctx, "user", limit)
			if err != nil {
				t.Errorf("allow: %v", err)
				return
			}
			allowed.Add(int32(result.Allowed))
		})
	}
	group.Wait()
	if got := allowed.Load(); got != 10 {
		t.Errorf("25 callers: got %d allowed, want 10", got)
	}
	result, err := limits.AllowAtMost(ctx, "other", limit, 15)
	must(t, err)
	if result.Allowed != 10 || result.Remaining != 0 || result.ResetAfter <= 0 {
		t.Errorf("at most 15: got %+v, want 10 allowed, 0 remaining and a time", result)
	}
	if result, err = limits.Allow(ctx, "other", limit); err != nil || result.Allowed != 0 || result.RetryAfter <= 0 {
		t.Errorf("one more: got %+v, %v, want none and a time", result, err)
	}
	must(t, limits.Reset(ctx, "other"))
	if result, err = limits.AllowN(ctx, "other", limit, 3); err != nil || result.Remaining != 7 {
		t.Errorf("after a reset: got %+v, %v, want 7 remaining", result, err)
	}
}

func checkLimiter(t *testing.T, addr string) {
	ctx := t.Context()
	store, err := limiterstore.NewStoreWithOptions(clientOf(t, addr), limiter.StoreOptions{Prefix: "limit"})
	must(t, err)
	limits := limiter.New(store, limiter.Rate{Period: time.Hour, Limit: 10})
	var reached atomic.Int32
	var group sync.WaitGroup
	for range 25 {
		group.Go(func() {
			got, err := limits.Get(ctx, "user")
			if err != nil {
				t.Errorf("get: %v", err)
			}
			if got.Reached {
				reached.Add(1)
			}
		})
	}
	group.Wait()
	if got := reached.Load(); got != 15 {
		t.Errorf("25 callers: got %d refused, want 15", got)
	}
	if got, err := limits.Increment(ctx, "other", 4); err != nil || got.Remaining != 6 {
		t.Errorf("increment by 4: got %+v, %v, want 6 remaining", got, err)
	}
	if got, err := limits.Peek(ctx, "other"); err != nil || got.Remaining != 6 {
		t.Errorf("peek: got %+v, %v, want 6 remaining", got, err)
	}
	short := limiter.New(store, limiter.Rate{Period: 200 * time.Millisecond, Limit: 1})
	eventually(t, "the limit is reached", func() bool { got, err := short.Get(ctx, "short"); return err == nil && got.Reached })
	eventually(t, "its period ends", func() bool { got, err := short.Peek(ctx, "short"); return err == nil && got.Remaining == 1 })
}
