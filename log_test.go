package firn

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"
)

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
		for _, store := range []*Store{s, beside} {
			var got []string
			if err := store.Log(tt.from, tt.to, func(table string, doc *Document) error {
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
	if err := s.Log(0, 0, func(string, *Document) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error of the function: got %v, want %v", err, stop)
	}
	if err := moveHorizon(t.Context(), s, two); err != nil {
		t.Fatal(err)
	}
	for _, store := range []*Store{s, beside} {
		if err := store.Log(one, 0, count); !errors.Is(err, ErrCompacted) {
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
		log  func(from, to Timestamp, fn func(table string, doc *Document) error) error
		want []string
	}{
		"Log":    {s.Log, []string{"notes"}},
		"LogAll": {s.LogAll, []string{"firn.authors", "firn.holds", "firn.retention", "notes"}},
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
