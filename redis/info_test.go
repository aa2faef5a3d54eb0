package redis

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// INFO's figures are what happened.

// info is a section's fields.
func info(t testing.TB, o *ours, section string) map[string]string {
	t.Helper()
	fields := map[string]string{}
	for line := range strings.SplitSeq(ask(t, o, "INFO "+section).text, "\r\n") {
		if name, text, ok := strings.Cut(line, ":"); ok {
			fields[name] = text
		}
	}
	return fields
}

// TestInfoHasTheFieldsOfRedis: nothing that a tool may look for is missing.
func TestInfoHasTheFieldsOfRedis(t *testing.T) {
	redis := startRedis(t)()
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "SET k v EX 100")
	redis.tell(t, SplitWords(t, "SET k v EX 100")...)
	mine := info(t, a, "everything")
	for line := range strings.SplitSeq(ask(t, redis, "INFO everything").text, "\r\n") {
		name, _, ok := strings.Cut(line, ":")
		if ok && mine[name] == "" && name != "config_file" && !strings.HasPrefix(name, "cmdstat_") && !strings.HasPrefix(name, "latency_percentiles") {
			t.Errorf("INFO has no %s", name)
		}
	}
}

func TestInfoCountsHitsAndMisses(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "SET k v", "SET gone v PXAT 1", "GET k", "GET nosuch", "EXISTS k nosuch", "GET gone", "HGET k f")
	a.Run(t, "CONFIG RESETSTAT", "GET k", "GET k", "TTL nosuch")
	if got := info(t, b, "stats"); got["keyspace_hits"] != "2" || got["keyspace_misses"] != "1" {
		t.Errorf("hits and misses: got %s and %s, want 2 and 1", got["keyspace_hits"], got["keyspace_misses"])
	}
	Check(t, "in one pipeline", a.Run(t, "CONFIG RESETSTAT", "GET k"), "+OK\r\n$1\r\nv\r\n")
	if got := info(t, a, "stats")["keyspace_hits"]; got != "1" {
		t.Errorf("hits after RESETSTAT: got %s, want 1", got)
	}
}

func TestInfoCountsKeysThatExpire(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "SET a 1", "SET b 1 EX 1000", "SET c 1 EX 3000", "SET gone 1 PXAT 1", "SELECT 3", "SET d 1 EX 1000")
	got := info(t, a, "keyspace")
	for db, want := range map[string]string{"db0": "keys=3,expires=2,avg_ttl=", "db3": "keys=1,expires=1,avg_ttl="} {
		if !strings.HasPrefix(got[db], want) {
			t.Errorf("%s: got %s, want %s…", db, got[db], want)
		}
	}
	var ttl int
	if _, err := fmt.Sscanf(got["db0"], "keys=3,expires=2,avg_ttl=%d", &ttl); err != nil || ttl < 1_990_000 || ttl > 2_000_000 {
		t.Errorf("db0: got %s, want an avg_ttl of 2,000 seconds", got["db0"])
	}
}

// TestInfoOfThePastCountsThePast: a connection that looks at a moment is told
// how many keys there were then, of which how many had an end.
func TestInfoOfThePastCountsThePast(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, b := NewPair(t, firn.Options{Memory: memory})
		a.Run(t, "SET a 1", "SET b 1 EX 1000", "SELECT 3", "SET d 1", "SELECT 0")
		then := a.lastTS(t)
		a.Run(t, "DEL a", "SET c 1", "SET e 1", "SET f 1 EX 1000", "SWAPDB 3 4", "SET x 1")
		b.Run(t, "CLIENT ASOF "+then)
		got := info(t, b, "keyspace")
		if !strings.HasPrefix(got["db0"], "keys=2,expires=1,avg_ttl=") || !strings.HasPrefix(got["db3"], "keys=1,expires=0,") || got["db4"] != "" {
			t.Errorf("memory=%d, then: got %v, want two keys in db0 and one in db3", memory, got)
		}
		if now := info(t, a, "keyspace"); !strings.HasPrefix(now["db0"], "keys=5,expires=2,") || now["db3"] != "" {
			t.Errorf("memory=%d, now: got %v, want five keys in db0 and none in db3", memory, now)
		}
		a.Run(t, "SELECT 5", "SET gone 1 EX 1000")
		then = a.lastTS(t)
		a.Run(t, "SET gone 2 EX 1000", "HISTORY CLEAR gone", "SELECT 0")
		b.Run(t, "CLIENT ASOF "+then)
		if got := info(t, b, "keyspace"); !strings.HasPrefix(got["db0"], "keys=5,expires=2,") || got["db5"] != "compacted" {
			t.Errorf("memory=%d, beside what is forgotten: got %v, want five keys in db0, and db5 compacted", memory, got)
		}
		b.Run(t, "CLIENT ASOF OFF")
		if now := info(t, b, "keyspace"); !strings.HasPrefix(now["db0"], "keys=5,expires=2,") {
			t.Errorf("memory=%d, after OFF: got %v, want five keys in db0", memory, now)
		}
	}
}

