package firn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// The examples share these few lines: a store in a directory of its own, with
// a clock that stands still, so that what they print is always the same.

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// newStore opens an empty store. The function it returns closes and removes it.
func newStore(tables ...firn.TableSpec) (*firn.Store, func()) {
	dir, err := os.MkdirTemp("", "firn")
	check(err)
	store, err := firn.Open(filepath.Join(dir, "example.db"), firn.Options{
		Tables: tables,
		Now:    func() time.Time { return noon },
	})
	check(err)
	return store, func() { check(errors.Join(store.Close(), os.RemoveAll(dir))) }
}

// put commits one document and returns when.
func put(store *firn.Store, table *firn.Table, id, value string) firn.Timestamp {
	ts, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.Put(table, []byte(id), []byte(value))
	})
	check(err)
	return ts
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "firn")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	store, err := firn.Open(filepath.Join(dir, "users.db"), firn.Options{
		Tables:     []firn.TableSpec{{Name: "users"}},
		Durability: firn.Always,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	users := store.Table("users")
	_, err = store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.PutJSON(users, []byte("ada"), []byte(`{"name": "Ada Lovelace"}`))
	})
	if err != nil {
		log.Fatal(err)
	}
	err = store.View(func(s *firn.Snapshot) error {
		doc, err := s.Get(users, []byte("ada"))
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", doc.Value)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: {"name": "Ada Lovelace"}
}

// A transaction reads what it has written, and happens as a whole or not at
// all.
func ExampleStore_Update() {
	store, done := newStore(firn.TableSpec{Name: "accounts"})
	defer done()
	accounts := store.Table("accounts")
	put(store, accounts, "ada", "100")

	broke := errors.New("not enough money")
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		if err := tx.Put(accounts, []byte("bob"), []byte("500")); err != nil {
			return err
		}
		return broke // bob gets nothing
	})
	fmt.Println(err)

	check(store.View(func(s *firn.Snapshot) error {
		_, err := s.Get(accounts, []byte("bob"))
		fmt.Println(err == firn.ErrNotFound)
		return nil
	}))
	// Output:
	// not enough money
	// true
}

// All reads in one View see the same moment, whatever is written meanwhile.
func ExampleStore_View() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")

	check(store.View(func(s *firn.Snapshot) error {
		put(store, users, "ada", "Paris") // somebody else
		doc, err := s.Get(users, []byte("ada"))
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", doc.Value)
		return nil
	}))
	// Output: London
}

// Every moment since the horizon can be read like the present.
func ExampleStore_At() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	before := put(store, users, "ada", "London")
	after := put(store, users, "ada", "Paris")

	for _, ts := range []firn.Timestamp{before, after, before - 1} {
		check(store.At(ts, func(s *firn.Snapshot) error {
			doc, err := s.Get(users, []byte("ada"))
			if err == firn.ErrNotFound {
				fmt.Println("not there yet")
				return nil
			}
			if err != nil {
				return err
			}
			fmt.Printf("%s\n", doc.Value)
			return nil
		}))
	}
	// Output:
	// London
	// Paris
	// not there yet
}

// Peek answers from memory, or says that it cannot: a server can then leave
// the read to a goroutine that may wait for the disk.
func ExampleStore_Peek() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")

	read := func(s *firn.Snapshot) error {
		doc, err := s.Get(users, []byte("ada"))
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", doc.Value)
		return nil
	}
	err := store.Peek(read)
	if errors.Is(err, firn.ErrCold) {
		err = store.View(read)
	}
	check(err)
	// Output: London
}

// The history of a document is its versions. A tombstone may say why the
// document ended.
func ExampleSnapshot_Versions() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	put(store, users, "ada", "Paris")
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.Delete(users, []byte("ada"), []byte("account closed"))
	})
	check(err)

	check(store.View(func(s *firn.Snapshot) error {
		for doc, err := range s.Versions(users, []byte("ada"), firn.VersionRange{Newest: true}) {
			if err != nil {
				return err
			}
			fmt.Printf("%s deleted=%t\n", doc.Value, doc.Deleted)
		}
		return nil
	}))
	// Output:
	// account closed deleted=true
	// Paris deleted=false
	// London deleted=false
}

// A deletion hides a document from the present and leaves its past alone.
func ExampleTx_Delete() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.Delete(users, []byte("ada"), []byte("asked by the user"))
	})
	check(err)

	check(store.View(func(s *firn.Snapshot) error {
		_, err := s.Get(users, []byte("ada"))
		fmt.Println(err == firn.ErrNotFound)
		last, err := s.Last(users, []byte("ada"))
		if err != nil {
			return err
		}
		fmt.Printf("deleted: %s\n", last.Value)
		return nil
	}))
	// Output:
	// true
	// deleted: asked by the user
}

// byCity finds users by the city in their value. The id at the end of a key
// makes it unique.
func byCity(id string, value []byte, add func(key []byte)) {
	add(append(tuple.AppendBytes(nil, value), id...))
}

