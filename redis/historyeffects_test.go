package redis

import (
	"runtime"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
)

// HISTORY REVERT is a write like any other to those who wait, watch, track and
// listen; who may not use a key may not ask for its past; and the end of a long
// history costs as much as that of a short one.

func TestRevertIsAWriteToOthers(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	writer, waits, watches, tracks, listens := newOurs(t, srv), newOurs(t, srv), newOurs(t, srv), newOurs(t, srv), newOurs(t, srv)
	writer.Run(t, "CONFIG SET notify-keyspace-events KEAn", "RPUSH l a", "SET k 1")
	then := writer.lastTS(t)
	writer.Run(t, "DEL l", "SET k 2")
	gone := writer.lastTS(t)

	waits.waits(t, "BLPOP l 0")
	watches.Run(t, "WATCH k", "MULTI", "PING")
	tracks.Run(t, "HELLO 3", "CLIENT TRACKING ON", "GET k")
	listens.Run(t, "PSUBSCRIBE __keyevent@0__:*")
	listens.take(t)
	Check(t, "REVERT", writer.Run(t, "HISTORY REVERT l TO "+then, "HISTORY REVERT k TO "+then), ":"+then+"\r\n:"+then+"\r\n")
	Check(t, "who waited", string(waits.later(t)), "*2\r\n$1\r\nl\r\n$1\r\na\r\n")
	Check(t, "who watched", watches.Run(t, "EXEC"), "*-1\r\n")
	if got := strings.Join(invalidated(t, tracks.take(t)), " "); got != "k" {
		t.Errorf("who tracks: got %q invalidated, want k", got)
	}
	writer.Run(t, "SET l x")
	listens.take(t)
	writer.Run(t, "HISTORY REVERT l TO "+gone, "HISTORY REVERT l TO "+then)
	heard := string(listens.take(t))
	for _, event := range []string{"__:del\r\n$1\r\nl", "__:new\r\n$1\r\nl", "__:revert\r\n$1\r\nl"} {
		if !strings.Contains(heard, event) {
			t.Errorf("who listens: got %q, want %q in it", heard, event)
		}
	}
}

func TestHistoryAsksForTheRightToTheKey(t *testing.T) {
	srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
	admin := newOurs(t, srv)
	admin.Run(t, "SET mine:k 1", "SET other 1")
	then := admin.lastTS(t)
	for _, tt := range []struct {
		rules, command string
		allowed        bool
	}{
		{"+@all ~mine:*", "HISTORY GET mine:k", true},
		{"+@all ~mine:*", "HISTORY GET other", false},
		{"+@all ~mine:*", "HISTORY GETAT other " + then, false},
		{"+@all ~mine:*", "HISTORY DIFF other " + then + " now", false},
		{"+@all ~mine:*", "HISTORY DIFF mine:k " + then + " now", true},
		{"+@all ~mine:*", "HISTORY STATS other", false},
		{"+@all ~mine:*", "HISTORY STATS mine:k", true},
		{"+@all ~mine:*", "HISTORY STATS", true},
		{"+@all ~mine:*", "HISTORY REVERT other TO " + then, false},
		{"+@all ~mine:*", "HISTORY REVERT mine:k TO " + then, true},
		{"+@all %R~mine:*", "HISTORY REVERT mine:k TO " + then, false},
		{"+@all %R~mine:*", "HISTORY GET mine:k", true},
		{"+@read ~*", "HISTORY REVERT mine:k TO " + then, false},
		{"+@all -history|changed ~*", "HISTORY CHANGED " + then, false},
		{"+@all -history|changed ~*", "HISTORY LIST", true},
	} {
		got := newUser(t, srv, "resetkeys -@all "+tt.rules).Run(t, tt.command)
		if allowed := !strings.HasPrefix(got, "-NOPERM"); allowed != tt.allowed || allowed && got[0] == '-' {
			t.Errorf("%s with %s: got %q, want allowed=%t", tt.command, tt.rules, got, tt.allowed)
		}
	}
}

// TestTheEndOfALongHistoryIsCheap asks for the last versions of a key that has
// few and of one that has many: in memory not merged yet, and in the file.
func TestTheEndOfALongHistoryIsCheap(t *testing.T) {
	if race.Enabled {
		t.Skip("it measures memory")
	}
	const few, many = 200, 40_000
	cost := func(versions int, o firn.Options) uint64 {
		o.Durability = firn.None
		a, _ := NewPair(t, o)
		for range versions / few {
			a.send(t, pipeline("INCR k", few))
		}
		a.Run(t, "HISTORY GET k REV LIMIT 100")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			if got := a.Run(t, "HISTORY GET k REV LIMIT 100"); !strings.HasPrefix(got, "*100\r\n") {
				t.Fatalf("got %.40q, want 100 versions", got)
			}
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 10
	}
	for name, o := range map[string]firn.Options{"in memory": {}, "in the file": {Memory: -1, TailEntries: 1}} {
		short, long := cost(few, o), cost(many, o)
		t.Logf("%s: %d bytes allocated for the last 100 of %d versions, %d for those of %d", name, short, few, long, many)
		if long > short+short/4 {
			t.Errorf("%s: the last 100 of %d versions take %d bytes, want about %d as for %d", name, many, long, short, few)
		}
	}
}