// TestExpiriesAreNotCountedAllTheTime: a count that took long is used again.
func TestExpiriesAreNotCountedAllTheTime(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	a.Run(t, "SET b 1 EX 1000")
	x := &a.session.srv.expiries
	info(t, a, "keyspace")
	x.at, x.took = command.Clock(), time.Hour
	a.Run(t, "SET c 1 EX 1000")
	if got := info(t, a, "keyspace")["db0"]; !strings.HasPrefix(got, "keys=2,expires=1,") {
		t.Errorf("soon after a long count: got %s, want keys=2,expires=1", got)
	}
	x.took = 0
	if got := info(t, a, "keyspace")["db0"]; !strings.HasPrefix(got, "keys=2,expires=2,") {
		t.Errorf("later: got %s, want keys=2,expires=2", got)
	}
}

func TestInfoCountsExpiredKeysAndObeysDebug(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	srv := a.session.srv
	a.Run(t, "SET a 1 PXAT 1", "SET b 1 PXAT 1", "SET c 1")
	sweeper := srv.Sweeper()
	if err := sweeper.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := info(t, a, "stats")["expired_keys"]; got != "2" {
		t.Errorf("expired_keys: got %s, want 2", got)
	}
	a.Run(t, "DEBUG SET-ACTIVE-EXPIRE 0")
	if !srv.passive.Load() {
		t.Error("the sweeper goes on after DEBUG SET-ACTIVE-EXPIRE 0")
	}
}

func TestRatesAreThoseOfTheWindow(t *testing.T) {
	var r rates
	at := time.Unix(1000, 0)
	sample := func(after time.Duration, calls int64) float64 {
		got, _, _ := r.perSecond(rateSample{at: at.Add(after), calls: calls})
		return got
	}
	for _, tt := range []struct {
		after time.Duration
		calls int64
		want  float64
	}{
		{0, 100, 0},
		{50 * time.Millisecond, 200, 2000},
		{100 * time.Millisecond, 300, 2000},
		{time.Second, 300, 200},
		{2 * time.Second, 300, 0}, // only the sample after a second is in the window
		{10 * time.Second, 1100, 100},
	} {
		if got := sample(tt.after, tt.calls); got < tt.want*0.999 || got > tt.want*1.001 {
			t.Errorf("after %v: got %v, want %v", tt.after, got, tt.want)
		}
	}
	r.reset()
	if got := sample(20*time.Second, 0); got != 0 {
		t.Errorf("after a reset: got %v, want 0", got)
	}
}

func TestCheckpointsEmptyTheLog(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	for i := range 200 {
		a.Run(t, fmt.Sprintf("SET k%d %s", i, strings.Repeat("x", 1000)))
	}
	before := info(t, a, "persistence")
	Check(t, "SAVE", a.Run(t, "SAVE"), "+OK\r\n")
	Check(t, "BGSAVE", a.Run(t, "BGSAVE"), "+Background saving started\r\n")
	Check(t, "reads", a.Run(t, "GET k199")[:7], "$1000\r\n")
	if got := info(t, a, "persistence")["rdb_saves"]; before["rdb_saves"] != "0" || got != "2" {
		t.Errorf("rdb_saves: got %s and %s, want 0 and 2", before["rdb_saves"], got)
	}
}

func TestMemoryUsageCountsElements(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, _ := NewPair(t, firn.Options{Memory: memory})
		a.Run(t, "HSET h f "+strings.Repeat("x", 1000), "HSET h g y", "SET s "+strings.Repeat("x", 500))
		for key, least := range map[string]int{"h": 1001, "s": 500} {
			var n int
			if _, err := fmt.Sscanf(a.Run(t, "MEMORY USAGE "+key), ":%d", &n); err != nil || n < least || n > least+300 {
				t.Errorf("MEMORY USAGE %s with memory %d: got %d, want a little more than %d", key, memory, n, least)
			}
		}
		if got := ask(t, a, "MEMORY STATS").words(); got[22] != "keys.count" || got[23] != "2" {
			t.Errorf("MEMORY STATS: got %q, want keys.count 2", got[22:24])
		}
	}
}

