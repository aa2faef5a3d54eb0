package reader

// The rule: however readers, the writer, merges and evictions meet, every view
// sees exactly one moment.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
)

// late are the places where what was committed after a view was made can be
// when that view reads, and offers what it has read to the head.
var late = []struct {
	where string
	then  func(g *rig)
}{
	{"active", func(*rig) {}},
	{"frozen", func(g *rig) { g.merge(0) }},
	{"half merged", func(g *rig) { g.merge(1) }},
	{"merged", func(g *rig) { g.merge(-1) }},
}

// empty evicts everything from the head.
func (g *rig) empty() {
	g.head.mu.Lock()
	defer g.head.mu.Unlock()
	g.head.ranges.shrink(0)
	admitLost(g.head)
	g.head.docs.shrink(0)
}

func TestLateReaderDoesNotFillTheHeadWithThePast(t *testing.T) {
	for _, tt := range late {
		t.Run(tt.where, func(t *testing.T) {
			g := newRig(t, 1<<20)
			g.put(plain, []byte("a"), "old")
			g.merge(-1)
			reader := g.view()
			g.put(plain, []byte("a"), "new")
			for n := range 20 {
				g.put(plain, fmt.Append(nil, n), "other")
			}
			tt.then(g)
			g.empty()
			if row, err := reader.Get(plain, []byte("a")); err != nil || string(row.Value) != "old" {
				t.Errorf("the reader: got %v, %v, want old", row, err)
			}
			if row, err := g.view().Get(plain, []byte("a")); err != nil || string(row.Value) != "new" {
				t.Errorf("the present: got %v, %v, want new", row, err)
			}
		})
	}
}

func TestLateReaderDoesNotOfferRangesOfThePast(t *testing.T) {
	value := schema.Index(things.ID, 1)
	for _, tt := range late {
		t.Run(tt.where, func(t *testing.T) {
			g := newRig(t, 1<<20)
			g.must(func(x tx) error {
				return errors.Join(x.put(things, thing("g", 1), "v"), x.put(things, thing("g", 2), "v"), x.put(things, thing("g", 3), "v"))
			})
			g.merge(-1)
			first, second := g.view(), g.view()
			g.must(func(x tx) error { return x.del(things, thing("g", 1)) },
				func(x tx) error { return x.put(things, thing("g", 2), "w") },
				func(x tx) error { return x.put(things, thing("g", 4), "v") })
			tt.then(g)
			g.empty()
			for _, r := range []struct {
				keys      schema.KeyRange
				then, now string
			}{
				{whole("g"), "v@1001 v@1001 v@1001 ", "w@1003 v@1001 v@1004 "},
				{index.PrefixRange(value, group("v")), "v@1001 v@1001 v@1001 ", "v@1001 v@1004 "},
			} {
				o, err := first.Ordered(things, r.keys.Index, r.keys.From)
				if err != nil {
					t.Fatal(err)
				}
				if got := show(o.Ascend(nil)); got != r.then {
					t.Errorf("an ordered range of the reader: got %q, want %q", got, r.then)
				}
				if got := show(second.Scan(things, r.keys, 0)); got != r.then {
					t.Errorf("a scan of the reader: got %q, want %q", got, r.then)
				}
				if got := show(g.view().Scan(things, r.keys, 0)); got != r.now {
					t.Errorf("the present: got %q, want %q", got, r.now)
				}
				g.empty()
				if show(second.Scan(things, r.keys, 0)); show(g.view().Scan(things, r.keys, 0)) != r.now {
					t.Errorf("the present after a late scan: got %q, want %q", show(g.view().Scan(things, r.keys, 0)), r.now)
				}
			}
		})
	}
}

// observation is what a view at a moment saw of a document.
type observation struct {
	key      int
	at, seen schema.Timestamp
}