// A draft looks a document up once to read and to write it.
func ExampleTx_Edit() {
	store, done := newStore(firn.TableSpec{Name: "counters"})
	defer done()
	counters := store.Table("counters")
	for range 3 {
		_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
			visits, err := tx.Edit(counters, []byte("visits"))
			if err != nil {
				return err
			}
			n := 0
			if old := visits.Old(); old != nil {
				if n, err = strconv.Atoi(string(old.Value)); err != nil {
					return err
				}
			}
			return visits.Put([]byte(strconv.Itoa(n + 1)))
		})
		check(err)
	}

	check(store.View(func(s *firn.Snapshot) error {
		doc, err := s.Get(counters, []byte("visits"))
		fmt.Printf("%s\n", doc.Value)
		return err
	}))
	// Output:
	// 3
}

// A transaction says who writes, and why.
func ExampleTx_SetAuthor() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		err := tx.SetAuthor(firn.Author{User: "grace", Client: "import", Reason: "ticket 7"})
		if err != nil {
			return err
		}
		return tx.Put(users, []byte("ada"), []byte("Paris"))
	})
	check(err)

	check(store.View(func(s *firn.Snapshot) error {
		for doc, err := range s.Versions(users, []byte("ada"), firn.VersionRange{Newest: true}) {
			if err != nil {
				return err
			}
			author, err := s.Author(doc)
			if err != nil {
				return err
			}
			fmt.Printf("%s: by %q because of %q\n", doc.Value, author.User, author.Reason)
		}
		return nil
	}))
	// Output:
	// Paris: by "grace" because of "ticket 7"
	// London: by "" because of ""
}

func ExampleSnapshot_Scan() {
	store, done := newStore(firn.TableSpec{
		Name:    "users",
		Indexes: []firn.IndexSpec{{Name: "city", Keys: byCity}},
	})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	put(store, users, "bob", "Paris")
	before := put(store, users, "eve", "London")
	put(store, users, "ada", "Paris")

	in := func(city string) func(*firn.Snapshot) error {
		return func(s *firn.Snapshot) error {
			var ids []string
			for item, err := range s.Scan(firn.Range{
				Index:  users.Index("city"),
				Prefix: tuple.AppendString(nil, city),
			}) {
				if err != nil {
					return err
				}
				ids = append(ids, item.Doc.ID)
			}
			fmt.Printf("%s: %s\n", city, strings.Join(ids, ", "))
			return nil
		}
	}
	check(store.View(in("London")))
	check(store.At(before, in("London")))
	check(store.View(in("Paris")))
	// Output:
	// London: eve
	// London: ada, eve
	// Paris: ada, bob
}

// A range that is declared as ordered knows the rank of each of its elements:
// here the scores of a game.
func ExampleOrdered() {
	store, done := newStore(firn.TableSpec{Name: "scores", Prefix: 1})
	defer done()
	scores := store.Table("scores")
	game := tuple.AppendString(nil, "chess")
	id := func(score int64, player string) []byte {
		return tuple.AppendString(tuple.AppendInt(tuple.AppendString(nil, "chess"), score), player)
	}
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return errors.Join(
			tx.Put(scores, id(1500, "ada"), []byte("ada")),
			tx.Put(scores, id(900, "bob"), []byte("bob")),
			tx.Put(scores, id(2100, "eve"), []byte("eve")))
	})
	check(err)

	check(store.View(func(s *firn.Snapshot) error {
		o, err := s.Ordered(scores.ByID(), game)
		if err != nil {
			return err
		}
		best, err := o.At(o.Len() - 1)
		if err != nil {
			return err
		}
		rank, _, _ := o.Rank(id(1500, "ada"))
		fmt.Printf("%d players, the best is %s, ada beats %d\n", o.Len(), best.Doc.Value, rank)
		return nil
	}))
	// Output: 3 players, the best is eve, ada beats 1
}

// Moment reads what a person, or a client, calls a moment.
func ExampleStore_Moment() {
	store, done := newStore()
	defer done()
	for _, text := range []string{"now", "-90s", "-1d12h", "2026-01-01T11:00:00Z", "1767265200s", "soon"} {
		ts, err := store.Moment(text)
		if err != nil {
			fmt.Println(errors.Is(err, firn.ErrMoment))
			continue
		}
		fmt.Println(ts.Time().Format(time.DateTime))
	}
	// Output:
	// 2026-01-01 12:00:00
	// 2026-01-01 11:58:30
	// 2025-12-31 00:00:00
	// 2026-01-01 11:00:00
	// 2026-01-01 11:00:00
	// true
}

// puts is a batch of transactions with one document each.
type puts struct {
	table *firn.Table
	ids   []string
	done  chan error
}

func (p *puts) Len() int { return len(p.ids) }

func (p *puts) Transact(i int, tx *firn.Tx) error {
	return tx.Put(p.table, []byte(p.ids[i]), []byte("imported"))
}

func (p *puts) Done(_ firn.Timestamp, err error) { p.done <- err }

