package storefile

import (
	"fmt"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// AuthorsTable has a document for each author that has ever committed
// anything. It is called by its number, from 1 on, which is what a version
// says, and its value is the author as JSON. None is ever replaced.
const AuthorsTable = "firn.authors"

// AuthorNumber is the number that an author's document is called by.
func AuthorNumber(id string) (int64, error) {
	number, rest, err := tuple.TakeInt([]byte(id))
	if err != nil || len(rest) > 0 || number < 1 {
		return 0, fmt.Errorf("%w: author %q", schema.ErrCorrupt, id)
	}
	return number, nil
}