// TestFillNeverInstallsAnOldVersion lets readers fetch documents from the file
// into the head while the writer replaces them, then holds every answer
// against the history.
func TestFillNeverInstallsAnOldVersion(t *testing.T) {
	const keys, commits, readers = 8, 300, 3
	seed := seed.Fresh(t)
	g := newRig(t, (keys-2)*docBytes(&schema.Row{ID: string(key(0)), Value: []byte("v")})) // all but two of them fit
	g.slice = 8
	history := make([][]schema.Timestamp, keys)
	done := make(chan struct{})
	var found [readers][]observation
	var run errgroup.Group
	for i := range readers {
		run.Go(func() error {
			rng := seed.Rand(uint64(i))
			for {
				select {
				case <-done:
					return nil
				default:
				}
				var err error
				if found[i], err = g.observe(found[i], rng, keys); err != nil {
					return err
				}
			}
		})
	}
	rng := seed.Rand(readers)
	for n := range commits {
		k := rng.IntN(keys)
		if err := g.commit(func(x tx) error {
			history[k] = append(history[k], x.ts)
			return x.put(plain, key(k), "v")
		}); err != nil {
			t.Error(err)
			break
		}
		switch n % 50 {
		case 20:
			g.merge(1)
		case 40:
			g.merge(-1)
		}
	}
	close(done)
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, observations := range found {
		for _, o := range observations {
			if want := newestBefore(history[o.key], o.at); o.seen != want {
				t.Fatalf("key %d at %d: got version %d, want %d", o.key, o.at, o.seen, want)
			}
		}
	}
	for k := range keys {
		want := newestBefore(history[k], schema.MaxTimestamp)
		if row, err := g.view().Get(plain, key(k)); err != nil || row.TS != want {
			t.Errorf("key %d at the end: got %v, %v, want version %d", k, row, err, want)
		}
	}
}

func key(k int) []byte { return fmt.Appendf(nil, "key %d", k) }

// observe reads three documents in one view.
func (g *rig) observe(dst []observation, rng *rand.Rand, keys int) ([]observation, error) {
	v := new(View)
	v.Reset(g.head, false)
	defer v.Close()
	for range 3 {
		k := rng.IntN(keys)
		o := observation{key: k, at: v.at}
		row, err := v.Get(plain, key(k))
		if err == nil {
			o.seen = row.TS
		} else if err != ErrNotFound {
			return dst, err
		}
		dst = append(dst, o)
	}
	return dst, nil
}

func newestBefore(versions []schema.Timestamp, at schema.Timestamp) schema.Timestamp {
	i := sort.Search(len(versions), func(i int) bool { return versions[i] > at })
	if i == 0 {
		return 0
	}
	return versions[i-1]
}

// The invariant of the ranges below: in every transaction one member goes and
// another comes, so that a group always has groupSize of them, and what one
// member gives another gets, so that their values always add up to the same.
const (
	groupSize  = 20
	groupTotal = groupSize * 100
	groupCount = 3
)

func seedGroups(x tx) error {
	for name := range groupCount {
		for n := range groupSize {
			if err := x.put(things, thing(strconv.Itoa(name), n), "100"); err != nil {
				return err
			}
		}
	}
	return nil
}

// reshuffle replaces a member by a new one and moves an amount to another.
func reshuffle(x tx, name string, fresh int, rng *rand.Rand) error {
	if rng.IntN(5) == 0 {
		if _, err := x.view.Ordered(things, schema.ByID(things.ID), group(name)); err != nil {
			return err
		}
	}
	var members []*schema.Row
	for item, err := range x.view.Scan(things, whole(name), 0) {
		if err != nil {
			return err
		}
		members = append(members, item.Doc)
	}
	if len(members) != groupSize {
		return fmt.Errorf("a transaction sees %d members, want %d", len(members), groupSize)
	}
	rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	gone, _ := strconv.Atoi(string(members[0].Value))
	kept, _ := strconv.Atoi(string(members[1].Value))
	return errors.Join(
		x.del(things, []byte(members[0].ID)),
		x.put(things, []byte(members[1].ID), strconv.Itoa(kept+gone-7)),
		x.put(things, thing(name, fresh), "7"))
}

// sum adds up what a view sees of a group in one way.
func sum(items func(func(Item, error) bool)) (n, total int, err error) {
	for item, err := range items {
		if err != nil {
			return n, total, err
		}
		value, err := strconv.Atoi(string(item.Doc.Value))
		if err != nil {
			return n, total, err
		}
		n, total = n+1, total+value
	}
	return n, total, nil
}

// checkGroup reads a group in a random way.
func checkGroup(v *View, name string, rng *rand.Rand) error {
	var n, total int
	var err error
	how := rng.IntN(4)
	switch how {
	case 0:
		n, total, err = sum(v.Scan(things, whole(name), 0))
	case 1:
		r := whole(name)
		r.Reverse = true
		n, total, err = sum(v.Scan(things, r, 0))
	case 2:
		o, err := v.Ordered(things, schema.ByID(things.ID), group(name))
		if err != nil {
			return err
		}
		if n, total, err = sum(o.Ascend(nil)); err != nil || o.Len() != n {
			return fmt.Errorf("ordered has %d, walking it gives %d, %v", o.Len(), n, err)
		}
	case 3:
		n, err = v.Count(things, group(name))
		total = groupTotal
	}
	if err != nil || n != groupSize || total != groupTotal {
		return fmt.Errorf("group %s at %d, way %d: got %d members, total %d, %v, want %d, %d",
			name, v.at, how, n, total, err, groupSize, groupTotal)
	}
	return nil
}

