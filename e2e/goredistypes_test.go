package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// go-redis's typed API over every type.

func TestGoRedisLists(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.RPush(ctx, "l", "a", "b", "c"), 3)
	wantAll(t, client.LRange(ctx, "l", 0, -1), "a", "b", "c")
	want(t, client.LIndex(ctx, "l", -1), "c")
	want(t, client.LInsertBefore(ctx, "l", "b", "x"), 4)
	want(t, client.LMove(ctx, "l", "m", "left", "right"), "a")
	wantAll(t, client.LPopCount(ctx, "l", 2), "x", "b")
	want(t, client.LPos(ctx, "m", "a", redis.LPosArgs{}), 0)
	key, popped, err := client.LMPop(ctx, "left", 5, "none", "l").Result()
	if err != nil || key != "l" || !slices.Equal(popped, []string{"c"}) {
		t.Errorf("LMPOP: got %q, %q, %v, want l and [c]", key, popped, err)
	}
	if err := client.BLPop(ctx, 20*time.Millisecond, "l").Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("BLPOP of nothing: got %v, want redis.Nil", err)
	}
}

func TestGoRedisSets(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.SAdd(ctx, "s", "a", "b", "c"), 3)
	want(t, client.SAdd(ctx, "o", "b", "d"), 2)
	wantAll(t, client.SInter(ctx, "s", "o"), "b")
	want(t, client.SInterCard(ctx, 0, "s", "o"), 1)
	want(t, client.SUnionStore(ctx, "u", "s", "o"), 4)
	wantAll(t, client.SMIsMember(ctx, "s", "a", "z"), true, false)
	popped, err := client.SPopN(ctx, "u", 10).Result()
	slices.Sort(popped)
	if err != nil || !slices.Equal(popped, []string{"a", "b", "c", "d"}) {
		t.Errorf("SPOP of all: got %q, %v, want a to d", popped, err)
	}
}

func TestGoRedisSortedSets(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "one"}, redis.Z{Score: 2.5, Member: "two"}, redis.Z{Score: 3, Member: "three"}), 3)
	wantAll(t, client.ZRangeWithScores(ctx, "z", 0, 1), redis.Z{Score: 1, Member: "one"}, redis.Z{Score: 2.5, Member: "two"})
	wantAll(t, client.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "(1", Stop: "+inf", ByScore: true, Count: 1}), "two")
	want(t, client.ZRank(ctx, "z", "three"), 2)
	want(t, client.ZIncrBy(ctx, "z", 10, "one"), 11)
	wantAll(t, client.ZPopMax(ctx, "z"), redis.Z{Score: 11, Member: "one"})
	want(t, client.ZUnionStore(ctx, "u", &redis.ZStore{Keys: []string{"z", "z"}, Weights: []float64{1, 2}}), 2)
	want(t, client.ZScore(ctx, "u", "two"), 7.5)
	wantAll(t, client.ZDiff(ctx, "z", "none"), "two", "three")
	want(t, client.GeoAdd(ctx, "g", &redis.GeoLocation{Name: "Palermo", Longitude: 13.361389, Latitude: 38.115556},
		&redis.GeoLocation{Name: "Catania", Longitude: 15.087269, Latitude: 37.502669}), 2)
	want(t, client.GeoDist(ctx, "g", "Palermo", "Catania", "km"), 166.2742)
	wantAll(t, client.GeoSearch(ctx, "g", &redis.GeoSearchQuery{Longitude: 15, Latitude: 37, Radius: 200, RadiusUnit: "km", Sort: "ASC"}), "Catania", "Palermo")
}

