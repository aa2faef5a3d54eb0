package firn

// The rule: a transaction may take a key of a declared index from one document
// and give it to another, in any order.

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
)

// mailKeys finds a user by a mail address, which is the whole value.
func mailKeys(_ string, value []byte, add func([]byte)) { add(value) }

func TestKeyMovesBetweenDocuments(t *testing.T) {
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		for _, memory := range []int64{0, -1} {
			t.Run(fmt.Sprintf("%v/memory=%d", order, memory), func(t *testing.T) {
				testKeyMoves(t, order, memory)
			})
		}
	}
}

func testKeyMoves(t *testing.T, order []string, memory int64) {
	path := filepath.Join(t.TempDir(), "move.db")
	o := Options{Memory: memory, Durability: None, Tables: []TableSpec{
		{Name: "users", Indexes: []IndexSpec{{Name: "mail", Keys: mailKeys}}},
	}}
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	after := map[string]string{"a": "free", "b": "x@y"}
	write := func(values map[string]string) {
		t.Helper()
		_, err := s.Update(context.Background(), func(tx *Tx) error {
			for _, id := range order {
				if err := tx.Put(s.Table("users"), []byte(id), []byte(values[id])); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write(map[string]string{"a": "x@y", "b": "old"})
	write(after)
	for _, when := range []string{"in memory", "after a restart"} {
		got := map[string]string{}
		err := s.View(func(snap *Snapshot) error {
			for item, err := range snap.Scan(Range{Index: s.Table("users").Index("mail")}) {
				if err != nil {
					return err
				}
				got[item.Doc.ID] = item.Key
			}
			return nil
		})
		if err != nil || fmt.Sprint(got) != fmt.Sprint(after) {
			t.Errorf("%s: got %v, %v, want %v", when, got, err, after)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(path, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
