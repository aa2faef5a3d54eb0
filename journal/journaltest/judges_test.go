package journaltest

// Each judge lets a good feed pass, and not the one that breaks its word.

import (
	"fmt"
	"testing"
	"time"

	"github.com/firndb/firn/schema"
)

// good is two followers of ten commits, one of which comes back twice.
func good() History {
	var h History
	began := time.Unix(1_700_000_000, 0)
	event := func(client string, kind Kind, ts schema.Timestamp) {
		e := Event{Client: client, Kind: kind, TS: ts, Token: fmt.Sprint("@", ts), Seen: began.Add(time.Duration(ts) * time.Second)}
		if kind == Delivered {
			e.Changes = changesAt(ts)
		}
		h.Events = append(h.Events, e)
	}
	event("one", Began, 0)
	event("two", Began, 2)
	for ts := schema.Timestamp(1); ts <= 10; ts++ {
		h.Log = append(h.Log, Commit{ts, changesAt(ts)})
		event("one", Delivered, ts)
		if ts%4 == 0 {
			event("one", Bookmarked, ts)
			event("one", Resumed, ts)
		}
		if ts == 5 {
			event("one", Resumed, ts)
		}
		if ts > 2 {
			event("two", Delivered, ts)
		}
	}
	event("two", Resumed, 7) // an older one, so that some come again
	for ts := schema.Timestamp(8); ts <= 10; ts++ {
		event("two", Delivered, ts)
	}
	event("two", Bookmarked, 12)
	h.Bookmark = 10 * time.Second
	return h
}

func changesAt(ts schema.Timestamp) []Change {
	return []Change{{"a", fmt.Sprint(ts)}, {"b", "gone"}, {"b", "gone"}}[:1+ts%2]
}

func TestAGoodFeedPasses(t *testing.T) {
	if err := Judge(good()); err != nil {
		t.Error(err)
	}
}

func TestEachJudgeFindsWhatBreaksItsWord(t *testing.T) {
	for name, b := range Broken {
		h := good()
		events, ok := b.Break(h.Events)
		if !ok {
			t.Errorf("a feed that %s: the good one does not have what it takes", name)
			continue
		}
		h.Events = events
		if err := b.Judge(h); err == nil {
			t.Errorf("a feed that %s passes", name)
		}
	}
}

func TestAFollowerWithoutATokenForLongIsFound(t *testing.T) {
	h := good()
	h.Bookmark = time.Second - 1
	if Bookmarkable(h) == nil {
		t.Error("a second without a token, of less that is allowed, passes")
	}
}

func TestATokenStandsForOneMoment(t *testing.T) {
	for name, spoil := range map[string]func(e *Event){
		"another's":  func(e *Event) { e.Token = "@1" },
		"invented":   func(e *Event) { e.Token = "@99" },
		"never told": func(e *Event) { e.Kind, e.TS = Resumed, 11; e.Token = "@11" },
	} {
		h := good()
		last := 0
		for i, e := range h.Events {
			if e.Kind == Resumed {
				last = i
			}
		}
		spoil(&h.Events[last])
		if Resumable(h) == nil {
			t.Errorf("a resumption with a token that is %s passes", name)
		}
	}
}
