package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
)

// A store need not be one of firn serve: a program may have made it, with
// tables of its own. Its documents are told by a table and an id.

// openToRead opens a store for reading, at rest or beside its server. One whose
// tables contradict the server's is a program's.
func openToRead(path string) (*firn.Store, error) {
	if err := exists(path); err != nil {
		return nil, err
	}
	store, err := firn.Open(path, firn.Options{ReadOnly: true, Tables: keyspace.Tables(), Memory: toolMemory})
	if errors.Is(err, firn.ErrTable) {
		store, err = firn.Open(path, firn.Options{ReadOnly: true, Memory: toolMemory})
	}
	if errors.Is(err, schema.ErrOlder) {
		return nil, fmt.Errorf("%w (firn check does not convert it, firn serve does)", err)
	}
	return store, err
}

// hasKeys says whether a server has made the store.
func hasKeys(store *firn.Store) bool {
	there := store.Tables()
	return !slices.ContainsFunc(keyspace.Tables()[:2], func(t firn.TableSpec) bool {
		return !slices.Contains(there, t.Name) || len(t.Indexes) > 0 && store.Table(t.Name).Index(t.Indexes[0].Name) == nil
	})
}

// ownTables are the tables of a program's store.
func ownTables(store *firn.Store) []string {
	return slices.DeleteFunc(store.Tables(), func(name string) bool { return strings.HasPrefix(name, "firn.") })
}

func noKeys(store *firn.Store) error {
	tables := ownTables(store)
	if len(tables) == 0 {
		return errors.New("the store has no keys of Redis, and no other documents")
	}
	return usageError{fmt.Errorf("the store has no keys of Redis, but documents of a program: choose a --table: %s", strings.Join(tables, ", "))}
}

// tableNamed finds a table.
func tableNamed(store *firn.Store, name string) (*firn.Table, error) {
	if slices.Contains(store.Tables(), name) {
		return store.Table(name), nil
	}
	return nil, fmt.Errorf("the store has no table %s, but %s", quoted(name), strings.Join(store.Tables(), ", "))
}

// documentID reads an id: any text, or, if that begins with a quotation mark,
// as firn log prints ids that have more than plain characters.
func documentID(text string) ([]byte, error) {
	if !strings.HasPrefix(text, `"`) {
		return []byte(text), nil
	}
	id, err := strconv.Unquote(text)
	if err != nil {
		return nil, usageError{fmt.Errorf("%s is not an id in quotation marks", text)}
	}
	return []byte(id), nil
}

// documentNamed is the table and the id that the command line names.
func documentNamed(store *firn.Store, table, idText string) (t *firn.Table, id []byte, err error) {
	if t, err = tableNamed(store, table); err != nil {
		return nil, nil, err
	}
	id, err = documentID(idText)
	return t, id, err
}

// documentHistory prints the versions of a program's document, oldest first.
func documentHistory(store *firn.Store, out io.Writer, table, idText string, limit int, asJSON bool) error {
	t, id, err := documentNamed(store, table, idText)
	if err != nil {
		return err
	}
	var versions []*firn.Document
	for doc, err := range store.History(t, id, firn.VersionRange{Newest: true, Limit: limit}) {
		if err != nil {
			return err
		}
		versions = append(versions, doc)
	}
	if len(versions) == 0 {
		return fmt.Errorf("table %s has never had a document %s, as far as history reaches", table, quoted(string(id)))
	}
	slices.Reverse(versions)
	buffered := bufio.NewWriter(out)
	return errors.Join(printDocuments(buffered, versions, &authors{store: store}, asJSON), buffered.Flush())
}

// printDocuments prints versions of a program's document.
func printDocuments(w io.Writer, versions []*firn.Document, by *authors, asJSON bool) error {
	table, encoder := newTable(w), newEncoder(w)
	if !asJSON {
		fmt.Fprintln(table, "TS\tTIME\tBYTES\tDELETED\t"+authorHeader)
	}
	for _, doc := range versions {
		author, err := by.of(doc)
		if err != nil {
			return err
		}
		if asJSON {
			object := documentObject(doc)
			addAuthor(&object, author)
			if err := encoder.Encode(object); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(table, "%d\t%s\t%d\t%s\t%s\n", doc.TS, clockTime(doc.TS), len(doc.Value), deletedWord(doc.Deleted), authorColumns(author))
	}
	return table.Flush()
}

// documentAt prints a program's document as it was at a moment.
func documentAt(store *firn.Store, out io.Writer, table, when, idText string, asJSON bool) error {
	t, id, err := documentNamed(store, table, idText)
	if err != nil {
		return err
	}
	ts, err := store.Moment(when)
	if err != nil {
		return err
	}
	return store.At(ts, func(snap *firn.Snapshot) error {
		doc, err := snap.Get(t, id)
		switch {
		case errors.Is(err, firn.ErrNotFound):
			return fmt.Errorf("table %s had no document %s then", table, quoted(string(id)))
		case err != nil:
			return err
		case asJSON:
			return newEncoder(out).Encode(documentObject(doc))
		}
		_, err = fmt.Fprintf(out, "%s\n", doc.Value)
		return err
	})
}

// documentObject is a version as JSON: its value, if that is JSON, as it is.
func documentObject(doc *firn.Document) jsonObject {
	var o jsonObject
	o.add("ts", doc.TS)
	o.add("time", clockTime(doc.TS))
	o.add("deleted", doc.Deleted)
	switch {
	case doc.Deleted:
		o.add("value", nil)
	case doc.JSON:
		o.add("value", json.RawMessage(doc.Value))
	default:
		o.add("value", jsonText(string(doc.Value)))
	}
	return o
}
