// Package reader answers what a store held at a moment.
//
// A [View] is the store at one timestamp. It looks for the newest version of
// a document at or before that timestamp in three places, newest first: the
// head, the tail, the file. All three give the same answer where they have
// one, so a view does not change when a document moves from one to the next.
//
// The [Head] is the present state of what is hot, within a budget of memory:
// single documents, and whole ordered ranges. What is in the head at or below
// a view's timestamp is right for that view. The head is also what
// transactions run on: the writer stages rows on it, which later transactions
// of the group see and views do not, and publishes them once they are
// committed.
//
// The package starts no goroutine. It writes nothing to the file.
package reader

import (
	"errors"

	"github.com/firndb/firn/schema"
)

// Errors of this package. Callers test them with errors.Is.
var (
	// ErrNotFound means that the document had no live version at the moment
	// of the view. It is returned bare.
	ErrNotFound = errors.New("firn: not found")

	// ErrCold means that the answer is not in memory, and the view was told
	// not to read the file. It is returned bare.
	ErrCold = errors.New("firn: not in memory")
)

// Item is one element of a range: a key of the index and the document that it
// leads to.
type Item struct {
	Key string
	Doc *schema.Row
}
