package redis

import (
	"testing"

	"github.com/firndb/firn"
)

// TestWhatComesFromAKeyThatKeepsMoreStaysDeleted: a collection that is renamed,
// or moved, to where less is kept takes versions along that its old name keeps.
// A field that was deleted since must not be one of them again.
func TestWhatComesFromAKeyThatKeepsMoreStaysDeleted(t *testing.T) {
	for _, policy := range []string{"HISTORY DISABLE KEY b", "HISTORY ENABLE KEY b RETENTION COUNT 1", "HISTORY ENABLE KEY b RETENTION COUNT 3", ""} {
		r := &restarted{options: firn.Options{Durability: firn.None, Memory: -1}, path: t.TempDir() + "/firn.db"}
		mine := r.open(t)
		if policy != "" {
			mine.ask(t, policy)
		}
		for _, command := range []string{
			"HSET a f 1", "HSET a f 2 g 1", "ZADD z 1 m", "ZADD z 2 m 3 n", "RENAME a b", "HSET b g 2", "HDEL b f", "HSET b g 3", "HSET b g 4", "HSET b g 5",
		} {
			mine.ask(t, command)
		}
		if policy == "" {
			mine.ask(t, "HISTORY CLEAR b")
		}
		for range 2 {
			if _, err := r.store.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			mine = r.open(t)
			for command, want := range map[string]string{"HGET b f": "(nil)", "HLEN b": "(integer) 1", "HGETALL b": "1) \"g\"\n2) \"5\""} {
				if got := mine.ask(t, command); got != want {
					t.Errorf("%s; %s\n got %s\nwant %s", policy, command, got, want)
				}
			}
		}
		r.close(t)
		if problems, err := firn.Check(r.path, func(p string) { t.Error(p) }); problems > 0 || err != nil {
			t.Errorf("check: got %d problems, %v", problems, err)
		}
	}
}
