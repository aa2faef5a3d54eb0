package proof

// Followers get what package journal promises, word by word, while the store
// forgets all the time and is closed and opened, and they go and come back.

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/journal/journaltest"
)

// house is a store that is written, forgotten and opened anew, and what was
// committed.
type house struct {
	t    *testing.T
	path string
	o    firn.Options

	mu    sync.RWMutex
	store *firn.Store
	log   []journaltest.Commit

	last    atomic.Int64 // the last commit of all; 0: there will be more
	passes  atomic.Int64 // of the compactor
	forgets atomic.Int64 // those that have deleted anything
	checked atomic.Int64 // states that were compared with a read
	lost    atomic.Int64 // times that a follower was told COMPACTED
}

func (h *house) now() *firn.Store {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.store
}

func (h *house) open() {
	s, err := firn.Open(h.path, h.o)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.store = s
}

// group is transactions that share a commit of the file, and so have timestamps
// that follow one another.
type group struct {
	notes *firn.Table
	wrote []map[string]string // by transaction: what documents become, "" for gone
	log   []journaltest.Commit
	done  chan error // capacity 1: Done must not block
}

func (g *group) Len() int { return len(g.wrote) }

func (g *group) Transact(i int, tx *firn.Tx) (err error) {
	c := journaltest.Commit{TS: tx.Timestamp()}
	for id, value := range g.wrote[i] {
		if value == "" {
			err = errors.Join(err, tx.Delete(g.notes, []byte(id), nil))
		} else {
			err = errors.Join(err, tx.Put(g.notes, []byte(id), []byte(value)))
		}
		c.Changes = append(c.Changes, journaltest.Change{Name: id, Became: value})
	}
	g.log = append(g.log, c)
	return err
}

func (g *group) Done(_ firn.Timestamp, err error) { g.done <- err }

// write commits a few random transactions. state is what there is.
func (h *house) write(rng *rand.Rand, state map[string]string, n int) {
	s := h.now()
	g := &group{notes: s.Table("notes"), done: make(chan error, 1)}
	for range 1 + rng.IntN(5) {
		wrote := map[string]string{}
		for range 1 + rng.IntN(4) {
			id := fmt.Sprintf("%c%d", 'a'+rng.IntN(4), rng.IntN(12))
			if rng.IntN(4) == 0 && state[id] != "" {
				wrote[id] = ""
			} else {
				wrote[id] = fmt.Sprintf("%s of %d", id, n)
			}
		}
		maps.Copy(state, wrote)
		g.wrote = append(g.wrote, wrote)
	}
	if err := s.Submit(g); err != nil {
		h.t.Fatal(err)
	}
	if err := <-g.done; err != nil {
		h.t.Fatal(err)
	}
	h.log = append(h.log, g.log...)
}

// await waits for what others do meanwhile.
func await(done func() bool) {
	for !done() {
		runtime.Gosched()
	}
}

// forget prunes, again and again.
func (h *house) forget(ctx context.Context, rng *rand.Rand) {
	for ctx.Err() == nil {
		s := h.now()
		before := s.Bounds().Newest - firn.Timestamp(rng.IntN(20_000))
		n, err := s.Prune(ctx, before)
		h.passes.Add(1)
		switch {
		case err == nil && n > 0:
			h.forgets.Add(1)
		case err != nil && ctx.Err() == nil && !errors.Is(err, firn.ErrClosed):
			h.t.Errorf("prune: %v", err)
			return
		}
	}
}

// guest is a follower that keeps a copy of what it follows.
type guest struct {
	h      *house
	name   string
	filter journal.Filter
	admits func(id string) bool
	rng    *rand.Rand

	state  map[string]string
	token  string
	at     firn.Timestamp
	events []journaltest.Event
}

func (g *guest) note(kind journaltest.Kind, ts firn.Timestamp, token string, changes ...journaltest.Change) {
	g.events = append(g.events, journaltest.Event{Client: g.name, Kind: kind, TS: ts, Token: token, Changes: changes, Seen: time.Now()})
	g.token, g.at = token, ts
}

