package index

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// Known tells of an id that it was never written, mostly, so that it need not
// be looked for in the tail and the file. The zero Known says so of none, until
// somebody has taught it all ids that there are.
//
//   - Whoever writes a first version of a document calls Add after the entry is
//     in the tail.
//   - Teacher returns after this: an id that is added from then on is known to
//     the teacher's filter, and one that was not is in a run of the tail, taken
//     now, or in what the file has, read after that.
//   - So when the teacher has walked the two, its filter has all ids, and Done
//     makes it the one that is asked.
//
// What is forgotten stays known until it is taught again: then it is looked
// for, in vain. What was taken back, too.
type Known struct {
	taught   atomic.Pointer[ids] // has all; nil: no answer
	teaching atomic.Pointer[ids] // has what is added, and not yet all; nil mostly
}

// Add makes an id of table's known.
func (k *Known) Add(t schema.TableID, id string) {
	// In this order: what was taught while this looked has its id otherwise.
	teaching, taught := k.teaching.Load(), k.taught.Load()
	if teaching == nil && taught == nil {
		return
	}
	hash := hashKey(schema.ByID(t), id)
	if teaching != nil {
		teaching.add(hash)
	}
	if taught != nil && taught != teaching && !taught.add(hash) {
		k.taught.CompareAndSwap(taught, nil)
	}
}

// New is true only if the id was not written before the call.
func (k *Known) New(t schema.TableID, id []byte) bool {
	taught := k.taught.Load()
	return taught != nil && !taught.mayHave(hashBytes(schema.ByID(t), id))
}

// Bytes is the memory that it takes.
func (k *Known) Bytes() int64 {
	taught, teaching := k.taught.Load(), k.teaching.Load()
	bytes := taught.bytes()
	if teaching != taught {
		bytes += teaching.bytes()
	}
	return bytes
}

// Teacher teaches Known afresh. One does so at a time.
type Teacher struct {
	known *Known
	ids   *ids
	found int64
}

// Teacher begins to teach about room ids, and takes at most so many bytes for
// those and all that come.
func (k *Known) Teacher(room int, most int64) *Teacher {
	t := &Teacher{known: k, ids: newIDs(room, most)}
	k.teaching.Store(t.ids)
	return t
}

// Add teaches the id of an entry, if that is one by id. The versions of one
// follow one another.
func (t *Teacher) Add(e *schema.Entry) {
	if e.Index.Number() == 0 {
		t.ids.add(hashKey(e.Index, e.Key))
		t.found++
	}
}

// AddRun teaches the ids of a run of the tail.
func (t *Teacher) AddRun(r *Run) {
	r.lockSorted(0)
	defer r.mu.RUnlock()
	for _, p := range r.parts() {
		for i := range p {
			e := r.slab.entry(&p[i])
			t.Add(&e)
		}
	}
}

// Found is how many ids were taught, roughly.
func (t *Teacher) Found() int64 { return t.found }

// Done says that all ids that there were are taught. It is false if they were
// far too many for the memory: then nothing is known.
func (t *Teacher) Done() bool {
	t.ids.mu.Lock()
	full := t.ids.full()
	t.ids.mu.Unlock()
	if full {
		t.known.taught.Store(nil)
	} else {
		t.known.taught.Store(t.ids)
	}
	t.known.teaching.Store(nil) // last, see Add
	return !full
}

// Leave ends teaching before all was taught.
func (t *Teacher) Leave() { t.known.teaching.Store(nil) }

func hashBytes(x schema.IndexID, key []byte) uint64 {
	return maphash.Bytes(filterSeed, key) ^ uint64(x)*golden
}

// ids is filters that grow: what one has no more room for goes into the next,
// which is larger, while there is memory. Then the last takes it, and says yes
// too often. An id may be in several.
type ids struct {
	most    int64
	mu      sync.Mutex // of whoever adds
	filters atomic.Pointer[[]*filter]
}

// overfull times what a filter is made for leaves 4 bits an id: 1 answer in 5
// is a wrong yes.
const overfull = 3

// growth is how much larger a filter is than the one before: from 64 Ki ids to
// 11 million there are 5, each of which a question may have to ask.
const growth = 4

func newIDs(room int, most int64) *ids {
	i := &ids{most: most}
	f := newFilter(min(max(room, firstRoom), roomIn(most)))
	i.filters.Store(&[]*filter{&f})
	return i
}

// roomIn is the ids that so many bytes are enough for.
func roomIn(bytes int64) int { return int(bytes * 8 / bitsPerKey) }

// add makes mayHave true; false if that says yes too often now.
func (i *ids) add(hash uint64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	filters := *i.filters.Load()
	last := filters[len(filters)-1]
	if last.keys >= last.room {
		last = i.grow(filters)
	}
	last.addShared(hash)
	return !i.full()
}

// grow adds a filter if there is memory for one that is worth it.
func (i *ids) grow(filters []*filter) *filter {
	last := filters[len(filters)-1]
	room := min(growth*last.room, roomIn(i.most-i.bytes()))
	if room < last.room/2 {
		return last
	}
	f := newFilter(room)
	grown := append(filters[:len(filters):len(filters)], &f)
	i.filters.Store(&grown)
	return &f
}

// full is true if there are far too many for the memory.
func (i *ids) full() bool {
	filters := *i.filters.Load()
	last := filters[len(filters)-1]
	return last.keys > overfull*last.room
}

func (i *ids) mayHave(hash uint64) bool {
	for _, f := range *i.filters.Load() {
		if f.mayHave(hash) {
			return true
		}
	}
	return false
}

func (i *ids) bytes() (sum int64) {
	if i == nil {
		return 0
	}
	for _, f := range *i.filters.Load() {
		sum += filterBytes(f.room)
	}
	return sum
}
