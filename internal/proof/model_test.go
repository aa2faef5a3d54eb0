package proof

// The rule: whatever the options, however the store was restarted, merged or
// evicted, a store answers like a map from documents to lists of versions.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// modelVersion is one version in the model.
type modelVersion struct {
	ts      firn.Timestamp
	deleted bool
	value   string
}

// model is the reference: versions by id, oldest first.
type model map[string][]modelVersion

func (m model) at(id string, ts firn.Timestamp) (modelVersion, bool) {
	versions := m[id]
	i := sort.Search(len(versions), func(i int) bool { return versions[i].ts > ts })
	if i == 0 {
		return modelVersion{}, false
	}
	return versions[i-1], true
}

// live is the sorted ids of live documents with a prefix.
func (m model) live(prefix string, ts firn.Timestamp) []string {
	var ids []string
	for id := range m {
		if v, ok := m.at(id, ts); ok && !v.deleted && strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// colorKeys indexes a value by what is before its colon: (color, id), so that
// every key is unique.
func colorKeys(id string, value []byte, add func([]byte)) {
	if color, _, ok := bytes.Cut(value, []byte(":")); ok {
		add(append(tuple.AppendBytes(nil, color), id...))
	}
}

func modelTables() []firn.TableSpec {
	return []firn.TableSpec{{
		Name: "things", Prefix: 1, Counted: true,
		Indexes: []firn.IndexSpec{{Name: "color", Prefix: 1, Keys: colorKeys}},
	}}
}

func thingID(group, n int) []byte {
	return tuple.AppendInt(tuple.AppendInt(nil, int64(group)), int64(n))
}

func groupPrefix(group int) []byte { return tuple.AppendInt(nil, int64(group)) }

var colors = []string{"red", "green", "blue"}

const (
	modelGroups = 3
	modelThings = 12
)

// history drives a store and the model side by side.
type history struct {
	t     *testing.T
	rng   *rand.Rand
	path  string
	opts  firn.Options
	store *firn.Store
	model model
	log   []firn.Timestamp // all commits
}

func TestStoreAgreesWithModel(t *testing.T) {
	seed := seed.Fresh(t)
	for _, memory := range []int64{0, -1, 6 << 10} {
		for _, tail := range []int{0, 1, 7} {
			t.Run(fmt.Sprintf("memory=%d/tail=%d", memory, tail), func(t *testing.T) {
				t.Parallel()
				h := &history{
					t: t, rng: seed.Rand(1), model: model{},
					path: filepath.Join(t.TempDir(), "model.db"),
					opts: firn.Options{Tables: modelTables(), Memory: memory, TailEntries: tail, Durability: firn.None},
				}
				h.open()
				for range 400 {
					h.step()
				}
				h.checkEverything()
				if err := h.store.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

func (h *history) open() {
	h.t.Helper()
	s, err := firn.Open(h.path, h.opts)
	if err != nil {
		h.t.Fatal(err)
	}
	h.store = s
}

func (h *history) step() {
	switch n := h.rng.IntN(100); {
	case n < 55:
		h.write()
	case n < 60:
		h.writeAndFail()
	case n < 62:
		if err := h.store.Close(); err != nil {
			h.t.Fatal(err)
		}
		h.open()
	case n < 80:
		h.checkAt(h.moment())
	default:
		h.checkPresent()
	}
}

func (h *history) moment() firn.Timestamp {
	if len(h.log) == 0 {
		return h.store.Bounds().Oldest
	}
	return h.log[h.rng.IntN(len(h.log))]
}

// write commits one to four changes in one transaction, and checks what the
// transaction itself sees.
func (h *history) write() {
	things := h.store.Table("things")
	changed := map[string]modelVersion{}
	ts, err := h.store.Update(context.Background(), func(tx *firn.Tx) error {
		for range 1 + h.rng.IntN(4) {
			id := thingID(h.rng.IntN(modelGroups), h.rng.IntN(modelThings))
			if h.rng.IntN(3) == 0 {
				if v, ok := h.seen(changed, string(id)); ok && !v.deleted {
					changed[string(id)] = modelVersion{ts: tx.Timestamp(), deleted: true, value: "gone"}
				}
				if err := tx.Delete(things, id, []byte("gone")); err != nil {
					return err
				}
			} else {
				value := fmt.Sprintf("%s:%d", colors[h.rng.IntN(len(colors))], h.rng.IntN(1000))
				changed[string(id)] = modelVersion{ts: tx.Timestamp(), value: value}
				if err := tx.Put(things, id, []byte(value)); err != nil {
					return err
				}
			}
			h.checkTx(tx, changed)
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	if len(changed) == 0 {
		return
	}
	if len(h.log) > 0 && ts <= h.log[len(h.log)-1] {
		h.t.Fatalf("timestamp went back: got %d after %d", ts, h.log[len(h.log)-1])
	}
	for id, v := range changed {
		v.ts = ts
		h.model[id] = append(h.model[id], v)
	}
	h.log = append(h.log, ts)
}

func (h *history) seen(changed map[string]modelVersion, id string) (modelVersion, bool) {
	if v, ok := changed[id]; ok {
		return v, true
	}
	return h.model.at(id, schema.MaxTimestamp)
}

// checkTx compares what a transaction sees with the model plus its changes.
func (h *history) checkTx(tx *firn.Tx, changed map[string]modelVersion) {
	merged := model{}
	for id, versions := range h.model {
		merged[id] = versions
	}
	for id, v := range changed {
		merged[id] = append(slices.Clone(merged[id]), v)
	}
	group := h.rng.IntN(modelGroups)
	h.checkGroup(tx, merged, group, schema.MaxTimestamp)
}

// writeAndFail leaves no trace, whatever the transaction did and read.
func (h *history) writeAndFail() {
	things := h.store.Table("things")
	stop := errors.New("stop")
	_, err := h.store.Update(context.Background(), func(tx *firn.Tx) error {
		for range 3 {
			id := thingID(h.rng.IntN(modelGroups), h.rng.IntN(modelThings))
			if err := tx.Put(things, id, []byte("pink:never")); err != nil {
				return err
			}
			if _, err := tx.Ordered(things.ByID(), groupPrefix(h.rng.IntN(modelGroups))); err != nil {
				return err
			}
			if err := tx.Delete(things, id, nil); err != nil {
				return err
			}
		}
		return stop
	})
	if !errors.Is(err, stop) {
		h.t.Fatalf("failing transaction: got %v, want %v", err, stop)
	}
}

func (h *history) checkPresent() {
	err := h.store.View(func(s *firn.Snapshot) error {
		h.checkGroup(s, h.model, h.rng.IntN(modelGroups), schema.MaxTimestamp)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) checkAt(ts firn.Timestamp) {
	err := h.store.At(ts, func(s *firn.Snapshot) error {
		h.checkGroup(s, h.model, h.rng.IntN(modelGroups), ts)
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *history) checkEverything() {
	for _, ts := range h.log {
		h.checkAt(ts)
	}
	for id, want := range h.model {
		h.checkVersions(id, want)
	}
	problems, err := firn.Check(h.path, func(p string) { h.t.Error(p) })
	if err != nil || problems > 0 {
		h.t.Errorf("check: got %d problems, %v", problems, err)
	}
}

// checkVersions walks a document's versions in both directions.
func (h *history) checkVersions(id string, want []modelVersion) {
	things := h.store.Table("things")
	for _, newest := range []bool{false, true} {
		var got []modelVersion
		err := h.store.View(func(s *firn.Snapshot) error {
			for doc, err := range s.Versions(things, []byte(id), firn.VersionRange{Newest: newest}) {
				if err != nil {
					return err
				}
				got = append(got, modelVersion{doc.TS, doc.Deleted, string(doc.Value)})
			}
			return nil
		})
		if newest {
			slices.Reverse(got)
		}
		if err != nil || !slices.Equal(got, want) {
			h.t.Errorf("versions of %x, newest first %t: got %v, %v, want %v", id, newest, got, err, want)
		}
	}
}

// failf ends the test from inside a transaction too, where t.Fatal would end
// the writer's goroutine: Update hands a panic to its caller.
func (h *history) failf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// checkGroup compares every kind of read of one group.
func (h *history) checkGroup(r firn.Reader, m model, group int, ts firn.Timestamp) {
	things, prefix := h.store.Table("things"), groupPrefix(group)
	want := m.live(string(prefix), ts)
	for n := range modelThings {
		h.checkGet(r, m, thingID(group, n), ts)
	}
	for _, reverse := range []bool{false, true} {
		expect := slices.Clone(want)
		if reverse {
			slices.Reverse(expect)
		}
		limit := h.rng.IntN(modelThings)
		if limit > 0 {
			expect = expect[:min(limit, len(expect))]
		}
		got := h.ids(r.Scan(firn.Range{Index: things.ByID(), Prefix: prefix, Reverse: reverse, Limit: limit}))
		if !slices.Equal(got, expect) {
			h.failf("scan at %d reverse=%t limit=%d: got %x, want %x", ts, reverse, limit, got, expect)
		}
	}
	if got, err := r.Count(things, prefix); err != nil || got != len(want) {
		h.failf("count at %d: got %d, %v, want %d", ts, got, err, len(want))
	}
	h.checkOrdered(r, prefix, want)
	h.checkColor(r, m, colors[h.rng.IntN(len(colors))], ts)
}

func (h *history) checkGet(r firn.Reader, m model, id []byte, ts firn.Timestamp) {
	doc, err := r.Last(h.store.Table("things"), id)
	want, ok := m.at(string(id), ts)
	switch {
	case !ok && errors.Is(err, firn.ErrNotFound):
	case err != nil || !ok:
		h.failf("last of %x at %d: got %v, %v, want %v, %t", id, ts, doc, err, want, ok)
	case doc.Deleted != want.deleted || string(doc.Value) != want.value || doc.TS != want.ts:
		h.failf("last of %x at %d: got %v, want %v", id, ts, doc, want)
	}
	if _, err := r.Get(h.store.Table("things"), id); errors.Is(err, firn.ErrNotFound) != (!ok || want.deleted) {
		h.failf("get of %x at %d: got %v, want it live: %t", id, ts, err, ok && !want.deleted)
	}
}

func (h *history) ids(items func(func(firn.Item, error) bool)) []string {
	var ids []string
	for item, err := range items {
		if err != nil {
			h.failf("%v", err)
		}
		ids = append(ids, item.Doc.ID)
	}
	return ids
}

func (h *history) checkOrdered(r firn.Reader, prefix []byte, want []string) {
	o, err := r.Ordered(h.store.Table("things").ByID(), prefix)
	if err != nil {
		h.failf("%v", err)
	}
	if o.Len() != len(want) {
		h.failf("ordered: got %d elements, want %d", o.Len(), len(want))
	}
	for i, id := range want {
		item, err := o.At(i)
		if err != nil || item.Key != id {
			h.failf("ordered at %d: got %x, %v, want %x", i, item.Key, err, id)
		}
		if rank, ok, err := o.Rank([]byte(id)); rank != i || !ok || err != nil {
			h.failf("rank of %x: got %d, %t, want %d", id, rank, ok, i)
		}
	}
}

func (h *history) checkColor(r firn.Reader, m model, color string, ts firn.Timestamp) {
	var want []string
	for _, id := range m.live("", ts) {
		if v, _ := m.at(id, ts); strings.HasPrefix(v.value, color+":") {
			want = append(want, id)
		}
	}
	x := h.store.Table("things").Index("color")
	prefix := tuple.AppendBytes(nil, []byte(color))
	if got := h.ids(r.Scan(firn.Range{Index: x, Prefix: prefix})); !slices.Equal(got, want) {
		h.failf("%s things at %d: got %x, want %x", color, ts, got, want)
	}
	o, err := r.Ordered(x, prefix)
	if err != nil {
		h.failf("%v", err)
	}
	if got := h.ids(o.Ascend(nil)); !slices.Equal(got, want) {
		h.failf("ordered %s things at %d: got %x, want %x", color, ts, got, want)
	}
}
