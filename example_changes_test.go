package firn_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
)

// A follower keeps the token of what it has done. It goes on from there when it
// comes back, and misses nothing.
func ExampleStore_Changes() {
	dir, err := os.MkdirTemp("", "firn")
	check(err)
	defer os.RemoveAll(dir)
	store, err := firn.Open(filepath.Join(dir, "firn.db"), firn.Options{Tables: []firn.TableSpec{{Name: "orders"}}})
	check(err)
	defer store.Close()
	orders := store.Table("orders")

	token := store.Token(store.Bounds().Newest)
	follow := func(commits int) {
		for commit, err := range store.Changes(context.Background(), token, journal.Filter{}) {
			check(err)
			for _, change := range commit.Changes {
				fmt.Printf("%s %s is %s\n", change.Table, change.Doc.ID, change.Doc.Value)
			}
			token = commit.Token // with what was done: together they are done once
			if commits--; commits == 0 {
				return
			}
		}
	}
	put(store, orders, "17", "placed")
	follow(1)
	fmt.Println("away")
	put(store, orders, "17", "paid")
	put(store, orders, "18", "placed")
	follow(2)
	// Output:
	// orders 17 is placed
	// away
	// orders 17 is paid
	// orders 18 is placed
}
