package firn_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firndb/firn"
)

// What became of one document, its end included.
func ExampleStore_History() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	put(store, users, "ada", "Paris")
	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.Delete(users, []byte("ada"), []byte("moved away"))
	})
	check(err)

	for doc, err := range store.History(users, []byte("ada"), firn.VersionRange{Newest: true}) {
		check(err)
		fmt.Printf("deleted=%t %s\n", doc.Deleted, doc.Value)
	}
	// Output:
	// deleted=true moved away
	// deleted=false Paris
	// deleted=false London
}

// What has changed since a moment, for example to bring a copy up to date.
func ExampleStore_Changed() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "ada", "London")
	copied := put(store, users, "bob", "Rome")
	put(store, users, "bob", "Oslo")
	put(store, users, "eve", "Cairo")
	put(store, users, "bob", "Bergen")

	check(store.Changed(users, nil, copied, store.Bounds().Newest, func(doc *firn.Document) error {
		fmt.Printf("%s: %s\n", doc.ID, doc.Value)
		return nil
	}))
	// Output:
	// eve: Cairo
	// bob: Bergen
}

// What differs between two moments.
func ExampleStore_Diff() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	put(store, users, "user:ada", "London")
	before := put(store, users, "user:bob", "Rome")
	put(store, users, "user:bob", "Oslo")
	after := put(store, users, "user:eve", "Cairo")

	show := func(doc *firn.Document) string {
		if doc == nil {
			return "nothing"
		}
		return string(doc.Value)
	}
	check(store.Diff(users, []byte("user:"), before, after, func(old, new *firn.Document) error {
		fmt.Println(show(old), "became", show(new))
		return nil
	}))
	// Output:
	// Rome became Oslo
	// nothing became Cairo
}

// Undoing what happened to some documents. It is a change like any other: what
// is undone can still be read in the past.
func ExampleTx_Revert() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	users := store.Table("users")
	before := put(store, users, "user:ada", "London")
	mistake := put(store, users, "user:ada", "")

	_, err := store.Update(context.Background(), func(tx *firn.Tx) error {
		return tx.Revert(users, []byte("user:"), before)
	})
	check(err)
	show := func(s *firn.Snapshot) error {
		doc, err := s.Get(users, []byte("user:ada"))
		fmt.Printf("%q %v\n", doc.Value, err)
		return nil
	}
	check(store.View(show))
	check(store.At(mistake, show))
	// Output:
	// "London" <nil>
	// "" <nil>
}

// The past from end to end: how much is kept, who wrote what, what is held,
// what changed, and how to undo and to forget it.
func Example_past() {
	store, done := newStore(firn.TableSpec{Name: "users"})
	defer done()
	ctx, users, ada := context.Background(), store.Table("users"), []byte("ada")
	check(store.SetRetention(ctx, firn.Scope{Group: "users"}, &firn.Retention{Age: 30 * 24 * time.Hour}))
	first, err := store.Update(ctx, func(tx *firn.Tx) error {
		return errors.Join(tx.SetAuthor(firn.Author{User: "grace", Reason: "ticket 7"}), tx.Put(users, ada, []byte("London")))
	})
	check(err)
	put(store, users, "ada", "Paris")
	check(store.Hold(ctx, firn.Hold{Name: "report", At: first, Until: noon.Add(time.Hour)}))

	check(store.Diff(users, ada, first, store.Bounds().Newest, func(before, after *firn.Document) error {
		fmt.Printf("%s became %s\n", before.Value, after.Value)
		return nil
	}))
	_, err = store.Update(ctx, func(tx *firn.Tx) error { return tx.Revert(users, ada, first) })
	check(err)
	check(store.View(func(s *firn.Snapshot) error {
		for doc, err := range store.History(users, ada, firn.VersionRange{}) {
			check(err)
			author, err := s.Author(doc)
			check(err)
			fmt.Printf("%s %q\n", doc.Value, author.User)
		}
		return nil
	}))

	deleted, err := store.Compact(ctx)
	check(err)
	fmt.Println(deleted, "forgotten: all of it is younger, and held")
	// Output:
	// London became Paris
	// London "grace"
	// Paris ""
	// London ""
	// 0 forgotten: all of it is younger, and held
}