// TestDigestsFollowTheContent: equal content has equal digests, whatever way
// it came about.
func TestDigestsFollowTheContent(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	digest := func() string { return a.Run(t, "DEBUG DIGEST") }
	Check(t, "of nothing", digest(), "+"+strings.Repeat("0", 40)+"\r\n")
	a.Run(t, "HSET h a 1 b 2", "SET s 1")
	first := digest()
	value := a.Run(t, "DEBUG DIGEST-VALUE h")
	a.Run(t, "DEL s h", "SET s 0", "INCR s", "HSET h b 2", "HSET h a 1")
	Check(t, "made again", digest(), first)
	Check(t, "a value", a.Run(t, "DEBUG DIGEST-VALUE h"), value)
	for _, change := range []string{"HSET h a 2", "HSET h a 1", "EXPIRE s 100", "PERSIST s", "SELECT 1", "SET s 1"} {
		a.Run(t, change)
		if same := digest() == first; same != (change == "HSET h a 1" || change == "PERSIST s" || change == "SELECT 1") {
			t.Errorf("digest after %s: same as at first: %t", change, same)
		}
	}
}

func TestEncodingLimitsAreSettings(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	l := &a.session.srv.catalog.Encodings
	a.Run(t, "CONFIG SET hash-max-listpack-entries 1 hash-max-ziplist-value 2 list-max-ziplist-size -1 set-max-intset-entries 4 "+
		"zset-max-listpack-entries 5 zset-max-ziplist-value 6 hll-sparse-max-bytes 7")
	got := []int64{l.HashEntries.Load(), l.HashValueBytes.Load(), l.ListSize.Load(), l.IntsetEntries.Load(), l.ZSetEntries.Load(), l.ZSetValueBytes.Load(), l.SparseBytes.Load()}
	if want := []int64{1, 2, -1, 4, 5, 6, 7}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("limits: got %v, want %v", got, want)
	}
	Check(t, "a failed CONFIG SET", a.Run(t, "CONFIG SET hash-max-listpack-entries 9 slowlog-max-len x"),
		"-ERR CONFIG SET failed (possibly related to argument 'slowlog-max-len') - argument couldn't be parsed into an integer\r\n")
	if n := l.HashEntries.Load(); n != 1 {
		t.Errorf("after a failed CONFIG SET: got %d, want 1", n)
	}
}

// TestConfigKnowsRedissParameters: a client that reads or sets any of them
// goes on, but for those of processes, which Firn does not have.
func TestConfigKnowsRedissParameters(t *testing.T) {
	redis := startRedis(t)()
	a, _ := NewPair(t, firn.Options{})
	mine := map[string]bool{}
	words := ask(t, a, "CONFIG GET *").words()
	for i := 0; i < len(words); i += 2 {
		mine[words[i]] = true
	}
	other := map[string]bool{"bind": true, "tracking-table-max-keys": true}
	theirs := ask(t, redis, "CONFIG GET *").words()
	for i := 0; i < len(theirs); i += 2 {
		if name := theirs[i]; !mine[name] && !other[name] {
			t.Errorf("CONFIG GET does not know %s", name)
		}
	}
}

// TestPopulateIsBounded: DEBUG POPULATE writes what it says, and refuses more
// than it should.
func TestPopulateIsBounded(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	Check(t, "POPULATE", a.Run(t, "SET p:7 mine", "DEBUG POPULATE 2500 p", "DBSIZE", "GET p:7", "GET p:2499"),
		"+OK\r\n+OK\r\n:2500\r\n$4\r\nmine\r\n$10\r\nvalue:2499\r\n")
	Check(t, "too many", a.Run(t, "DEBUG POPULATE 99999999999"), "-ERR value is out of range, must be positive\r\n")
	for size, want := range map[int64]int64{0: populateBatch, 10: populateBatch, 1 << 20: 4, populateBytes: 1, 2 * populateBytes: 1} {
		if got := populatedAtOnce(size); got != want {
			t.Errorf("keys of %d bytes in a transaction: got %d, want %d", size, got, want)
		}
	}
	if got := a.Run(t, "KEYINFO p:3"); !strings.Contains(got, "$5\r\nDEBUG\r\n") {
		t.Errorf("KEYINFO: got %q, want the operation DEBUG", got)
	}
	err := a.Store.View(func(snap *firn.Snapshot) error {
		n, err := snap.Count(a.session.srv.catalog.Keys, keyspace.AppendUID(nil, keyspace.UID{}))
		if n != 2500 {
			t.Errorf("keys: got %d, want 2,500", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInfoCountsWhoListensAndTracks(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k", "GET j", "SUBSCRIBE x y", "PSUBSCRIBE z*", "SSUBSCRIBE s")
	b.Run(t, "HELLO 3", "CLIENT TRACKING ON BCAST PREFIX p", "SUBSCRIBE x")
	got := info(t, b, "everything")
	for name, want := range map[string]string{
		"pubsub_channels": "2", "pubsub_patterns": "1", "pubsubshard_channels": "1",
		"tracking_clients": "2", "tracking_total_keys": "2", "tracking_total_items": "2", "tracking_total_prefixes": "1",
	} {
		if got[name] != want {
			t.Errorf("%s: got %s, want %s", name, got[name], want)
		}
	}
}
