// View keeps a sum up to date that follows from many documents, in a program
// that has the store inside: no server. It is computed again whenever a commit
// changes what it has read, and never from two states.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/firndb/firn"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "firn-view-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := firn.Open(filepath.Join(dir, "stock.db"), firn.Options{Tables: []firn.TableSpec{{Name: "stock"}}})
	if err != nil {
		return err
	}
	defer store.Close()
	stock := store.Table("stock")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	sums := make(chan int)
	sub := store.Subscribe(ctx, func(s *firn.Snapshot) error {
		sum := 0
		for item, err := range s.Scan(firn.Range{Index: stock.ByID(), Prefix: []byte("fruit/")}) {
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(item.Doc.Value))
			if err != nil {
				return err
			}
			sum += n
		}
		sums <- sum // it is not run again while it waits here
		return nil
	})
	fmt.Println("fruit:", <-sums)
	for _, change := range []struct{ id, n string }{{"fruit/apple", "3"}, {"tool/saw", "7"}, {"fruit/pear", "2"}, {"fruit/apple", "1"}} {
		_, err := store.Update(ctx, func(tx *firn.Tx) error { return tx.Put(stock, []byte(change.id), []byte(change.n)) })
		if err != nil {
			return err
		}
		if change.id == "tool/saw" {
			continue // nobody has read it
		}
		fmt.Println("fruit:", <-sums)
	}
	cancel()
	<-sub.Done()
	return nil
}
