package firn_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/firndb/firn"
)

// A backup continues the store's history: its tokens are still good.
func ExampleStore_Backup() {
	store, closeStore := newStore(firn.TableSpec{Name: "users"})
	defer closeStore()
	ts := put(store, store.Table("users"), "ada", "first")

	out := filepath.Join(filepath.Dir(store.Stats().Path), "copy.db")
	check(store.Backup(context.Background(), out, 0, nil, nil))

	copied, err := firn.Open(out, firn.Options{Tables: []firn.TableSpec{{Name: "users"}}, ReadOnly: true})
	check(err)
	defer copied.Close()
	same, err := copied.Moment(store.Token(ts))
	fmt.Println(same == ts, err)
	// Output: true <nil>
}

// A restored store begins a history of its own, so whoever kept a token of the
// old one is told.
func ExampleStore_Restore() {
	store, closeStore := newStore(firn.TableSpec{Name: "users"})
	defer closeStore()
	users := store.Table("users")
	before := put(store, users, "ada", "right")
	put(store, users, "ada", "wrong")

	out := filepath.Join(filepath.Dir(store.Stats().Path), "restored.db")
	check(store.Restore(context.Background(), out, before, nil, nil))

	restored, err := firn.Open(out, firn.Options{Tables: []firn.TableSpec{{Name: "users"}}})
	check(err)
	defer restored.Close()
	check(restored.View(func(s *firn.Snapshot) error {
		doc, err := s.Get(restored.Table("users"), []byte("ada"))
		if err == nil {
			fmt.Printf("%s\n", doc.Value)
		}
		return err
	}))
	_, err = restored.Moment(store.Token(before))
	fmt.Println(errors.Is(err, firn.ErrForked))
	// Output:
	// right
	// true
}
