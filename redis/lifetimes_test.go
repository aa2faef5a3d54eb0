package redis

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keys"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// A field that has ended is absent everywhere, whether it was swept or not,
// and a hash of which all fields have is no key.

// newClockedWith is newClocked with options of the store.
func newClockedWith(t *testing.T, o firn.Options) clocked {
	clock := newFakeClock()
	o.Durability, o.Now = firn.None, clock.now
	store := openStore(t, o)
	return clocked{newOurs(t, New(store, Options{Now: clock.now})), clock}
}

func (c clocked) sweep(t *testing.T) {
	t.Helper()
	if err := keyspace.NewSweeper(c.Store).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// storeKinds are options under which everything must be the same.
var storeKinds = []firn.Options{{}, {Memory: -1}, {TailEntries: 1}}

func TestEndedFieldsAreAbsentBeforeTheyAreSwept(t *testing.T) {
	for _, o := range storeKinds {
		c := newClockedWith(t, o)
		c.expect(t, "HSET h a 1 b 2 c 3 d 4", "(integer) 4",
			"HPEXPIRE h 100 FIELDS 2 a b", "1) (integer) 1\n2) (integer) 1", "HPEXPIRE h 200 FIELDS 1 c", "1) (integer) 1")
		c.advance(100 * time.Millisecond)
		c.expect(t, "HLEN h", "(integer) 4", "HGET h a", `"1"`, "HPTTL h FIELDS 1 a", "1) (integer) 0", "HTTL h FIELDS 1 c", "1) (integer) 1")
		c.advance(time.Millisecond)
		for range 2 { // the second time they are swept
			c.expect(t,
				"HLEN h", "(integer) 2", "HGET h a", "(nil)", "HMGET h a c", "1) (nil)\n2) \"3\"", "HGETALL h", "1) \"c\"\n2) \"3\"\n3) \"d\"\n4) \"4\"",
				"HKEYS h", "1) \"c\"\n2) \"d\"", "HVALS h", "1) \"3\"\n2) \"4\"", "HSTRLEN h b", "(integer) 0", "HEXISTS h b", "(integer) 0",
				"HSCAN h 0", "1) \"0\"\n2) 1) \"c\"\n   2) \"3\"\n   3) \"d\"\n   4) \"4\"", "HDEL h a b", "(integer) 0",
				"HTTL h FIELDS 3 a b c", "1) (integer) -2\n2) (integer) -2\n3) (integer) 1",
				"HPERSIST h FIELDS 2 a d", "1) (integer) -2\n2) (integer) -1", "HEXPIRE h 10 XX FIELDS 1 a", "1) (integer) -2",
				"EXISTS h", "(integer) 1", "DBSIZE", "(integer) 1", "HISTORY GETAT h now", "1) \"c\"\n2) \"3\"\n3) \"d\"\n4) \"4\"")
			for range 20 {
				if got := c.ask(t, "HRANDFIELD h 5"); got != "1) \"c\"\n2) \"d\"" && got != "1) \"d\"\n2) \"c\"" {
					t.Errorf("HRANDFIELD h 5\n got %s\nwant c and d", got)
				}
				if got := c.ask(t, "HRANDFIELD h"); got != `"c"` && got != `"d"` {
					t.Errorf("HRANDFIELD h\n got %s\nwant c or d", got)
				}
			}
			c.sweep(t)
		}
		if got, want := versionsIn(t, c.Store, "h"), "1 HSET, 2 HPEXPIRE, 3 HPEXPIRE, 4 hexpired"; got != want {
			t.Errorf("history\n got %s\nwant %s", got, want)
		}
	}
}

func TestAHashOfEndedFieldsIsNoKey(t *testing.T) {
	for _, o := range storeKinds {
		c := newClockedWith(t, o)
		c.expect(t, "HSET h a 1 b 2", "(integer) 2", "HPEXPIRE h 100 FIELDS 1 a", "1) (integer) 1", "HPEXPIRE h 50 FIELDS 1 b", "1) (integer) 1", "SET s 1", "OK")
		c.advance(101 * time.Millisecond)
		for range 2 {
			c.expect(t, "EXISTS h", "(integer) 0", "TYPE h", "none", "KEYS *", `1) "s"`, "SCAN 0", "1) \"0\"\n2) 1) \"s\"", "DBSIZE", "(integer) 1",
				"HLEN h", "(integer) 0", "HGETALL h", "(empty array)", "TTL h", "(integer) -2", "RANDOMKEY", `"s"`, "DEL h", "(integer) 0",
				"RENAME h i", "(error) ERR no such key", "COPY h i", "(integer) 0", "OBJECT ENCODING h", "(nil)", "DUMP h", "(nil)",
				"HTTL h FIELDS 1 a", "1) (integer) -2", "PERSIST h", "(integer) 0", "KEYINFO h", "(nil)")
			c.sweep(t)
		}
		if got, want := versionsIn(t, c.Store, "h"), "1 HSET, 2 HPEXPIRE, 3 HPEXPIRE, 4 expired deleted"; got != want {
			t.Errorf("history\n got %s\nwant %s", got, want)
		}
		c.expect(t, "HSET h c 1", "(integer) 1", "HGETALL h", "1) \"c\"\n2) \"1\"", "HTTL h FIELDS 1 c", "1) (integer) -1")
	}
}

func TestEndedFieldsAreReplacedAsIfAbsent(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		c := newClockedWith(t, firn.Options{})
		c.expect(t, "HSET h a 5 b 5 c 5 d 5 e 5 stays 5", "(integer) 6",
			"HPEXPIRE h 10 FIELDS 5 a b c d e", "1) (integer) 1\n2) (integer) 1\n3) (integer) 1\n4) (integer) 1\n5) (integer) 1")
		c.advance(time.Second)
		if sweep {
			c.sweep(t)
		}
		c.expect(t, "HSET h a 1", "(integer) 1", "HSETNX h b 1", "(integer) 1", "HINCRBY h c 1", "(integer) 1", "HINCRBYFLOAT h d 1.5", `"1.5"`,
			"HLEN h", "(integer) 5", "HTTL h FIELDS 4 a b c d", "1) (integer) -1\n2) (integer) -1\n3) (integer) -1\n4) (integer) -1",
			"HDEL h a b c d stays", "(integer) 5", "EXISTS h", "(integer) 0")
		c.sweep(t)
		c.expect(t, "EXISTS h", "(integer) 0", "HSET h x 1", "(integer) 1", "HLEN h", "(integer) 1")
	}
}

