package redis

// The log tells which database each change was made in, also after databases
// were emptied and exchanged.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// changesFrom is the log from a moment on, a line for each change.
func changesFrom(t *testing.T, store *firn.Store, from firn.Timestamp) string {
	t.Helper()
	changes, err := keyspace.NewChanges(store, from)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	if err := store.Log(from, 0, func(table string, doc *firn.Document) error {
		c, ok, err := changes.Of(table, doc)
		if ok {
			lines = append(lines, fmt.Sprintf("%d %s %s %s %t", c.DB, c.Key, c.Operation, c.Type, c.Deleted))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestChangesKnowTheirDatabase(t *testing.T) {
	a, _ := NewPair(t, firn.Options{})
	commands := []struct{ command, want string }{
		{"SET a 1", "0 a SET string false"},
		{"HSET h f v g w", "0 h HSET hash false"},
		{"DEL h", "0 h DEL hash true"},
		{"FLUSHDB", "0  FLUSHDB database false"},
		{"SET b 1", "0 b SET string false"},
		{"SWAPDB 0 1", "0  SWAPDB database false\n1  SWAPDB database false"},
		{"SET c 1", "0 c SET string false"},
		{"SELECT 1", ""},
		{"APPEND b 2", "1 b APPEND string false"},
		{"SWAPDB 0 1", "0  SWAPDB database false\n1  SWAPDB database false"},
		{"SET d 1", "1 d SET string false"},
	}
	var want []string
	var starts []firn.Timestamp
	for _, c := range commands {
		starts = append(starts, a.Store.Bounds().Newest+1)
		a.Run(t, c.command)
	}
	for i := len(commands) - 1; i >= 0; i-- {
		if commands[i].want != "" {
			want = append([]string{commands[i].want}, want...)
			got, want := changesFrom(t, a.Store, starts[i]), strings.Join(want, "\n")
			Check(t, "log from "+commands[i].command, strings.ToUpper(got), strings.ToUpper(want))
		}
	}
}