func TestGoRedisStreams(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	for i := range 3 {
		want(t, client.XAdd(ctx, &redis.XAddArgs{Stream: "s", ID: fmt.Sprintf("%d-1", i+1), Values: []string{"n", fmt.Sprint(i)}}), fmt.Sprintf("%d-1", i+1))
	}
	must(t, client.XGroupCreate(ctx, "s", "g", "0").Err())
	read, err := client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "c", Streams: []string{"s", ">"}, Count: 2}).Result()
	if err != nil || len(read) != 1 || len(read[0].Messages) != 2 || read[0].Messages[1].Values["n"] != "1" {
		t.Fatalf("XREADGROUP: got %v, %v, want the first two entries", read, err)
	}
	want(t, client.XAck(ctx, "s", "g", "1-1"), 1)
	pending, err := client.XPending(ctx, "s", "g").Result()
	if err != nil || pending.Count != 1 || pending.Consumers["c"] != 1 {
		t.Errorf("XPENDING: got %+v, %v, want one of c", pending, err)
	}
	claimed, start, err := client.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: "s", Group: "g", Consumer: "d", Start: "0"}).Result()
	if err != nil || start != "0-0" || len(claimed) != 1 || claimed[0].ID != "2-1" {
		t.Errorf("XAUTOCLAIM: got %v, %q, %v, want 2-1", claimed, start, err)
	}
	groups, err := client.XInfoGroups(ctx, "s").Result()
	if err != nil || len(groups) != 1 || groups[0].Lag != 1 || groups[0].EntriesRead != 2 {
		t.Errorf("XINFO GROUPS: got %+v, %v, want a lag of 1 and 2 entries read", groups, err)
	}
	full, err := client.XInfoStreamFull(ctx, "s", 10).Result()
	if err != nil || full.EntriesAdded != 3 || len(full.Groups) != 1 || len(full.Groups[0].Consumers) != 2 {
		t.Errorf("XINFO STREAM FULL: got %+v, %v, want 3 entries and one group of two", full, err)
	}
	want(t, client.XTrimMaxLen(ctx, "s", 1), 2)
}

func TestGoRedisPublishesAndSubscribes(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	sub := client.Subscribe(ctx, "news")
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	patterns := client.PSubscribe(ctx, "w*")
	defer patterns.Close()
	if _, err := patterns.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	want(t, client.Publish(ctx, "news", "cold"), 1)
	want(t, client.Publish(ctx, "weather", "snow"), 1)
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	first, err := sub.ReceiveMessage(ctx)
	if err != nil || first.Channel != "news" || first.Payload != "cold" {
		t.Errorf("message: got %v, %v, want cold on news", first, err)
	}
	second, err := patterns.ReceiveMessage(ctx)
	if err != nil || second.Pattern != "w*" || second.Channel != "weather" || second.Payload != "snow" {
		t.Errorf("message by pattern: got %v, %v, want snow on weather", second, err)
	}
}

func TestGoRedisBitsAndCounts(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	want(t, client.SetBit(ctx, "b", 7, 1), 0)
	want(t, client.BitCount(ctx, "b", nil), 1)
	wantAll(t, client.BitField(ctx, "b", "INCRBY", "u8", 8, 255, "OVERFLOW", "SAT", "INCRBY", "u8", 8, 10), 255, 255)
	want(t, client.PFAdd(ctx, "h", "a", "b", "c"), 1)
	want(t, client.PFCount(ctx, "h"), 3)
}

func TestGoRedisReadsEveryTypeInThePast(t *testing.T) {
	ctx, client := t.Context(), goRedis(t)
	must(t, client.RPush(ctx, "l", "a").Err(), client.SAdd(ctx, "s", "a").Err(), client.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}).Err(),
		client.XAdd(ctx, &redis.XAddArgs{Stream: "x", ID: "1-1", Values: []string{"a", "1"}}).Err())
	then, err := client.Do(ctx, "HORIZON").Result()
	if err != nil {
		t.Fatal(err)
	}
	newest := then.(map[any]any)["newest"]
	must(t, client.FlushAll(ctx).Err())
	for _, command := range [][]any{{"LLEN", "l"}, {"SCARD", "s"}, {"ZCARD", "z"}, {"XLEN", "x"}} {
		now, err := client.Do(ctx, command...).Int()
		if err != nil || now != 0 {
			t.Errorf("%v now: got %v, %v, want 0", command, now, err)
		}
		before, err := client.Do(ctx, append([]any{"AT", newest}, command...)...).Int()
		if err != nil || before != 1 {
			t.Errorf("%v then: got %v, %v, want 1", command, before, err)
		}
	}
}

// wantAll checks a command that replies a list.
func wantAll[T comparable](t *testing.T, cmd interface{ Result() ([]T, error) }, expected ...T) {
	t.Helper()
	if got, err := cmd.Result(); err != nil || !slices.Equal(got, expected) {
		t.Errorf("%v: got %v, %v, want %v", cmd, got, err, expected)
	}
}