// TestRangesAreOneMoment lets readers load ranges into the head while the
// writer changes them. The budget holds one of three, so that they come and go.
func TestRangesAreOneMoment(t *testing.T) {
	for _, budget := range []int64{0, 5 << 10, 16 << 10, 1 << 20} {
		t.Run(fmt.Sprintf("budget=%d", budget), func(t *testing.T) {
			seed := seed.Fresh(t)
			g := newRig(t, budget)
			g.head.pageBytes = smallPage
			g.slice = 8
			g.must(seedGroups)
			first := g.head.Newest()
			done := make(chan struct{})
			var run errgroup.Group
			for i := range 3 {
				run.Go(func() error {
					rng := seed.Rand(uint64(i))
					for {
						select {
						case <-done:
							return nil
						default:
						}
						if err := readGroups(g, first, rng); err != nil {
							return err
						}
					}
				})
			}
			rng := seed.Rand(10)
			err := g.shuffleGroups(100, rng)
			close(done)
			if err := errors.Join(err, run.Wait()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// readGroups checks all groups in one view, of the present or of the past.
func readGroups(g *rig, first schema.Timestamp, rng *rand.Rand) error {
	v := new(View)
	v.Reset(g.head, false)
	if rng.IntN(3) == 0 {
		newest := v.at
		v.Close()
		v.ResetAt(g.head, first+schema.Timestamp(rng.Int64N(int64(newest-first)+1)))
	}
	defer v.Close()
	for range 4 {
		if err := checkGroup(v, strconv.Itoa(rng.IntN(groupCount)), rng); err != nil {
			return err
		}
	}
	return nil
}

// shuffleGroups commits groups of transactions of which some fail.
func (g *rig) shuffleGroups(commits int, rng *rand.Rand) error {
	var failed error
	for n := range commits {
		var transactions []func(tx) error
		for i := range 1 + rng.IntN(3) {
			transactions = append(transactions, func(x tx) error {
				if err := reshuffle(x, strconv.Itoa(rng.IntN(groupCount)), groupSize+3*n+i, rng); err != nil {
					failed = errors.Join(failed, err)
					return err
				}
				if rng.IntN(4) == 0 {
					return errStop
				}
				return nil
			})
		}
		if err := errors.Join(g.commit(transactions...), failed); err != nil {
			return err
		}
		switch n % 20 {
		case 5, 15:
			g.merge(2)
		case 10:
			g.merge(-1)
		}
	}
	return nil
}

// TestDocumentsAreReadWhole lets readers read, into memory that they use
// again, what is replaced, evicted and moved meanwhile: each value tells its
// length, and that it is of one version.
func TestDocumentsAreReadWhole(t *testing.T) {
	const keys, readers = 64, 3
	seed := seed.Fresh(t)
	g := newRig(t, 100<<10)
	for k := range keys {
		g.put(plain, key(k), telling(byte(k), k))
	}
	done := make(chan struct{})
	var run errgroup.Group
	for i := range readers {
		run.Go(func() error {
			rng, into := seed.Rand(uint64(i)), new(schema.Row)
			for {
				select {
				case <-done:
					return nil
				default:
				}
				k := rng.IntN(keys)
				if err := readWhole(g, key(k), into); err != nil {
					return fmt.Errorf("key %d: %w", k, err)
				}
			}
		})
	}
	rng := seed.Rand(readers)
	for range race.Lighter(600, 200) {
		var all []func(tx) error
		for range 8 {
			k, n := rng.IntN(keys), rng.IntN(3000)
			all = append(all, func(x tx) error { return x.put(plain, key(k), telling(byte(x.ts), n)) })
		}
		g.must(all...)
	}
	close(done)
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
}

// telling is a value that can be told from parts of two: its length, then one
// byte as often.
func telling(b byte, n int) string {
	return string(append(binary.LittleEndian.AppendUint64(nil, uint64(n)), bytes.Repeat([]byte{b}, n)...))
}

func readWhole(g *rig, id []byte, into *schema.Row) error {
	v := new(View)
	v.Reset(g.head, false)
	defer v.Close()
	row, err := v.GetInto(plain, id, into)
	if err != nil {
		return err
	}
	rest := row.Value[8:]
	if n := binary.LittleEndian.Uint64(row.Value); int(n) != len(rest) || row.ID != string(id) ||
		len(rest) > 0 && bytes.Count(rest, rest[:1]) != len(rest) {
		return fmt.Errorf("got %q of %d bytes, %q at %d", row.ID, n, rest, row.TS)
	}
	return nil
}
