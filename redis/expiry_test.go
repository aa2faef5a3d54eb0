package redis

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// A key that has expired is absent everywhere, whether it was swept or not,
// and its history says when it went.

// clocked is a session on a store whose clock the test moves.
type clocked struct {
	*ours
	*fakeClock
}

func newClocked(t *testing.T) clocked {
	clock := newFakeClock()
	store := openStore(t, firn.Options{Durability: firn.None, Now: clock.now})
	return clocked{newOurs(t, New(store, Options{Now: clock.now})), clock}
}

// ask sends a command and renders its reply.
func (o *ours) ask(t testing.TB, command string) string {
	t.Helper()
	return show(o.tell(t, SplitWords(t, command)...), ' ')
}

// expect sends commands and compares their replies.
func (o *ours) expect(t testing.TB, exchanges ...string) {
	t.Helper()
	for i := 0; i < len(exchanges); i += 2 {
		if got, want := o.ask(t, exchanges[i]), exchanges[i+1]; got != want {
			t.Errorf("%s\n got %s\nwant %s", exchanges[i], got, want)
		}
	}
}

func TestExpiredKeysAreAbsentBeforeTheyAreSwept(t *testing.T) {
	c := newClocked(t)
	c.expect(t, "SET a 1 PX 100", "OK", "HSET h f v", "(integer) 1", "PEXPIRE h 100", "(integer) 1", "SET stays 1", "OK")
	c.advance(100 * time.Millisecond)
	c.expect(t, "GET a", `"1"`, "PTTL a", "(integer) 0", "DBSIZE", "(integer) 3")
	c.advance(time.Millisecond)
	for range 2 { // the second time they are swept
		c.expect(t,
			"GET a", "(nil)", "STRLEN a", "(integer) 0", "GETDEL a", "(nil)", "GETEX a PERSIST", "(nil)",
			"EXISTS a h", "(integer) 0", "TYPE h", "none", "TTL a", "(integer) -2", "PERSIST a", "(integer) 0",
			"HGET h f", "(nil)", "HLEN h", "(integer) 0", "HGETALL h", "(empty array)", "HDEL h f", "(integer) 0",
			"KEYS *", `1) "stays"`, "SCAN 0", "1) \"0\"\n2) 1) \"stays\"", "RANDOMKEY", `"stays"`,
			"DBSIZE", "(integer) 1", "DEL a h", "(integer) 0", "RENAME a b", "(error) ERR no such key",
			"COPY a b", "(integer) 0", "MOVE a 1", "(integer) 0", "OBJECT ENCODING a", "(nil)",
			"SET a 2 XX", "(nil)", "EXPIRE a 10", "(integer) 0", "HRANDFIELD h", "(nil)")
		if err := keyspace.NewSweeper(c.Store).Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestExpiredKeysAreReplacedAsIfAbsent(t *testing.T) {
	c := newClocked(t)
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		c.expect(t, "SET "+key+" 5 PX 10", "OK")
	}
	c.expect(t, "HSET h f v", "(integer) 1", "PEXPIRE h 10", "(integer) 1", "SET g 1", "OK")
	c.advance(time.Second)
	c.expect(t,
		"SET a 1 NX", "OK", "INCR b", "(integer) 1", "APPEND c x", "(integer) 1", "HSET d f v", "(integer) 1",
		"SET e 1 KEEPTTL", "OK", "TTL e", "(integer) -1", "RENAMENX g f", "(integer) 1",
		"HSET h g w", "(integer) 1", "HGETALL h", "1) \"g\"\n2) \"w\"", "TTL b", "(integer) -1")
}

func TestVersionsGoOnThroughDeletionAndExpiry(t *testing.T) {
	c := newClocked(t)
	for _, command := range []string{"SET a 1", "INCR a", "DEL a", "DEL a", "HSET a f v", "HDEL a f", "SET a x PX 5"} {
		c.ask(t, command)
	}
	c.advance(time.Second)
	if err := keyspace.NewSweeper(c.Store).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.ask(t, "SETNX a y")
	c.ask(t, "RENAME a b")
	got, want := versionsIn(t, c.Store, "a"),
		"1 SET, 2 INCR, 3 DEL deleted, 4 HSET, 5 HDEL deleted, 6 SET, 7 expired deleted, 8 SETNX, 9 RENAME deleted"
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got, want := versionsIn(t, c.Store, "b"), "1 RENAME"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestWritesThatChangeNothingAppendNothing(t *testing.T) {
	c := newClocked(t)
	c.ask(t, "SET a 1")
	c.ask(t, "HSET h f v")
	before := c.Store.Bounds().Newest
	for _, command := range []string{
		"DEL nosuch", "SETNX a 2", "SET a 2 NX", "SET nosuch 1 XX", "HDEL h nosuch", "HSETNX h f w", "PERSIST a",
		"EXPIRE nosuch 10", "EXPIRE a 10 XX", "RENAME a a", "RENAMENX a h", "COPY a h", "MOVE nosuch 1", "GETEX a",
		"GETDEL nosuch", "MSETNX n 1 a 2", "SETRANGE a 0 \"\"", "SWAPDB 1 1", "INCR h", "HSET a f v", "INCRBY a x", "HINCRBY h f 1",
	} {
		c.advance(time.Second)
		c.ask(t, command)
		if got := c.Store.Bounds().Newest; got != before {
			t.Errorf("%s\n got a commit at %d\nwant none since %d", command, got, before)
			before = got
		}
	}
}

func TestSweeperTakesManyKeysInSteps(t *testing.T) {
	c := newClocked(t)
	for i := range keyspace.SweepBatch + 1 {
		c.ask(t, fmt.Sprintf("SET k%d v PX %d", i, i%7+1))
	}
	c.ask(t, "SET later v PX 10000")
	c.advance(time.Second)
	s := keyspace.NewSweeper(c.Store)
	for _, want := range []int{keyspace.SweepBatch, 1, 0} {
		if got, err := s.Step(); got != want || err != nil {
			t.Errorf("got %d, %v\nwant %d", got, err, want)
		}
	}
	c.expect(t, "KEYS *", `1) "later"`)
}

func TestSweeperRunsUntilItIsToldToStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := openStore(t, firn.Options{Durability: firn.None})
		c := newOurs(t, New(store, Options{}))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- keyspace.NewSweeper(store).Run(ctx) }()
		c.ask(t, "SET a 1 PX 500")
		<-time.After(601 * time.Millisecond)
		synctest.Wait()
		if got, want := versionsIn(t, store, "a"), "1 SET, 2 expired deleted"; got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got %v\nwant nil", err)
		}
	})
}

