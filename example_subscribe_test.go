package firn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/firndb/firn"
)

// A subscription runs again whenever a commit changes what it has read.
func ExampleStore_Subscribe() {
	dir, err := os.MkdirTemp("", "firn")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	store, err := firn.Open(filepath.Join(dir, "notes.db"), firn.Options{Tables: []firn.TableSpec{{Name: "notes"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	notes := store.Table("notes")

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen := make(chan string)
	sub := store.Subscribe(ctx, func(s *firn.Snapshot) error {
		doc, err := s.Get(notes, []byte("greeting"))
		switch {
		case errors.Is(err, firn.ErrNotFound):
			seen <- "nothing yet"
		case err != nil:
			return err
		default:
			seen <- string(doc.Value)
		}
		return nil
	})
	fmt.Println(<-seen)
	for _, text := range []string{"hello", "hello again"} {
		if _, err := store.Update(ctx, func(tx *firn.Tx) error {
			if err := tx.Put(notes, []byte("other"), []byte("nobody reads it")); err != nil {
				return err
			}
			return tx.Put(notes, []byte("greeting"), []byte(text))
		}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(<-seen)
	}
	cancel()
	<-sub.Done()
	fmt.Println(sub.Err())
	// Output:
	// nothing yet
	// hello
	// hello again
	// context canceled
}