// begin reads a snapshot to follow from.
func (g *guest) begin(s *firn.Store) error {
	return s.View(func(snap *firn.Snapshot) (err error) {
		g.state, err = g.read(s, snap)
		if err == nil {
			g.note(journaltest.Began, snap.Timestamp(), s.Token(snap.Timestamp()))
		}
		return err
	})
}

// read is what the guest should have, read directly.
func (g *guest) read(s *firn.Store, snap *firn.Snapshot) (map[string]string, error) {
	state := map[string]string{}
	for item, err := range snap.Scan(firn.Range{Index: s.Table("notes").ByID()}) {
		if err != nil {
			return nil, err
		}
		if g.admits(item.Key) {
			state[item.Key] = string(item.Doc.Value)
		}
	}
	return state, nil
}

// stay follows for so many events.
func (g *guest) stay(ctx context.Context, s *firn.Store, events int) error {
	g.note(journaltest.Resumed, g.at, g.token)
	for c, err := range s.Changes(ctx, g.token, g.filter) {
		if err != nil {
			return err
		}
		if c.Bookmark() {
			g.note(journaltest.Bookmarked, c.TS, c.Token)
			if err := g.compare(s); err != nil {
				return err
			}
		} else {
			g.take(c)
		}
		if last := g.h.last.Load(); last > 0 && int64(c.TS) >= last {
			return nil
		}
		if events--; events <= 0 {
			return nil
		}
	}
	return nil
}

func (g *guest) take(c journal.Commit) {
	var changes []journaltest.Change
	for _, change := range c.Changes {
		value := string(change.Doc.Value)
		if change.Doc.Deleted {
			value = ""
			delete(g.state, change.Doc.ID)
		} else {
			g.state[change.Doc.ID] = value
		}
		changes = append(changes, journaltest.Change{Name: change.Doc.ID, Became: value})
	}
	g.note(journaltest.Delivered, c.TS, c.Token, changes...)
}

// compare holds the guest's copy against the store as of the guest's moment.
func (g *guest) compare(s *firn.Store) error {
	err := s.At(g.at, func(snap *firn.Snapshot) error {
		want, err := g.read(s, snap)
		if err == nil && !maps.Equal(g.state, want) {
			err = fmt.Errorf("%s at %d: got %v, want %v", g.name, g.at, g.state, want)
		}
		return err
	})
	if errors.Is(err, firn.ErrCompacted) {
		return nil // forgotten before it could be compared
	}
	g.h.checked.Add(1)
	return err
}

// visit comes and goes until everything is committed and delivered.
func (g *guest) visit(ctx context.Context) error {
	for {
		s := g.h.now()
		var err error
		if g.token == "" {
			err = g.begin(s)
		} else {
			err = g.stay(ctx, s, 1+g.rng.IntN(40))
		}
		switch {
		case errors.Is(err, firn.ErrClosed):
			runtime.Gosched()
		case errors.Is(err, firn.ErrCompacted):
			g.h.lost.Add(1)
			g.token = ""
		case err != nil:
			return fmt.Errorf("%s: %w", g.name, err)
		}
		if last := g.h.last.Load(); last > 0 && int64(g.at) >= last {
			return g.compare(g.h.now())
		}
		if g.rng.IntN(4) == 0 { // away for a while
			until := s.Bounds().Newest + firn.Timestamp(g.rng.IntN(40_000))
			await(func() bool { return g.h.last.Load() > 0 || g.h.now().Bounds().Newest >= until })
		}
	}
}

// guests are followers with all sorts of filters.
func (h *house) guests(v seed.Value) (all []*guest) {
	prefixed := func(prefix string) func(string) bool {
		return func(id string) bool { return strings.HasPrefix(id, prefix) }
	}
	everything := func(string) bool { return true }
	for i, g := range []guest{
		{name: "all", admits: everything},
		{name: "all, in small pages", filter: journal.Filter{MaxRows: 5, MaxCommits: 3}, admits: everything},
		{name: "a letter", filter: journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("b")}}, admits: prefixed("b")},
		{name: "few, by the index", filter: journal.Filter{Tables: []string{"notes"}, Prefixes: [][]byte{[]byte("c11"), []byte("c10")}, MaxRows: 4}, admits: func(id string) bool { return id == "c10" || id == "c11" }},
		{name: "kept", filter: journal.Filter{Keep: func(_ string, doc *firn.Document) bool { return doc.ID > "c" }, MaxBytes: 100}, admits: func(id string) bool { return id > "c" }},
	} {
		g.h, g.rng = h, v.Rand(uint64(10+i))
		g.filter.Bookmark = 2 * time.Millisecond
		all = append(all, &g)
	}
	return all
}

