package main

import (
	"github.com/firndb/firn"
)

// authors finds who wrote versions. Most have few authors, so each is looked
// up once.
type authors struct {
	store *firn.Store
	known map[int64]firn.Author
}

func (as *authors) of(doc *firn.Document) (firn.Author, error) {
	if author, ok := as.known[doc.Author]; ok || doc.Author == 0 {
		return author, nil
	}
	var author firn.Author
	err := as.store.View(func(snap *firn.Snapshot) (err error) {
		author, err = snap.Author(doc)
		return err
	})
	if as.known == nil {
		as.known = map[int64]firn.Author{}
	}
	as.known[doc.Author] = author
	return author, err
}

// authorHeader heads authorColumns. The words are those of HISTORY.
const authorHeader = "USER\tCLIENT\tADDRESS\tREASON"

// authorColumns is an author in a table.
func authorColumns(a firn.Author) string {
	return authorColumn(a.User) + "\t" + authorColumn(a.Client) + "\t" + authorColumn(a.Address) + "\t" + authorColumn(a.Reason)
}

func authorColumn(text string) string {
	if text == "" {
		return "-"
	}
	return word(text)
}

// addAuthor adds an author's members to an object; what is not known is empty.
func addAuthor(o *jsonObject, a firn.Author) {
	o.add("user", a.User)
	o.add("client", a.Client)
	o.add("address", a.Address)
	o.add("reason", a.Reason)
}