// TestRemovingTheLastLivingFieldEndsTheKey: what remains in it has ended.
func TestRemovingTheLastLivingFieldEndsTheKey(t *testing.T) {
	for i, command := range []string{"HDEL h b", "HPEXPIRE h 0 FIELDS 1 b"} {
		c := newClockedWith(t, firn.Options{})
		c.expect(t, "HSET h a 1 b 2", "(integer) 2", "HPEXPIRE h 10 FIELDS 1 a", "1) (integer) 1")
		c.advance(time.Second)
		c.expect(t, command, []string{"(integer) 1", "1) (integer) 2"}[i], "EXISTS h", "(integer) 0", "DBSIZE", "(integer) 0")
		c.sweep(t)
		c.expect(t, "HSET h c 3", "(integer) 1", "HLEN h", "(integer) 1")
	}
}

func TestFieldsLiveOnInTheirKeysFate(t *testing.T) {
	c := newClockedWith(t, firn.Options{})
	c.expect(t, "HSET h a 1 b 2", "(integer) 2", "HPEXPIRE h 1000 FIELDS 1 a", "1) (integer) 1",
		"COPY h i", "(integer) 1", "RENAME h j", "OK", "MOVE j 1", "(integer) 1", "PEXPIRE i 500", "(integer) 1",
		"HPERSIST i FIELDS 1 a", "1) (integer) 1")
	c.advance(501 * time.Millisecond)
	c.sweep(t)
	c.expect(t, "EXISTS i", "(integer) 0", "SELECT 1", "OK", "HLEN j", "(integer) 2")
	c.advance(500 * time.Millisecond)
	c.expect(t, "HGETALL j", "1) \"b\"\n2) \"2\"", "DUMP j", c.ask(t, "DUMP j"))
	c.sweep(t)
	c.expect(t, "HGETALL j", "1) \"b\"\n2) \"2\"")
}

