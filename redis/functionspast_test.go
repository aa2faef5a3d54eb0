package redis

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
)

// The rule: a function that reads, and FUNCTION LIST, reply at a moment what a
// real Redis replied then, also when the horizon has come close and the store
// was opened again.

// functionWrites draws what changes libraries, and the key that they read.
func functionWrites(t *testing.T, g *rand.Rand, payloads []string) [][]byte {
	t.Helper()
	words := func(text string) [][]byte { return SplitWords(t, text) }
	l := g.IntN(4)
	switch g.IntN(10) {
	case 0:
		return words(fmt.Sprintf("FUNCTION DELETE l%d", l))
	case 1:
		return words("FUNCTION FLUSH")
	case 2, 3:
		if len(payloads) > 0 {
			policy := [...]string{"APPEND", "REPLACE", "FLUSH"}[g.IntN(3)]
			return [][]byte{[]byte("FUNCTION"), []byte("RESTORE"), []byte(payloads[g.IntN(len(payloads))]), []byte(policy)}
		}
	case 4:
		return words("FLUSHALL")
	case 5, 6:
		return words(fmt.Sprintf("SET k %d", g.IntN(100)))
	}
	f := l
	if g.IntN(4) == 0 {
		f = g.IntN(4) // which another library may have
	}
	body := fmt.Sprintf("return '%d ' .. (redis.call('GET', keys[1]) or 'none')", g.IntN(1000))
	return words(loadFunction(fmt.Sprintf("l%d", l), fmt.Sprintf("f%d", f), body))
}

func TestFunctionsOfEachMomentAreThoseOfRedis(t *testing.T) {
	redis := startRedis(t)()
	o := coldOptions["both"]
	store := openStore(t, o)
	a, g := newOurs(t, New(store, Options{})), seed.Fresh(t).Rand(9)
	redis.tell(t, []byte("FUNCTION"), []byte("FLUSH"))
	questions := []string{"FUNCTION LIST LIBRARYNAME l0 WITHCODE", "FUNCTION LIST LIBRARYNAME l1", "FCALL_RO f0 1 k", "FCALL_RO f1 1 k", "FCALL_RO f2 1 k", "FCALL_RO f3 1 k"}
	type moment struct {
		ts      firn.Timestamp
		replies []string
	}
	var moments []moment
	var payloads []string
	for range seed.Steps(t, 400) {
		words := functionWrites(t, g, payloads)
		// Of several libraries that are in the way Redis names any.
		if mine, theirs := a.tell(t, words...), redis.tell(t, words...); !bytes.Equal(mine, theirs) && (mine[0] != '-' || theirs[0] != '-') {
			t.Fatalf("%s:\n got %q\nwant %q", quoteWords(words), mine, theirs)
		}
		if g.IntN(8) == 0 {
			payloads = append(payloads, ask(t, redis, "FUNCTION DUMP").text)
		}
		m := moment{ts: store.Bounds().Newest}
		for _, q := range questions {
			m.replies = append(m.replies, string(redis.tell(t, SplitWords(t, q)...)))
		}
		moments = append(moments, m)
	}
	agree := func(moments []moment) {
		t.Helper()
		for i, m := range moments {
			for j, q := range questions {
				if got := a.Run(t, fmt.Sprintf("AT %d %s", m.ts, q)); got != m.replies[j] {
					t.Fatalf("moment %d, %s:\n got %q\nwant %q", i, q, got, m.replies[j])
				}
			}
		}
	}
	agree(moments)
	half := moments[len(moments)/2]
	a.Run(t, fmt.Sprintf("CLIENT ASOF %d", half.ts))
	for j, q := range questions {
		Check(t, "ASOF "+q, a.Run(t, q), half.replies[j])
	}
	a.Run(t, "CLIENT ASOF OFF")
	if _, err := store.Prune(t.Context(), half.ts); err != nil {
		t.Fatal(err)
	}
	for i, m := range moments {
		if m.ts < half.ts {
			if got := a.Run(t, fmt.Sprintf("AT %d %s", m.ts, questions[2])); !strings.HasPrefix(got, "-COMPACTED ") {
				t.Errorf("moment %d, below the horizon: got %q", i, got)
			}
			continue
		}
		agree(moments[i:])
		return
	}
}

// TestFunctionsAreKeptWithWhatTheyRead: whatever the policies say of other keys.
func TestFunctionsAreKeptWithWhatTheyRead(t *testing.T) {
	a, _, clock := clockedPair(t, -1)
	a.Run(t, "HISTORY DISABLE GLOBAL", "HISTORY ENABLE KEY k", loadFunction("l", "f", "return 'first ' .. redis.call('GET', keys[1])"), "SET k 1", "SET other 1")
	then := a.lastTS(t)
	clock.advance(time.Hour)
	a.Run(t, loadFunction("l", "f", "return 'second ' .. redis.call('GET', keys[1])"), "SET k 2", "SET other 2", "FUNCTION DELETE l", "SET k 3")
	clock.advance(time.Hour)
	if _, err := a.Store.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := a.Run(t, "AT "+then+" GET other"); !strings.HasPrefix(got, "-COMPACTED ") {
		t.Errorf("another key: got %q, want COMPACTED", got)
	}
	Check(t, "the key and the function", a.Run(t, "AT "+then+" FCALL_RO f 1 k"), "$7\r\nfirst 1\r\n")
}
