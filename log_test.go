package firn

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

type logFunc func(from, to Timestamp, fn func(table string, doc *Document) error) error

// logLent is Log on LogLent.
func (s *Store) logLent(from, to Timestamp, fn func(table string, doc *Document) error) error {
	var page []logged
	return s.LogLent(from, to, func(table string, doc *Document) error {
		kept := *doc
		kept.Value = slices.Clone(doc.Value)
		page = append(page, logged{table, &kept})
		return nil
	}, func() error {
		for _, l := range page {
			if err := fn(l.table, l.doc); err != nil {
				return err
			}
		}
		page = page[:0]
		return nil
	})
}

// TestLogIsEveryVersionInOrder reads parts of the log of three transactions,
// in a writable store and beside it.
func TestLogIsEveryVersionInOrder(t *testing.T) {
	s := openNew(t, Options{})
	notes, things := s.Table("notes"), s.Table("things")
	one := put(t, s, notes, "a", "1")
	two, err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.Delete(notes, []byte("a"), nil), tx.Put(things, thingID(0, 0), []byte("red:1")))
	})
	if err != nil {
		t.Fatal(err)
	}
	three := put(t, s, notes, "b", "3")
	beside := readOnly(t, s)
	put(t, s, notes, "c", "later")
	for _, tt := range []struct {
		from, to Timestamp
		want     []string
	}{
		{0, three, []string{"notes a 1", "things", "notes a gone", "notes b 3"}},
		{two, three, []string{"things", "notes a gone", "notes b 3"}},
		{one, two - 1, []string{"notes a 1"}},
		{three + 1, three + 1, nil},
	} {
		for _, log := range []logFunc{s.Log, s.logLent, beside.Log, beside.logLent} {
			var got []string
			if err := log(tt.from, tt.to, func(table string, doc *Document) error {
				line := table
				switch {
				case table == "notes" && doc.Deleted:
					line += fmt.Sprintf(" %s gone", doc.ID)
				case table == "notes":
					line += fmt.Sprintf(" %s %s", doc.ID, doc.Value)
				}
				got = append(got, line)
				return nil
			}); err != nil {
				t.Error(err)
			}
			slices.Sort(got[min(1, len(got)):])
			slices.Sort(tt.want[min(1, len(tt.want)):])
			if !slices.Equal(got, tt.want) {
				t.Errorf("log from %d to %d: got %q, want %q", tt.from, tt.to, got, tt.want)
			}
		}
	}
	n := 0
	count := func(string, *Document) error { n++; return nil }
	if err := beside.Log(0, 0, count); err != nil || n != 4 {
		t.Errorf("all of the log beside a writer: got %d rows, %v, want 4", n, err)
	}
	stop := errors.New("stop")
	for _, log := range []logFunc{s.Log, s.logLent} {
		if err := log(0, 0, func(string, *Document) error { return stop }); !errors.Is(err, stop) {
			t.Errorf("error of the function: got %v, want %v", err, stop)
		}
	}
	if err := moveHorizon(t.Context(), s, two); err != nil {
		t.Fatal(err)
	}
	for _, log := range []logFunc{s.Log, s.logLent, beside.Log, beside.logLent} {
		if err := log(one, 0, count); !errors.Is(err, ErrCompacted) {
			t.Errorf("log from before the horizon: got %v, want ErrCompacted", err)
		}
	}
}

// TestLogLeavesOutTheStoresOwnTables: who wrote, what is kept and what is held
// are documents too, which only LogAll shows, and Changed where they are named.
func TestLogLeavesOutTheStoresOwnTables(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	from := s.Bounds().Newest
	if _, err := s.Update(t.Context(), func(tx *Tx) error {
		return errors.Join(tx.SetAuthor(Author{User: "ada"}), tx.Put(notes, []byte("a"), []byte("1")))
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Hold(t.Context(), Hold{Name: "audit", At: s.Bounds().Newest, Until: s.opts.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetRetention(t.Context(), Scope{Group: "notes"}, &Retention{Versions: 5}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		log  logFunc
		want []string
	}{
		"Log":     {s.Log, []string{"notes"}},
		"LogLent": {s.logLent, []string{"notes"}},
		"LogAll":  {s.LogAll, []string{"firn.authors", "firn.holds", "firn.retention", "notes"}},
	} {
		var got []string
		if err := tt.log(0, 0, func(table string, _ *Document) error {
			got = append(got, table)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got documents of %q, want %q", name, got, tt.want)
		}
	}
	for _, name := range []string{"notes", "firn.holds"} {
		var got []string
		if err := s.Changed(s.Table(name), nil, from, s.Bounds().Newest, func(doc *Document) error {
			got = append(got, doc.ID)
			return nil
		}); err != nil || len(got) != 1 {
			t.Errorf("changed in %s: got %q, %v, want one document", name, got, err)
		}
	}
}

// TestLargeDocumentsOfTheLogAreAPage: who waits for somebody between pages
// holds up no read transaction, and has little to remember.
func TestLargeDocumentsOfTheLogAreAPage(t *testing.T) {
	s := openNew(t, Options{})
	notes := s.Table("notes")
	for i, bytes := range []int{10, 5 << 20, 5 << 20, 20, 30} {
		put(t, s, notes, fmt.Sprint(i), strings.Repeat(fmt.Sprint(i), bytes))
	}
	var got []string
	err := s.LogLent(0, 0, func(_ string, doc *Document) error {
		if strings.Trim(string(doc.Value), doc.ID) != "" {
			t.Errorf("document %s: got another's value", doc.ID)
		}
		got = append(got, fmt.Sprintf("%s of %d", doc.ID, len(doc.Value)))
		return nil
	}, func() error {
		got = append(got, "page")
		return nil
	})
	want := []string{"0 of 10", "page", "1 of 5242880", "page", "2 of 5242880", "page", "3 of 20", "4 of 30", "page"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("log: got %q, %v, want %q", got, err, want)
	}
}