// A server that has many transactions at hand submits them together: they
// share one commit, and nobody waits for each in turn.
func ExampleStore_Submit() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	batch := &puts{
		table: store.Table("users"),
		ids:   []string{"ada", "bob", "eve"},
		done:  make(chan error, 1), // Done must not block
	}
	check(store.Submit(batch))
	check(<-batch.done)

	stats := store.Stats()
	fmt.Printf("%d transactions in %d commit\n", stats.Commits, stats.Groups)
	// Output: 3 transactions in 1 commit
}

func ExampleStore_Bounds() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	put(store, store.Table("users"), "ada", "London")

	b := store.Bounds()
	fmt.Println("from", b.Oldest.Time().Format("15:04:05.000000"))
	fmt.Println("to  ", b.Newest.Time().Format("15:04:05.000000"))
	// Output:
	// from 12:00:00.000000
	// to   12:00:00.000001
}

// A moment that cannot be known any more is not the same as a document that
// was not there.
func ExampleCompactedError() {
	store, done := newStore()
	defer done()
	hourAgo, err := store.Moment("-1h")
	check(err)

	err = store.At(hourAgo, func(*firn.Snapshot) error { return nil })
	if compacted, ok := errors.AsType[*firn.CompactedError](err); ok {
		fmt.Println("history starts at", compacted.Oldest.Time().Format(time.TimeOnly))
	}
	fmt.Println(errors.Is(err, firn.ErrCompacted))
	// Output:
	// history starts at 12:00:00
	// true
}

// Check examines a file, also while a store has it open.
func ExampleCheck() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	put(store, store.Table("users"), "ada", "London")

	problems, err := firn.Check(store.Stats().Path, func(problem string) { fmt.Println(problem) })
	check(err)
	fmt.Println(problems, "problems")
	// Output: 0 problems
}

// Reindex rebuilds all indexes from the log, for example because an index
// computes other keys than it used to.
func ExampleReindex() {
	dir, err := os.MkdirTemp("", "firn")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "users.db")
	users := firn.TableSpec{Name: "users", Indexes: []firn.IndexSpec{{
		Name: "city",
		Keys: func(string, []byte, func([]byte)) {}, // not written yet
	}}}
	store, err := firn.Open(path, firn.Options{Tables: []firn.TableSpec{users}})
	check(err)
	put(store, store.Table("users"), "ada", "London")
	check(store.Close())

	users.Indexes[0].Keys = byCity
	check(firn.Reindex(path, []firn.TableSpec{users}, nil))

	store, err = firn.Open(path, firn.Options{Tables: []firn.TableSpec{users}})
	check(err)
	defer store.Close()
	check(store.View(func(s *firn.Snapshot) error {
		for item, err := range s.Scan(firn.Range{Index: store.Table("users").Index("city")}) {
			if err != nil {
				return err
			}
			fmt.Printf("%s: %s\n", item.Doc.ID, item.Doc.Value)
		}
		return nil
	}))
	// Output: ada: London
}

// How much is kept is set for the store, a group or a member of it: the nearest
// counts.
func ExampleStore_SetRetention() {
	store, done := newStore(firn.TableSpec{Name: "users"}, firn.TableSpec{Name: "sessions"})
	defer done()
	ctx := context.Background()
	check(store.SetRetention(ctx, firn.Scope{}, &firn.Retention{Age: 30 * 24 * time.Hour}))
	check(store.SetRetention(ctx, firn.Scope{Group: "sessions"}, &firn.Retention{Off: true}))
	check(store.SetRetention(ctx, firn.Scope{Group: "users", Member: "ada"}, &firn.Retention{Versions: 10}))

	for _, scope := range []firn.Scope{{Group: "users", Member: "ada"}, {Group: "users", Member: "bob"}, {Group: "sessions", Member: "42"}} {
		policy, setFor := store.Retention(scope)
		fmt.Printf("%s/%s: %s, set for %q\n", scope.Group, scope.Member, policy, setFor)
	}
	// Output:
	// users/ada: count 10, set for {"users" "ada"}
	// users/bob: time 720h0m0s, set for {"" ""}
	// sessions/42: off, set for {"sessions" ""}
}

func ExampleStore_Policies() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	ctx := context.Background()
	check(store.SetRetention(ctx, firn.Scope{Group: "users"}, &firn.Retention{Age: time.Hour}))
	check(store.SetRetention(ctx, firn.Scope{}, &firn.Retention{Versions: 100}))

	for scope, policy := range store.Policies() {
		fmt.Printf("%q %s\n", scope.Group, policy)
	}
	// Output:
	// "" count 100
	// "users" time 1h0m0s
}

// A hold keeps what a backup reads.
func ExampleStore_Hold() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	ctx := context.Background()
	ts := put(store, store.Table("users"), "ada", "London")
	check(store.Hold(ctx, firn.Hold{Name: "backup", At: ts, Until: noon.Add(time.Hour)}))
	for _, h := range store.Holds() {
		fmt.Println(h.Name, "holds", h.At == ts, "until", h.Until.Format(time.TimeOnly))
	}
	released, err := store.Release(ctx, "backup")
	check(err)
	fmt.Println(released, len(store.Holds()))
	// Output:
	// backup holds true until 13:00:00
	// true 0
}
