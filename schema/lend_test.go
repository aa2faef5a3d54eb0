package schema

import (
	"bytes"
	"testing"
)

// TestLentValuesAreTheCallersAgain: a large value is lent to its statement only
// while that runs, so its memory may then be used for the next one, and nothing
// of it is found in rows that follow.
func TestLentValuesAreTheCallersAgain(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	a, session := s.Appender(), openSession(t, s)
	room := make([]byte, 3*largeBytes)
	sizes := []int{largeBytes + 1, 10, 3 * largeBytes, 2 * largeBytes, largeBytes, 0, largeBytes + 7}
	must(t, a.Begin())
	for i, n := range sizes {
		for j := range room {
			room[j] = 'a' + byte(i)
		}
		row := &Row{TS: Timestamp(i + 1), Table: 1, ID: "id", Prev: Timestamp(i), Value: room[:n], JSON: i%2 == 1}
		must(t, a.Append([]*Row{row}))
	}
	clear(room)
	must(t, a.Commit())
	for i, n := range sizes {
		row, err := session.Row(1, "id", Timestamp(i+1))
		must(t, err)
		if want := bytes.Repeat([]byte{'a' + byte(i)}, n); row == nil || !bytes.Equal(row.Value, want) || row.JSON != (i%2 == 1) {
			t.Errorf("row %d: got another row or value, want %d times %q", i, n, 'a'+byte(i))
		}
	}
}

// TestLentValueOfARowThatIsRefused: what the statement was to look at is not
// there any more when the next row is bound.
func TestLentValueOfARowThatIsRefused(t *testing.T) {
	s := openTest(t, Options{Sync: SyncNormal})
	a, session := s.Appender(), openSession(t, s)
	large := bytes.Repeat([]byte("large"), largeBytes)
	good := &Row{TS: 1, Table: 1, ID: "a", Value: large}
	must(t, a.Begin())
	if err := a.Append([]*Row{good, {TS: 1, Table: 1, Value: large}}); err == nil {
		t.Error("a row without an id: got no error, want ErrBounds")
	}
	must(t, a.Rollback())
	clear(large)
	small := []*Row{{TS: 2, Table: 1, ID: "a", Deleted: true}, {TS: 2, Table: 1, ID: "b", Value: []byte("small")}}
	must(t, a.Begin(), a.Append(small), a.Commit())
	for _, want := range small {
		row, err := session.Row(1, want.ID, 2)
		must(t, err)
		if row == nil || !bytes.Equal(row.Value, want.Value) || row.Deleted != want.Deleted {
			t.Errorf("row %s: got %v, want %v", want.ID, row, want)
		}
	}
}