// history is what a guest saw, and what it should have.
func (h *house) history(g *guest) journaltest.History {
	made := journaltest.History{Events: g.events}
	for _, c := range h.log {
		c.Changes = slices.DeleteFunc(slices.Clone(c.Changes), func(change journaltest.Change) bool { return !g.admits(change.Name) })
		if len(c.Changes) > 0 {
			made.Log = append(made.Log, c)
		}
	}
	return made
}

func TestFollowersGetWhatIsPromised(t *testing.T) {
	v := seed.Fresh(t)
	h := &house{t: t, path: filepath.Join(t.TempDir(), "house.db"), o: firn.Options{
		Tables: []firn.TableSpec{{Name: "notes"}}, Durability: firn.None, FollowBytes: 4000, CompactByHand: true,
	}}
	h.open()
	guests := h.guests(v)
	outcome := make(chan error, len(guests)) // each has room for its own
	for _, g := range guests {
		go func() { outcome <- g.visit(t.Context()) }()
	}
	rng, state := v.Rand(1), map[string]string{}
	const opens = 3
	for opened := range opens {
		ctx, cancel := context.WithCancel(t.Context())
		forgetting := make(chan struct{})
		go func() { defer close(forgetting); h.forget(ctx, v.Rand(uint64(2+opened))) }()
		for n := range seed.Steps(t, 500) {
			h.write(rng, state, n)
			if n%50 == 0 { // the compactor leaves most of the time to those who write
				passes := h.passes.Load()
				await(func() bool { return h.passes.Load() > passes || t.Failed() })
			}
		}
		if opened == opens-1 {
			h.last.Store(int64(h.log[len(h.log)-1].TS))
		}
		cancel()
		<-forgetting
		if opened < opens-1 {
			if err := h.store.Close(); err != nil {
				t.Fatal(err)
			}
			h.open()
		}
	}
	for range guests {
		if err := <-outcome; err != nil {
			t.Error(err)
		}
	}
	if err := h.store.Close(); err != nil {
		t.Error(err)
	}
	h.judge(guests)
}

// judge holds what the guests saw against the promise, and the run against what
// it must have had to prove anything.
func (h *house) judge(guests []*guest) {
	count := map[journaltest.Kind]int{}
	broken := map[string]bool{}
	for _, g := range guests {
		made := h.history(g)
		if err := journaltest.Judge(made); err != nil {
			h.t.Errorf("%s: %v", g.name, err)
		}
		for _, e := range g.events {
			count[e.Kind]++
		}
		for name, b := range journaltest.Broken {
			spoiled := made
			events, ok := b.Break(made.Events)
			spoiled.Events = events
			if ok && b.Judge(spoiled) == nil {
				h.t.Errorf("%s: a feed that %s passes", g.name, name)
			}
			broken[name] = broken[name] || ok
		}
	}
	for name := range journaltest.Broken {
		if !broken[name] {
			h.t.Errorf("the run had nothing that a feed that %s could break", name)
		}
	}
	h.t.Logf("%d commits, %v, %d passes forgot, %d states compared, %d times COMPACTED", len(h.log), count, h.forgets.Load(), h.checked.Load(), h.lost.Load())
	if count[journaltest.Delivered] < len(h.log) || count[journaltest.Resumed] < 50 || count[journaltest.Bookmarked] < 10 || h.forgets.Load() < 10 || h.checked.Load() < 10 || h.lost.Load() == 0 {
		h.t.Error("that is too little to prove anything")
	}
}
