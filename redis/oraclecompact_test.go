package redis

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
)

// The rule: from the horizon on, every read replies what a real Redis replied
// at that moment, however often what is behind the horizon was deleted; before
// it, every read says where the horizon is. When nothing is left to be read,
// nothing is left in the file.

// forgetful is a couple whose store forgets all but the last few moments after
// each command.
type forgetful struct {
	*couple
	*restarted
	asker   *ours      // of the past
	asked   []question // at the horizon and later, oldest first
	lost    []question // the last ones that are behind it
	pruned  int64      // versions deleted
	reads   int        // questions asked again
	horizon firn.Timestamp
}

const (
	forgetfulWindow = 40 // questions that the horizon stays behind at most
	forgetfulAgain  = 6  // questions asked again after each command
)

// forgetfulOptions are where the values are when they are read.
func forgetfulOptions() map[string]firn.Options {
	return map[string]firn.Options{
		"memory=0":  {Durability: firn.None},
		"memory=-1": {Durability: firn.None, Memory: -1},
		"tail=1":    {Durability: firn.None, TailEntries: 1},
		"both":      {Durability: firn.None, Memory: -1, TailEntries: 1},
	}
}

func TestCompactionLeavesWhatRealRedisReplied(t *testing.T) {
	connect := startRedis(t)
	for name, o := range forgetfulOptions() {
		for _, policies := range []bool{false, true} {
			if testing.Short() && name != "both" {
				continue // the others take the same ways through the code
			}
			t.Run(fmt.Sprintf("%s/policies=%t", name, policies), func(t *testing.T) {
				f := newForgetful(t, connect(), o)
				if policies {
					f.setPolicies(t)
				}
				f.live(t, connect(), kindSteps(t, name, 6_000)/10)
				f.restart(t)
				f.agreeAll(t)
				f.end(t, policies)
			})
		}
	}
}

// kindSteps is how many steps a test takes with a kind of options. Those that
// are not "both" take the same ways through the code, one after the other.
func kindSteps(t *testing.T, kind string, n int) int {
	if n = seed.Steps(t, n); kind != "both" {
		n /= 4
	}
	return n
}

func newForgetful(t *testing.T, redis *theirs, o firn.Options) *forgetful {
	r := &restarted{options: o, path: filepath.Join(t.TempDir(), "firn.db")}
	f := &forgetful{restarted: r, couple: &couple{mine: r.open(t), redis: redis, g: newGenerator(t)}}
	t.Cleanup(func() { r.close(t) })
	for _, who := range []talker{f.mine, redis} {
		who.tell(t, []byte("FLUSHALL"))
		who.tell(t, []byte("HELLO"), []byte("3"))
	}
	f.asker = newThird(t, f.couple)
	return f
}

// setPolicies gives a database and some keys policies of their own that keep
// as much as the store's: what goes from one to the other is told apart.
func (f *forgetful) setPolicies(t *testing.T) {
	t.Helper()
	for i, scope := range []firn.Scope{{Group: "1"}, {Group: "0", Member: "a"}, {Group: "0", Member: "own3"}, {Group: "1", Member: "own5"}} {
		age := time.Duration(i+1) * 1000 * time.Hour
		if err := f.store.SetRetention(t.Context(), scope, &firn.Retention{Age: age}); err != nil {
			t.Fatal(err)
		}
	}
}

