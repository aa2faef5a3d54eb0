package firn

// The rule: a version says who wrote it, an author is one document, and no
// version ever names an author who is not in the file.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/schema"
)

var (
	ada   = Author{User: "ada", Client: "desk", Address: "192.0.2.1", Reason: "ticket 7"}
	grace = Author{User: "grace", Address: "/run/firn.sock"}
)

// putBy commits one document by an author.
func putBy(t testing.TB, s *Store, a Author, id, value string) {
	t.Helper()
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.SetAuthor(a), tx.Put(s.Table("notes"), []byte(id), []byte(value)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// authorsOf is who wrote the versions of a document, oldest first.
func authorsOf(t testing.TB, s *Store, id string) []Author {
	t.Helper()
	var all []Author
	err := s.View(func(snap *Snapshot) error {
		for doc, err := range snap.Versions(s.Table("notes"), []byte(id), VersionRange{}) {
			if err != nil {
				return err
			}
			a, err := snap.Author(doc)
			if err != nil {
				return err
			}
			all = append(all, a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// enrolled is the authors in the file, by number.
func enrolled(t testing.TB, s *Store) []Author {
	t.Helper()
	var all []Author
	err := s.View(func(snap *Snapshot) error {
		for item, err := range snap.Scan(Range{Index: s.Table(storefile.AuthorsTable).ByID()}) {
			if err != nil {
				return err
			}
			number, err := storefile.AuthorNumber(item.Key)
			if want := int64(len(all) + 1); err != nil || number != want || !item.Doc.JSON || item.Doc.Author != 0 {
				t.Errorf("author %q: got number %d, JSON %t, author %d, %v, want number %d, JSON, nobody's",
					item.Doc.Value, number, item.Doc.JSON, item.Doc.Author, err, want)
			}
			var a Author
			if err := json.Unmarshal(item.Doc.Value, &a); err != nil {
				return err
			}
			all = append(all, a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t testing.TB, what string, got, want []Author) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

func TestVersionsSayWhoWroteThem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "authors.db")
	for _, memory := range []int64{0, -1} {
		o := Options{Durability: None, Memory: memory, Tables: []TableSpec{{Name: "notes"}}}
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		by := []Author{ada, grace, {}, ada, ada, {}, grace, ada}
		for i, a := range by {
			putBy(t, s, a, "a", fmt.Sprint(i))
		}
		put(t, s, s.Table("notes"), "a", "nobody is the default, also after ada")
		check := func(s *Store) {
			same(t, "authors of the versions", authorsOf(t, s, "a"), append(slices.Clip(by), Author{}))
			same(t, "documents", enrolled(t, s), []Author{ada, grace})
		}
		check(s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openAt(t, path, o)
		check(s)
		putBy(t, s, grace, "b", "known from the file")
		putBy(t, s, Author{User: "new"}, "b", "comes behind")
		same(t, "documents after opening", enrolled(t, s), []Author{ada, grace, {User: "new"}})
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := Check(path, func(problem string) { t.Error(problem) }); n > 0 || err != nil {
			t.Errorf("check: got %d problems, %v", n, err)
		}
		if err := errors.Join(Reindex(path, o.Tables, nil), os.Remove(path)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestATransactionMayHaveSeveralAuthors(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		write := func(id string) error { return tx.Put(notes, []byte(id), nil) }
		err := errors.Join(write("none"), tx.SetAuthor(ada), write("a"), write("b"), tx.SetAuthor(grace), write("c"), write("b"),
			tx.SetAuthor(Author{}), write("d"), tx.SetAuthor(ada), write("e"))
		for id, want := range map[string]Author{"none": {}, "a": ada, "b": grace, "d": {}, "e": ada} {
			doc, getErr := tx.Get(notes, []byte(id))
			got, authorErr := tx.Author(doc)
			if err = errors.Join(err, getErr, authorErr); got != want {
				t.Errorf("inside, %s: got %q, want %q", id, got, want)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]Author{"none": {}, "a": ada, "b": grace, "c": grace, "d": {}, "e": ada} {
		same(t, id, authorsOf(t, s, id), []Author{want})
	}
	same(t, "documents", enrolled(t, s), []Author{ada, grace})
}

func TestOnlyWhoCommitsIsAnAuthor(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	before := s.Stats().Rows
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.SetAuthor(ada), tx.Delete(notes, []byte("not there"), nil))
	})
	refused := errors.New("refused")
	for range 2 {
		_, failed := s.Update(t.Context(), func(tx *Tx) error {
			return errors.Join(tx.SetAuthor(ada), tx.Put(notes, []byte("a"), nil), refused)
		})
		if err != nil || !errors.Is(failed, refused) {
			t.Fatalf("got %v, %v, want the transaction's own error", err, failed)
		}
	}
	if rows := s.Stats().Rows - before; rows != 0 {
		t.Errorf("rows: got %d, want none", rows)
	}
	putBy(t, s, grace, "a", "takes the number that ada would have had")
	putBy(t, s, ada, "a", "")
	same(t, "versions", authorsOf(t, s, "a"), []Author{grace, ada})
	same(t, "documents", enrolled(t, s), []Author{grace, ada})
}

// authorBatch runs transactions in one group: each puts a document by an
// author, and some fail after that.
type authorBatch struct {
	store *Store
	by    []Author
	value []byte
	fails map[int]bool
	err   chan error
}

func (b *authorBatch) Len() int                    { return len(b.by) }
func (b *authorBatch) Done(_ Timestamp, err error) { b.err <- err }

func (b *authorBatch) Transact(i int, tx *Tx) error {
	err := errors.Join(tx.SetAuthor(b.by[i]), tx.Put(b.store.Table("notes"), fmt.Appendf(nil, "%d", i), b.value))
	if b.fails[i] {
		err = errors.Join(err, errors.New("fails"))
	}
	return err
}

func TestAFailedTransactionTakesItsAuthorAlong(t *testing.T) {
	s := openNew(t, Options{})
	b := &authorBatch{store: s, by: []Author{ada, grace, ada, ada, grace}, fails: map[int]bool{0: true, 3: true}, err: make(chan error, 1)}
	if err := errors.Join(s.Submit(b), <-b.err); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]Author{"0": nil, "1": {grace}, "2": {ada}, "3": nil, "4": {grace}} {
		same(t, id, authorsOf(t, s, id), want)
	}
	same(t, "documents", enrolled(t, s), []Author{grace, ada})
}

// TestAFailedGroupTakesItsAuthorsAlong fills the file: authors of groups that
// were refused are not known afterwards, and get numbers when there is room.
func TestAFailedGroupTakesItsAuthorsAlong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	o := Options{Durability: None, Tables: []TableSpec{{Name: "notes"}}}
	s, err := openOn(path, schema.Options{MaxPages: 60}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	putBy(t, s, ada, "a", "")
	// The second of the same author finds what the first has staged.
	b := &authorBatch{store: s, by: []Author{grace, grace, {User: "third"}, ada, grace}, value: make([]byte, 1<<20), err: make(chan error, 1)}
	if err := errors.Join(s.Submit(b), <-b.err); !errors.Is(err, ErrFull) {
		t.Fatalf("writes to a full disk: got %v, want ErrFull", err)
	}
	same(t, "documents of a full store", enrolled(t, s), []Author{ada})
	for _, a := range []Author{{User: "third"}, grace, ada} {
		putBy(t, s, a, "a", "")
	}
	check := func() {
		same(t, "versions", authorsOf(t, s, "a"), []Author{ada, {User: "third"}, grace, ada})
		same(t, "documents", enrolled(t, s), []Author{ada, {User: "third"}, grace})
	}
	check()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openAt(t, path, o)
	check()
}

func TestAuthorsOutOfBoundsAreRefused(t *testing.T) {
	s := openNew(t, Options{})
	long := strings.Repeat("x", maxAuthorBytes/2)
	_, err := s.Update(t.Context(), func(tx *Tx) error {
		if err := tx.SetAuthor(Author{User: long, Reason: long + "y"}); !errors.Is(err, schema.ErrSize) {
			t.Errorf("an author of %d bytes: got %v, want %v", maxAuthorBytes+1, err, schema.ErrSize)
		}
		if err := tx.SetAuthor(Author{Client: "\xff"}); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("an author that is not UTF-8: got %v, want an error that says so", err)
		}
		return errors.Join(tx.Put(s.Table("notes"), []byte("a"), nil),
			tx.SetAuthor(Author{User: long, Reason: long}), tx.Put(s.Table("notes"), []byte("b"), nil))
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "after two that were refused", authorsOf(t, s, "a"), []Author{{}})
	same(t, "the longest", authorsOf(t, s, "b"), []Author{{User: long, Reason: long}})
	var kept *Tx
	if _, err := s.Update(t.Context(), func(tx *Tx) error { kept = tx; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := kept.SetAuthor(ada); !errors.Is(err, errEnded) {
		t.Errorf("after the transaction: got %v, want %v", err, errEnded)
	}
}

// TestMoreAuthorsThanAreRemembered: who is forgotten in memory is found in the
// file.
func TestMoreAuthorsThanAreRemembered(t *testing.T) {
	s := openNew(t, Options{})
	for _, remembered := range []int{0, maxKnownAuthors, maxKnownAuthors} { // once they are committed
		b := &authorBatch{store: s, err: make(chan error, 1)}
		for i := range maxKnownAuthors + 100 {
			b.by = append(b.by, Author{User: fmt.Sprint(i)})
		}
		if err := errors.Join(s.Submit(b), <-b.err); err != nil {
			t.Fatal(err)
		}
		if n := len(s.authors.known); n != remembered {
			t.Fatalf("authors in memory: got %d, want %d", n, remembered)
		}
	}
	if n := len(enrolled(t, s)); n != maxKnownAuthors+100 {
		t.Errorf("documents: got %d, want %d", n, maxKnownAuthors+100)
	}
}

func TestAuthorsThatAreNotThere(t *testing.T) {
	s := openNew(t, Options{})
	putBy(t, s, ada, "a", "old")
	then := s.Bounds().Newest
	putBy(t, s, grace, "a", "new")
	var doc *Document
	err := s.View(func(snap *Snapshot) (err error) {
		doc, err = snap.Get(s.Table("notes"), []byte("a"))
		if err != nil {
			return err
		}
		lost := *doc
		lost.Author = 99
		if _, err := snap.Author(&lost); !errors.Is(err, schema.ErrCorrupt) {
			t.Errorf("an author who is lost: got %v, want %v", err, schema.ErrCorrupt)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.At(then, func(snap *Snapshot) error {
		_, err := snap.Author(doc)
		return err
	})
	if !errors.Is(err, ErrFuture) {
		t.Errorf("an author who comes later: got %v, want %v", err, ErrFuture)
	}
	err = s.Peek(func(snap *Snapshot) error {
		a, err := snap.Author(doc)
		same(t, "in memory", []Author{a}, []Author{grace})
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkSetAuthor(b *testing.B) {
	s := openNew(b, Options{})
	many := make([]Author, 50)
	for i := range many {
		many[i] = Author{User: "default", Client: fmt.Sprintf("worker-%d", i), Address: "127.0.0.1"}
		putBy(b, s, many[i], "a", "")
		putBy(b, s, many[i], "a", "") // the second finds it committed
	}
	for _, authors := range []int{1, 50} {
		b.Run(fmt.Sprintf("authors=%d", authors), func(b *testing.B) {
			_, err := s.Update(context.Background(), func(tx *Tx) error {
				for i := 0; b.Loop(); i++ {
					if err := tx.SetAuthor(many[i%authors]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

func TestCheckMissesAuthors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "authors.db")
	s := openAt(t, path, Options{Tables: []TableSpec{{Name: "notes"}}})
	putBy(t, s, ada, "k", "1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := Check(path, func(problem string) { t.Error(problem) }); n > 0 || err != nil {
		t.Fatalf("whole: got %d problems, %v", n, err)
	}
	engine, err := schema.Open(path, schema.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a := engine.Appender()
	row := &schema.Row{ID: "x", TS: schema.TimestampOf(time.Now().Add(time.Hour)), Table: s.Table("notes").def.ID, Value: []byte("1"), Author: 7}
	if err := errors.Join(a.Begin(), a.Append([]*schema.Row{row}), a.Commit(), engine.Close()); err != nil {
		t.Fatal(err)
	}
	var problems []string
	if _, err := Check(path, func(problem string) { problems = append(problems, problem) }); err != nil {
		t.Fatal(err)
	}
	if len(problems) != 1 || !strings.HasSuffix(problems[0], "its author 7 is not there") {
		t.Errorf("without an author: got %q", problems)
	}
}
