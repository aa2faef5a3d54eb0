package redis

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// A scan returns every element that is there from its beginning to its end,
// whatever else changes meanwhile, and ends.

// scanAll follows a scan's cursors to the end and counts what came. Between
// two steps it calls change.
func scanAll(t *testing.T, o *ours, command, options string, change func(step int)) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for cursor, step := "0", 0; ; step++ {
		reply, _, err := parseValue(o.tell(t, SplitWords(t, command+" "+cursor+" "+options)...))
		if err != nil || len(reply.elements) != 2 {
			t.Fatalf("got %v, %v\nwant a page", reply, err)
		}
		for _, e := range reply.elements[1].elements {
			seen[e.text]++
		}
		cursor = reply.elements[0].text
		if cursor == "0" {
			return seen
		}
		if step > 10_000 {
			t.Fatal("the scan does not end")
		}
		change(step)
	}
}

func unchanged(int) {}

func newPlain(t *testing.T) *ours {
	return newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{}))
}

func TestScanSeesAllThatStaysWhileKeysComeAndGo(t *testing.T) {
	o := newPlain(t)
	for i := range 200 {
		o.ask(t, fmt.Sprintf("SET stays%d v", i))
		o.ask(t, fmt.Sprintf("SET goes%d v", i))
	}
	seen := scanAll(t, o, "SCAN", "COUNT 7", func(step int) {
		o.ask(t, fmt.Sprintf("DEL goes%d", step))
		o.ask(t, fmt.Sprintf("SET comes%d v", step))
	})
	for i := range 200 {
		if key := fmt.Sprintf("stays%d", i); seen[key] != 1 {
			t.Errorf("%s: got %d times\nwant once", key, seen[key])
		}
	}
}

func TestScanOfALargeHashGoesInSteps(t *testing.T) {
	o := newPlain(t)
	for i := range keyspace.DefaultHashEntries + 100 {
		o.ask(t, fmt.Sprintf("HSET h f%d v%d", i, i))
	}
	seen := scanAll(t, o, "HSCAN h", "COUNT 50", unchanged)
	if got, want := len(seen), 2*(keyspace.DefaultHashEntries+100); got != want {
		t.Errorf("got %d fields and values\nwant %d", got, want)
	}
	seen = scanAll(t, o, "HSCAN h", "COUNT 5 MATCH f10*", unchanged)
	if got, want := len(seen), 2*11; got != want {
		t.Errorf("got %d fields and values\nwant %d", got, want)
	}
}

func TestScanWithAPatternLooksOnlyBehindItsPrefix(t *testing.T) {
	o := newPlain(t)
	for i := range 100 {
		o.ask(t, fmt.Sprintf("MSET a%d v b%d v c%d v", i, i, i))
	}
	steps := 0
	seen := scanAll(t, o, "SCAN", "COUNT 10 MATCH b*", func(int) { steps++ })
	if len(seen) != 100 || steps != 9 {
		t.Errorf("got %d keys in %d steps\nwant 100 in 9", len(seen), steps)
	}
}

func TestScanReadsThePast(t *testing.T) {
	o := newPlain(t)
	for i := range 50 {
		o.ask(t, fmt.Sprintf("SET k%d v", i))
	}
	at := strconv.FormatInt(int64(o.Store.Bounds().Newest), 10)
	o.ask(t, "FLUSHDB")
	seen := scanAll(t, o, "AT "+at+" SCAN", "COUNT 7", func(step int) { o.ask(t, fmt.Sprintf("SET k%d w", step)) })
	if len(seen) != 50 {
		t.Errorf("got %d keys\nwant 50", len(seen))
	}
}

func TestScanWithAForgottenCursorBeginsAnew(t *testing.T) {
	o := newPlain(t)
	o.expect(t, "MSET a 1 b 2", "OK", "SCAN 12345", "1) \"0\"\n2) 1) \"a\"\n   2) \"b\"")
}

func TestRandomKeyReachesEveryKey(t *testing.T) {
	o := newPlain(t)
	keys := []string{"a", `"a\x00"`, `"a\x00b"`, "ab", `""`, `"\xff"`, "user:1", "user:10", "user:2"}
	for _, key := range keys {
		o.ask(t, "SET "+key+" v")
	}
	seen := map[string]bool{}
	for range 2000 {
		seen[o.ask(t, "RANDOMKEY")] = true
	}
	if len(seen) != len(keys) {
		t.Errorf("got %v\nwant %d keys", seen, len(keys))
	}
}

func TestRandomFieldsAreDifferentOnes(t *testing.T) {
	o := newPlain(t)
	for i := range 60 {
		o.ask(t, fmt.Sprintf("HSET h f%d v%d", i, i))
	}
	for _, count := range []int{1, 5, 19, 21, 40, 59, 60, 100} {
		reply, _, _ := parseValue(o.tell(t, []byte("HRANDFIELD"), []byte("h"), strconv.AppendInt(nil, int64(count), 10)))
		seen := map[string]bool{}
		for _, e := range reply.elements {
			seen[e.text] = true
		}
		if want := min(count, 60); len(seen) != want || len(reply.elements) != want {
			t.Errorf("count %d: got %d fields, %d different\nwant %d", count, len(reply.elements), len(seen), want)
		}
	}
	o.expect(t, "HRANDFIELD h -10000001", "(error) ERR value is out of range")
}