// live takes steps; after each a real Redis is asked something, and the store
// forgets.
func (f *forgetful) live(t *testing.T, redis *theirs, steps int) {
	t.Helper()
	redis.tell(t, []byte("HELLO"), []byte("3"))
	templates := strings.Split(f.g.reads, "\n")
	for range steps {
		f.step(t)
		for range 2 {
			f.asked = append(f.asked, f.inquire(t, redis, templates))
		}
		if f.g.IntN(8) == 0 {
			if err := keyspace.NewSweeper(f.store).Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f.forget(t)
		f.askAgain(t)
	}
	f.finish(t)
	t.Logf("%d commands, %d versions deleted, %d questions asked again", f.sent, f.pruned, f.reads)
	if f.pruned < int64(steps)/3 || f.reads < 3*steps || len(f.lost) == 0 {
		t.Errorf("%d versions deleted, %d questions asked again: too little to say anything", f.pruned, f.reads)
	}
}

// forget moves the horizon to the moment of a question.
func (f *forgetful) forget(t *testing.T) {
	t.Helper()
	first := max(0, len(f.asked)-1-f.g.IntN(forgetfulWindow))
	to := f.asked[first].at(t)
	if to < f.horizon {
		return
	}
	n, err := f.store.Prune(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	f.pruned += n
	f.horizon = to
	if got := f.store.Bounds().Oldest; got != to {
		t.Fatalf("seed %d: horizon: got %d, want %d", f.g.seed, got, to)
	}
	first = slices.IndexFunc(f.asked, func(q question) bool { return q.at(t) >= to })
	f.lost = append(f.lost, f.asked[:first]...)
	f.lost = f.lost[max(0, len(f.lost)-forgetfulWindow):]
	f.asked = slices.Clone(f.asked[first:])
}

// at is the question's moment.
func (q *question) at(t *testing.T) firn.Timestamp {
	t.Helper()
	ts, err := strconv.ParseInt(string(q.moment), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return firn.Timestamp(ts)
}

// askAgain asks what can be answered at the horizon itself, some of what can
// be later, and some of what can not any more.
func (f *forgetful) askAgain(t *testing.T) {
	t.Helper()
	var some []question
	for _, q := range f.asked {
		if q.at(t) == f.horizon {
			some = append(some, q)
		}
	}
	for range forgetfulAgain {
		some = append(some, f.asked[f.g.IntN(len(f.asked))])
	}
	f.reads += len(some)
	f.g.agree(t, some, f.asker)
	if len(f.lost) == 0 {
		return
	}
	q := f.lost[f.g.IntN(len(f.lost))]
	f.refuse(t, q)
	q.moment = strconv.AppendInt(nil, int64(f.horizon)-1, 10)
	f.refuse(t, q)
}

// refuse asks a question in the two ways that there are, in vain.
func (f *forgetful) refuse(t *testing.T, q question) {
	t.Helper()
	want := fmt.Sprintf("-COMPACTED oldest readable timestamp is %d\r\n", f.horizon)
	q.inDB(t, f.asker)
	if got := f.asker.tell(t, append([][]byte{[]byte("AT"), q.moment}, q.words...)...); string(got) != want {
		t.Fatalf("seed %d: AT %s %s\n got %.300q\nwant %q", f.g.seed, q.moment, quoteWords(q.words), got, want)
	}
	if got := f.asker.tell(t, []byte("CLIENT"), []byte("ASOF"), q.moment); string(got) != want {
		t.Fatalf("seed %d: CLIENT ASOF %s\n got %.300q\nwant %q", f.g.seed, q.moment, got, want)
	}
}

func (f *forgetful) restart(t *testing.T) {
	t.Helper()
	f.mine.session.Close()
	f.asker.session.Close()
	f.mine = f.open(t)
	f.mine.tell(t, []byte("HELLO"), []byte("3"))
	f.asker = newThird(t, f.couple)
}

func (f *forgetful) agreeAll(t *testing.T) {
	t.Helper()
	f.g.agree(t, f.asked, f.asker)
	for _, q := range f.lost {
		f.refuse(t, q)
	}
}

// end deletes all keys and their past, and looks at what that leaves.
func (f *forgetful) end(t *testing.T, flush bool) {
	t.Helper()
	if flush {
		f.mine.tell(t, []byte("FLUSHALL"))
	} else {
		f.deleteKeys(t)
	}
	now := max(firn.Timestamp(time.Now().UnixMicro()), f.store.Bounds().Newest)
	if _, err := f.store.Prune(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	f.close(t)
	if problems, err := firn.Check(f.path, func(p string) { t.Error(p) }); problems > 0 || err != nil {
		t.Errorf("seed %d: check: got %d problems, %v", f.g.seed, problems, err)
	}
	if left := leftovers(t, f.path); len(left) > 0 {
		t.Errorf("seed %d: got %d rows and entries, want none: %.3000q", f.g.seed, len(left), left)
	}
}

func (f *forgetful) deleteKeys(t *testing.T) {
	t.Helper()
	if err := keyspace.NewSweeper(f.store).Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for db := range f.server.catalog.DatabaseCount {
		f.mine.tell(t, []byte("SELECT"), strconv.AppendInt(nil, int64(db), 10))
		all, _, err := parseValue(f.mine.tell(t, []byte("KEYS"), []byte("*")))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range all.elements {
			f.mine.tell(t, []byte("DEL"), []byte(key.text))
		}
	}
}

// leftovers are the rows and the entries in a file of all tables that hold
// keys and what they own.
func leftovers(t *testing.T, path string) (left []string) {
	t.Helper()
	engine, err := schema.Open(path, schema.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	s, err := engine.Session()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	text, _, err := s.Global("tables")
	if err != nil {
		t.Fatal(err)
	}
	var named map[string]struct{ ID schema.TableID }
	if err := json.Unmarshal([]byte(text), &named); err != nil {
		t.Fatal(err)
	}
	names := map[schema.TableID]string{}
	for _, name := range []string{keyspace.KeysTable, keyspace.ElementsTable, keyspace.ScoresTable, keyspace.GroupsTable, keyspace.LifetimesTable} {
		if named[name].ID == 0 {
			t.Fatalf("no table %q in the file", name)
		}
		names[named[name].ID] = name
	}
	rows, err := s.Log(nil, schema.Cursor{}, schema.MaxTimestamp, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if name := names[row.Table]; name != "" {
			left = append(left, fmt.Sprintf("%s %x at %d deleted=%t prev=%d", name, row.ID, row.TS, row.Deleted, row.Prev))
		}
	}
	entries, err := s.Entries(nil, schema.Entry{}, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := names[e.Index.Table()]; name != "" {
			left = append(left, fmt.Sprintf("index %d of %s: %x at %d deleted=%t", e.Index.Number(), name, e.Key, e.TS, e.Deleted))
		}
	}
	return left
}