// TestSweeperLooksAsOftenAsHzSays: CONFIG SET hz holds from the next look on.
func TestSweeperLooksAsOftenAsHzSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
		c := newOurs(t, srv)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- srv.Sweeper().Run(ctx) }()
		looks := func() (n int) {
			srv.stats.rates.reset()
			<-time.After(10*time.Second + time.Millisecond)
			synctest.Wait()
			return srv.stats.rates.n
		}
		for _, tt := range []struct {
			hz   string
			want int
		}{{"", 100}, {"2", 20}, {"5", 50}, {"0", 10}} {
			if tt.hz != "" {
				c.expect(t, "CONFIG SET hz "+tt.hz, "OK")
				<-time.After(time.Second) // until the look before has passed
			}
			if got := looks(); got < tt.want-1 || got > tt.want+1 {
				t.Errorf("hz %s: got %d looks in ten seconds, want %d", tt.hz, got, tt.want)
			}
		}
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("got %v\nwant nil", err)
		}
	})
}

func TestHzIsBoundAsInRedis(t *testing.T) {
	redis := startRedis(t)()
	a, _ := NewPair(t, firn.Options{})
	for _, command := range []string{
		"CONFIG GET hz", "CONFIG SET hz 7", "CONFIG GET hz", "CONFIG SET hz 0", "CONFIG GET hz", "CONFIG SET hz 501", "CONFIG GET hz",
		"CONFIG SET hz -1", "CONFIG SET hz x", "CONFIG SET active-expire-effort 0", "CONFIG SET active-expire-effort 11", "CONFIG GET hz",
		"CONFIG SET active-expire-effort 10", "CONFIG GET active-expire-effort", "CONFIG SET hz 42",
	} {
		words := SplitWords(t, command)
		Check(t, command, string(a.tell(t, words...)), string(redis.tell(t, words...)))
	}
	if got := info(t, a, "server"); got["hz"] != "42" || got["configured_hz"] != "42" {
		t.Errorf("INFO: got hz %s and configured_hz %s, want 42", got["hz"], got["configured_hz"])
	}
	if pace := a.session.srv.pace(); pace.Looks != 42 || pace.Effort != 10 {
		t.Errorf("the sweeper's pace: got %+v, want 42 looks and effort 10", pace)
	}
}

func TestCreatedIsWhenTheKeyCameIntoBeing(t *testing.T) {
	c := newClocked(t)
	born := c.now()
	for _, exchange := range []struct {
		command, key string
		want         time.Time
	}{
		{"SET a 1", "a", born},
		{"SET a 2", "a", born},
		{"EXPIRE a 100", "a", born},
		{"COPY a b", "b", born.Add(3 * time.Second)},
		{"RENAME a c", "c", born},
		{"SET a 3", "a", born.Add(5 * time.Second)},
		{"HSET h f v", "h", born.Add(6 * time.Second)},
		{"HSET h g w", "h", born.Add(6 * time.Second)},
	} {
		c.ask(t, exchange.command)
		err := c.Store.View(func(s *firn.Snapshot) error {
			doc, err := s.Get(c.Store.Table(keyspace.KeysTable), keyspace.AppendKeyID(nil, keyspace.UID{}, []byte(exchange.key)))
			if err != nil {
				return err
			}
			k, err := keyspace.ParseKeyDoc(doc)
			if got, want := k.Created, exchange.want.UnixMilli(); got != want {
				t.Errorf("%s: %s\n got created %d\nwant %d", exchange.command, exchange.key, got, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		c.advance(time.Second)
	}
}

// versionsIn lists the versions of a key of database 0: version, operation and
// whether it is a tombstone.
func versionsIn(t *testing.T, store *firn.Store, key string) string {
	t.Helper()
	var out []string
	err := store.View(func(s *firn.Snapshot) error {
		id := keyspace.AppendKeyID(nil, keyspace.UID{}, []byte(key))
		for doc, err := range s.Versions(store.Table(keyspace.KeysTable), id, firn.VersionRange{}) {
			if err != nil {
				return err
			}
			k, err := keyspace.ParseKeyDoc(doc)
			if err != nil {
				return err
			}
			entry := fmt.Sprintf("%d %s", k.Version, k.Operation)
			if doc.Deleted {
				entry += " deleted"
			}
			out = append(out, entry)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}
