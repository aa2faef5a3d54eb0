// Package firn is an append-only, log-structured document store that
// remembers.
//
// A store is one SQLite file. Documents live in tables, each document under an
// id of any bytes; putting or deleting one appends a version and never changes
// an older one. Every transaction has a [Timestamp], and every read names the
// moment that it reads at: [Store.View] the present, [Store.At] any moment
// back to the store's horizon.
//
//	store, err := firn.Open("firn.db", firn.Options{
//		Tables: []firn.TableSpec{{Name: "users"}},
//	})
//	users := store.Table("users")
//	ts, err := store.Update(ctx, func(tx *firn.Tx) error {
//		return tx.Put(users, []byte("ada"), []byte("first"))
//	})
//	err = store.At(ts, func(s *firn.Snapshot) error { … })
//
// One goroutine, started by Open and joined by Close, runs all transactions
// one after the other in memory and commits what waits as a group, so many
// small concurrent Updates are fast and one sequential loop of them is as slow
// as the disk's fsync. [Options.Durability] says how durable a commit is when
// it is answered.
//
// # Caveats
//
//   - Values, and everything a Document points to, are shared with the store's
//     memory: they must not be modified, neither after Put nor after Get.
//   - Transactions must be short. While the function given to Update runs,
//     nobody else's does. It must not call Update: that would wait for itself.
//   - A Snapshot, a Tx and what they return an iterator over are valid only
//     inside the function that they were given to. Documents stay valid.
//   - A read below the horizon is [ErrCompacted], never [ErrNotFound].
//   - One process has the file open at a time; the second gets [ErrLocked].
package firn

import "github.com/firndb/firn/schema"

// Timestamp orders commits: microseconds since the Unix epoch, strictly
// increasing from transaction to transaction, never reused.
//
//	func (ts Timestamp) Time() time.Time // in UTC
//	func (ts Timestamp) Millis() int64   // of Unix time, rounded down
type Timestamp = schema.Timestamp

// Document is one version of one document. It is immutable, Value included:
// the writer, the store's memory and every reader share it.
//
//	type Document struct {
//		TS      Timestamp // of the commit
//		Prev    Timestamp // of the version that this one replaces; 0: none
//		Table   TableID   // the table's number in the file
//		Deleted bool      // the document ends here; Value may hold a note on why
//		JSON    bool      // Value is JSON text
//		Author  int64     // who wrote it, see Reader.Author; 0: nobody said
//		ID      string    // any bytes, not empty
//		Value   []byte    // nil and empty are different
//	}
//
// Ids and keys that sort as the values that they are made of are built with
// package tuple.
type Document = schema.Row