// TestFieldsAreSweptBeforeTheirKeyIs: whichever ends first is found first.
func TestFieldsAreSweptBeforeTheirKeyIs(t *testing.T) {
	c := newClockedWith(t, firn.Options{})
	c.expect(t, "HSET h a 1 b 2", "(integer) 2", "HPEXPIRE h 100 FIELDS 1 a", "1) (integer) 1", "PEXPIRE h 1000", "(integer) 1")
	c.advance(500 * time.Millisecond)
	c.sweep(t)
	c.expect(t, "HLEN h", "(integer) 1")
	c.advance(501 * time.Millisecond)
	c.sweep(t)
	if got, want := versionsIn(t, c.Store, "h"), "1 HSET, 2 HPEXPIRE, 3 PEXPIRE, 4 hexpired, 5 expired deleted"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestSweepingGoesInBatches: no transaction removes more than SweepBatch
// fields, and none is left.
func TestSweepingGoesInBatches(t *testing.T) {
	for _, o := range storeKinds {
		c := newClockedWith(t, o)
		const n = 2*keyspace.SweepBatch + 10
		for i := range n {
			name := fmt.Sprintf("f%d", i)
			c.ask(t, "HSET h "+name+" v")
			c.ask(t, "HPEXPIRE h "+fmt.Sprint(10+i%3)+" FIELDS 1 "+name)
		}
		c.expect(t, "HSET h stays v", "(integer) 1")
		c.advance(time.Second)
		c.expect(t, "HLEN h", "(integer) 1")
		c.sweep(t)
		c.expect(t, "HLEN h", "(integer) 1", "HGETALL h", "1) \"stays\"\n2) \"v\"")
		if got := strings.Count(versionsIn(t, c.Store, "h"), "hexpired"); got != 3 {
			t.Errorf("%d fields\n got %d transactions\nwant 3", n, got)
		}
		checkLifetimes(t, c, "h")
	}
}

// checkLifetimes compares what a hash's key says about its fields with what
// there is.
func checkLifetimes(t *testing.T, c clocked, key string) {
	t.Helper()
	err := c.Store.View(func(s *firn.Snapshot) error {
		doc, err := s.Get(c.Store.Table(keyspace.KeysTable), keyspace.AppendKeyID(nil, keyspace.UID{}, []byte(key)))
		if err != nil {
			return err
		}
		k, err := keyspace.ParseKeyDoc(doc)
		if err != nil {
			return err
		}
		prefix := keyspace.AppendUID(nil, k.UID)
		fields, err := s.Count(c.Store.Table(keyspace.ElementsTable), prefix)
		if err != nil {
			return err
		}
		var want keyspace.FieldEnds
		for item, err := range s.Scan(firn.Range{Index: c.Store.Table(keyspace.LifetimesTable).Index(keyspace.EndIndex), Prefix: prefix}) {
			if err != nil {
				return err
			}
			end, _, err := tuple.TakeInt(item.Key[len(prefix):])
			if err != nil {
				return err
			}
			if want.Count == 0 {
				want.First = end
			}
			want.Last = end
			want.Count++
		}
		if got := k.FieldEnds(); got != want || int64(fields) != k.Length {
			t.Errorf("key %s\n got %+v, %d fields\nwant %+v, %d fields", key, got, k.Length, want, fields)
		}
		return nil
	})
	if err != nil && err != firn.ErrNotFound {
		t.Fatal(err)
	}
}

// TestRandomLifetimesAgreeWithAModel compares a hash with a map of values and
// ends, under all kinds of stores, and what is read then with what is read of
// that moment later.
func TestRandomLifetimesAgreeWithAModel(t *testing.T) {
	for _, o := range storeKinds {
		seed := seed.Fresh(t)
		random := seed.Rand(0)
		c := newClockedWith(t, o)
		m := lifetimeModel{clock: c.fakeClock, fields: map[string]*modelField{}}
		var script []string
		var asked []question
		for step := range 400 {
			if random.IntN(8) == 0 {
				c.sweep(t)
				script = append(script, "(sweep)")
			}
			c.advance(time.Duration(1+random.IntN(40)) * time.Millisecond)
			field := fmt.Sprintf("f%d", random.IntN(6))
			command, want := m.step(random, field)
			script = append(script, command)
			if got := c.ask(t, command); got != want {
				t.Fatalf("seed %d, step %d: %s\n got %s\nwant %s\nafter\n%s", seed, step, command, got, want, strings.Join(script[max(0, len(script)-30):], "\n"))
			}
			checkLifetimes(t, c, "h")
			for _, text := range lifetimeReads {
				asked = append(asked, question{words: SplitWords(t, text), moment: fmt.Append(nil, c.now().UnixMicro()), reply: []byte(c.ask(t, text))})
			}
		}
		c.advance(time.Hour)
		c.sweep(t)
		c.ask(t, "SET end 1")
		for _, q := range asked {
			at := append([][]byte{[]byte("AT"), q.moment}, q.words...)
			if got := render(c.tell(t, at...)); got != string(q.reply) {
				t.Fatalf("seed %d: %s\n got %s\nwant %s", seed, quoteWords(at), got, q.reply)
			}
		}
	}
}

// lifetimeReads are asked after every step, and again of the past at the end.
var lifetimeReads = []string{"HGETALL h", "HPEXPIRETIME h FIELDS 6 f0 f1 f2 f3 f4 f5", "HSCAN h 0", "EXISTS h", "DBSIZE", "SCAN 0"}

type modelField struct {
	value int
	end   int64 // 0: never
}

type lifetimeModel struct {
	clock  *fakeClock
	fields map[string]*modelField
}

// step draws a command and says what it replies.
func (m *lifetimeModel) step(random *rand.Rand, name string) (command, want string) {
	now := m.clock.now().UnixMilli()
	for other, f := range m.fields {
		if f.end != 0 && f.end < now {
			delete(m.fields, other)
		}
	}
	f := m.fields[name]
	switch random.IntN(9) {
	case 0:
		return "HLEN h", fmt.Sprintf("(integer) %d", len(m.fields))
	case 1:
		if f == nil {
			return "HGET h " + name, "(nil)"
		}
		return "HGET h " + name, fmt.Sprintf("%q", fmt.Sprint(f.value))
	case 2:
		delete(m.fields, name)
		return "HDEL h " + name, fmt.Sprintf("(integer) %d", keys.FlagInt(f != nil))
	case 3:
		value := random.IntN(10)
		m.fields[name] = &modelField{value: value}
		return fmt.Sprintf("HSET h %s %d", name, value), fmt.Sprintf("(integer) %d", keys.FlagInt(f == nil))
	case 4:
		if f == nil {
			f = &modelField{}
			m.fields[name] = f
		}
		f.value++
		return "HINCRBY h " + name + " 1", fmt.Sprintf("(integer) %d", f.value)
	case 5:
		return "HPERSIST h FIELDS 1 " + name, "1) (integer) " + m.persist(f)
	case 6:
		left := int64(-2)
		if f != nil {
			left = -1
			if f.end != 0 {
				left = f.end - now
			}
		}
		return "HPTTL h FIELDS 1 " + name, fmt.Sprintf("1) (integer) %d", left)
	}
	left := int64(random.IntN(300))
	return fmt.Sprintf("HPEXPIRE h %d FIELDS 1 %s", left, name), "1) (integer) " + m.expire(name, now, left)
}

func (m *lifetimeModel) persist(f *modelField) string {
	switch {
	case f == nil:
		return "-2"
	case f.end == 0:
		return "-1"
	}
	f.end = 0
	return "1"
}

func (m *lifetimeModel) expire(name string, now, left int64) string {
	switch {
	case m.fields[name] == nil:
		return "-2"
	case left == 0:
		delete(m.fields, name)
		return "2"
	}
	m.fields[name].end = now + left
	return "1"
}

// TestPlainHashesPayNothingForLifetimes: their key documents are as before.
func TestPlainHashesPayNothingForLifetimes(t *testing.T) {
	c := newClockedWith(t, firn.Options{})
	c.ask(t, "HSET h a 1")
	err := c.Store.View(func(s *firn.Snapshot) error {
		doc, err := s.Get(c.Store.Table(keyspace.KeysTable), keyspace.AppendKeyID(nil, keyspace.UID{}, []byte("h")))
		if err != nil {
			return err
		}
		if k, err := keyspace.ParseKeyDoc(doc); err != nil || k.Value != nil {
			t.Errorf("got %x, %v\nwant no note", k.Value, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestFieldsAreWrittenWhenTheyChange: HSET of the value that a field has makes
// a version of the key and none of the field.
func TestFieldsAreWrittenWhenTheyChange(t *testing.T) {
	o := newPlain(t)
	versions := func(when string, want int) {
		t.Helper()
		n := 0
		elements := o.session.srv.store.Table(keyspace.ElementsTable)
		err := o.session.srv.store.View(func(s *firn.Snapshot) error {
			for item, err := range s.Scan(firn.Range{Index: elements.ByID()}) {
				if err != nil {
					return err
				}
				for _, err := range s.Versions(elements, []byte(item.Key), firn.VersionRange{}) {
					if err != nil {
						return err
					}
					n++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n != want {
			t.Errorf("versions of fields %s\n got %d\nwant %d", when, n, want)
		}
	}
	o.ask(t, "HSET h f v")
	versions("at first", 1)
	then := o.lastTS(t)
	o.ask(t, "HSET h f v")
	versions("after the same value", 1)
	if o.lastTS(t) == then {
		t.Error("the key has no new version")
	}
	o.ask(t, "HSET h f w")
	versions("after another value", 2)
}
