package redis

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// The sweeper takes small steps, does not walk twice over what it has ended,
// and misses nothing for that.

func newSweeping(t *testing.T) (clocked, *keyspace.Sweeper) {
	clock := newFakeClock()
	srv := New(openStore(t, firn.Options{Durability: firn.None, Now: clock.now}), Options{Now: clock.now})
	return clocked{newOurs(t, srv), clock}, srv.Sweeper()
}

func (c clocked) sweepWith(t *testing.T, s *keyspace.Sweeper) {
	t.Helper()
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// left is how many entries of an index are live.
func left(t *testing.T, store *firn.Store, x *firn.Index) (n int) {
	t.Helper()
	err := store.View(func(s *firn.Snapshot) error {
		for _, err := range s.Scan(firn.Range{Index: x}) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSweeperGoesOnWhereItWas(t *testing.T) {
	c, s := newSweeping(t)
	for i := range 3 * keyspace.SweepBatch {
		c.ask(t, fmt.Sprintf("SET k%03d v PX 1000", i))
	}
	c.advance(2 * time.Second)
	for _, last := range []string{"k127", "k255", "k383"} {
		s.Batch = keyspace.SweepBatch
		if n, err := s.Step(); n != keyspace.SweepBatch || err != nil {
			t.Fatalf("step: got %d keys, %v, want %d", n, err, keyspace.SweepBatch)
		}
		if !strings.HasSuffix(string(s.From), string(tuple.AppendBytes(nil, []byte(last)))) {
			t.Errorf("the next step begins: got %q, want the entry of %s", s.From, last)
		}
	}
	c.sweepWith(t, s)
	c.expect(t, "DBSIZE", "(integer) 0")
	if got := left(t, c.Store, s.View.Expiry); got != 0 {
		t.Errorf("keys to end: got %d, want 0", got)
	}
}

// TestSweeperLooksFromNearNowOnceNothingIsDue: keys that were given another
// end leave entries behind that are not walked over for ever.
func TestSweeperLooksFromNearNowOnceNothingIsDue(t *testing.T) {
	c, s := newSweeping(t)
	c.expect(t, "SET a v PX 100", "OK", "PERSIST a", "(integer) 1")
	c.advance(time.Minute)
	c.sweepWith(t, s)
	moment, _, err := tuple.TakeInt(s.From)
	if want := c.now().Add(-keyspace.SweepSlack).UnixMilli(); err != nil || moment != want {
		t.Errorf("nothing is due before: got %d, %v, want %d", moment, err, want)
	}
}

// TestSweeperFindsWhatEndedBeforeItWasWritten: SET with a time that has passed
// stores the key, as in Redis, and the sweeper has been there.
func TestSweeperFindsWhatEndedBeforeItWasWritten(t *testing.T) {
	for _, commands := range [][]string{
		{"SET a v PXAT 1000"},
		{"SET a v", "GETEX a PXAT 1000"},
		{"SET a v", "PEXPIREAT a 1000"},
		{"HSET a f v g w", "HPEXPIREAT a 1000 FIELDS 1 f"},
		{"MULTI", "SET b v PXAT 5000", "SET a v PXAT 1000", "SET c v PXAT 900000", "EXEC"},
	} {
		t.Run(commands[len(commands)-1], func(t *testing.T) {
			c, s := newSweeping(t)
			c.expect(t, "SET first v PX 1", "OK")
			c.advance(time.Hour)
			c.sweepWith(t, s)
			for _, command := range commands {
				c.ask(t, command)
			}
			c.advance(time.Millisecond)
			c.sweepWith(t, s)
			if got := left(t, c.Store, s.View.Expiry); got != 0 {
				t.Errorf("keys that have expired and were not ended: got %d, want 0", got)
			}
		})
	}
}

// TestSweeperEndsFieldsInSteps: the fields of one hash and of many.
func TestSweeperEndsFieldsInSteps(t *testing.T) {
	c, s := newSweeping(t)
	for h := range 3 {
		key := "h" + strconv.Itoa(h)
		c.ask(t, "HSET "+key+" stays v")
		for f := range keyspace.SweepBatch {
			field := fmt.Sprintf("f%d", f)
			c.ask(t, "HSET "+key+" "+field+" v")
			c.expect(t, fmt.Sprintf("HPEXPIRE %s %d FIELDS 1 %s", key, 100+f%3, field), "1) (integer) 1")
		}
	}
	c.expect(t, "HPEXPIRE h1 3600000 FIELDS 1 stays", "1) (integer) 1")
	c.advance(time.Second)
	c.sweepWith(t, s)
	for _, key := range []string{"h0", "h1", "h2"} {
		c.expect(t, "HGETALL "+key, "1) \"stays\"\n2) \"v\"", "HLEN "+key, "(integer) 1")
	}
	if got := left(t, c.Store, s.View.ByEnd); got != 1 {
		t.Errorf("fields to end: got %d, want the one that lives on", got)
	}
	c.advance(time.Hour)
	c.sweepWith(t, s)
	c.expect(t, "EXISTS h0 h1 h2", "(integer) 2")
}

// TestExpiryIsJudgedAtTheMomentThatIsRead: a key is there at a moment at which
// it had not expired, and absent at one at which it had, swept or not.
func TestExpiryIsJudgedAtTheMomentThatIsRead(t *testing.T) {
	c, s := newSweeping(t)
	c.expect(t, "SET a v PX 10000", "OK", "HSET h f v g w", "(integer) 2", "HPEXPIRE h 10000 FIELDS 1 f", "1) (integer) 1", "SET stays v", "OK")
	c.advance(4 * time.Second)
	c.expect(t, "SET other v", "OK")
	alive := strconv.FormatInt(int64(c.Store.Bounds().Newest), 10)
	c.advance(8 * time.Second)
	c.expect(t, "SET other w", "OK")
	ended := strconv.FormatInt(int64(c.Store.Bounds().Newest), 10)
	c.advance(time.Second)
	for _, when := range []string{"before the sweep", "after it"} {
		t.Log(when)
		c.expect(t,
			"AT "+alive+" PTTL a", "(integer) 6000", "AT "+alive+" TTL a", "(integer) 6", "AT "+alive+" GET a", `"v"`,
			"AT "+alive+" EXISTS a", "(integer) 1", "AT "+alive+" TYPE a", "string", "AT "+alive+" DBSIZE", "(integer) 4",
			"AT "+alive+" OBJECT ENCODING a", `"embstr"`, "AT "+alive+" HLEN h", "(integer) 2",
			"AT "+alive+" HPTTL h FIELDS 1 f", "1) (integer) 6000", "AT "+alive+" HGET h f", `"v"`,
			"AT "+ended+" PTTL a", "(integer) -2", "AT "+ended+" TTL a", "(integer) -2", "AT "+ended+" GET a", "(nil)",
			"AT "+ended+" EXISTS a", "(integer) 0", "AT "+ended+" TYPE a", "none", "AT "+ended+" DBSIZE", "(integer) 3",
			"AT "+ended+" OBJECT ENCODING a", "(nil)", "AT "+ended+" HLEN h", "(integer) 1",
			"AT "+ended+" HPTTL h FIELDS 1 f", "1) (integer) -2", "AT "+ended+" HGET h f", "(nil)",
			"AT "+ended+" HGETALL h", "1) \"g\"\n2) \"w\"", "AT "+ended+" KEYS a", "(empty array)",
			"AT "+ended+" EXPIRETIME a", "(integer) -2", "AT "+ended+" STRLEN a", "(integer) 0")
		c.sweepWith(t, s)
	}
}

// TestExpiredKeysAreAbsentToEveryRead adds to the reads of
// TestExpiredKeysAreAbsentBeforeTheyAreSwept.
func TestExpiredKeysAreAbsentToEveryRead(t *testing.T) {
	c, s := newSweeping(t)
	for _, command := range []string{
		"SET a v", "HSET h f v", "LPUSH l x", "SADD s m", "ZADD z 1 m", "XADD x 1-1 f v", "PFADD p e", "GEOADD g 1 2 m",
	} {
		c.ask(t, command)
	}
	for _, key := range []string{"a", "h", "l", "s", "z", "x", "p", "g"} {
		c.expect(t, "PEXPIRE "+key+" 100", "(integer) 1")
	}
	c.advance(time.Second)
	for range 2 { // the second time they are swept
		c.expect(t,
			"EXISTS a h l s z x p g", "(integer) 0", "TOUCH a h l", "(integer) 0", "MGET a", "1) (nil)", "KEYS *", "(empty array)",
			"SCAN 0", "1) \"0\"\n2) (empty array)", "RANDOMKEY", "(nil)", "DBSIZE", "(integer) 0", "DUMP a", "(nil)",
			"EXPIRETIME a", "(integer) -2", "PEXPIRETIME a", "(integer) -2", "PTTL l", "(integer) -2", "TYPE z", "none",
			"OBJECT ENCODING l", "(nil)", "OBJECT IDLETIME a", "(nil)", "OBJECT REFCOUNT a", "(nil)", "MEMORY USAGE a", "(nil)",
			"LLEN l", "(integer) 0", "SCARD s", "(integer) 0", "ZCARD z", "(integer) 0", "XLEN x", "(integer) 0",
			"PFCOUNT p", "(integer) 0", "GEOPOS g m", "1) (nil array)", "SORT l", "(empty array)", "BITCOUNT a", "(integer) 0",
			"SMEMBERS s", "(empty array)", "ZRANGE z 0 -1", "(empty array)", "XRANGE x - +", "(empty array)", "KEYINFO a", "(nil)",
			"HPTTL h FIELDS 1 f", "1) (integer) -2")
		c.sweepWith(t, s)
	}
}
