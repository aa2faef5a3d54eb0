package reader

import (
	"sync/atomic"

	"github.com/firndb/firn/internal/slab"
	"github.com/firndb/firn/schema"
)

// docs is the single documents of the head: the newest published version of
// each, tombstones included, evicted by CLOCK. Calls that only read a document
// hold the head's lock shared, all others hold it.
//
// A document is a slot that leads to its entry in a slab, see entry, or, if it
// is large, to a row in memory of its own. Slots, buckets and entries have no
// pointers and are not on the heap: however many documents there are, the
// collector has no work with them. An entry is written over when its document
// is, so what is found is copied before the lock is let go.
//
//   - A slot in use is in one bucket, see buckets, and its document in no other
//     slot.
//   - An entry names its slot, and the slot leads to it.
//   - The slots are the clock's ring.
type docs struct {
	buckets
	spare  uint32 // first of the slots that are not in use any more, 0: none
	last   uint32 // slot that ever was in use; they count from 1
	hand   uint32 // where the clock's hand stands: the last slot that it passed
	number int    // documents

	places     *slab.Slab
	large      map[uint32]*schema.Row // by slot
	largeBytes int64
	complete   []bool // by table: what is not here was never written
	freed      int    // places, since shrink was called last
}

// slot is where a document is. ref is 0 if it is large, or the slot is not in
// use. touched is set by a read and cleared by the hand.
type slot struct {
	ref     slab.Ref
	next    uint32 // in the bucket, or of those not in use
	hash    uint32
	touched uint32
}

// Bytes of a document beside its entry: a slot (16) and its share of the
// buckets; and of a large one a Row (96) and its place in a map.
const (
	slotBytes  = 16 + bucketBytes
	largeBytes = 160
)

func (s *slot) touch() {
	if atomic.LoadUint32(&s.touched) == 0 {
		atomic.StoreUint32(&s.touched, 1)
	}
}

// chunkShare is the least number of chunks that the budget is worth: what the
// size classes leave unused in their last chunks is a small part of it.
const chunkShare = 128

func newDocs(budget int64) docs {
	chunk := slab.MinChunk
	for chunk < slab.MaxChunk && int64(chunk)*chunkShare < budget {
		chunk *= 2
	}
	return docs{buckets: newBuckets(), places: slab.New(chunk), large: map[uint32]*schema.Row{}}
}

// release gives the memory back. There are no documents any more.
func (d *docs) release() {
	d.buckets.release()
	d.places.Release()
	clear(d.large)
	clear(d.complete)
	d.spare, d.last, d.hand, d.number, d.largeBytes = 0, 0, 0, 0, 0
}

// bytes is what the documents take. Free places are not counted, because they
// are bounded, see shrink.
func (d *docs) bytes() int64 {
	return d.places.Live() + int64(d.number)*slotBytes + d.largeBytes
}

// offHeap is what has been taken for the documents that is not on the heap.
func (d *docs) offHeap() int64 {
	if !slab.OffHeap {
		return 0
	}
	return d.places.Held() + d.slots.Held() + d.heads.Held()
}

// docBytes is what a document adds to bytes.
func docBytes(row *schema.Row) int64 {
	if n := entryBytes(row); n <= slab.MaxBytes {
		return int64(slab.Size(n)) + slotBytes
	}
	return heapBytes(row) + slotBytes
}

func heapBytes(row *schema.Row) int64 { return int64(len(row.ID)+cap(row.Value)) + largeBytes }

// setComplete says whether every document of a table that has any version is
// here.
func (d *docs) setComplete(t schema.TableID, is bool) {
	if is && int(t) >= len(d.complete) {
		d.complete = append(d.complete, make([]bool, int(t)+1-len(d.complete))...)
	}
	if int(t) < len(d.complete) {
		d.complete[t] = is
	}
}

func (d *docs) isComplete(t schema.TableID) bool { return int(t) < len(d.complete) && d.complete[t] }

// find is the slot of a document, 0 if it is not here; absent says that there
// is none anywhere.
func (d *docs) find(hash uint32, t schema.TableID, id string) (at uint32, absent bool) {
	at = d.slotOf(hash, t, id)
	if at == 0 {
		return 0, d.isComplete(t)
	}
	d.slots.At(at).touch()
	return at, false
}

// slotOf is the slot of a document, 0 if it is not here.
func (d *docs) slotOf(hash uint32, t schema.TableID, id string) uint32 {
	at := d.first(hash)
	for at != 0 {
		s := d.slots.At(at)
		if s.hash == hash && d.holds(at, s, t, id) {
			break
		}
		at = s.next
	}
	return at
}

func (d *docs) holds(at uint32, s *slot, t schema.TableID, id string) bool {
	if s.ref == 0 {
		row := d.large[at]
		return row.Table == t && row.ID == id
	}
	return entry(d.places.Bytes(s.ref)).is(t, id)
}

// ts is the timestamp of the document in a slot; 0 says that there is none.
func (d *docs) ts(at uint32) schema.Timestamp {
	if s := d.slots.At(at); s.ref != 0 {
		return entry(d.places.Bytes(s.ref)).ts()
	}
	return d.large[at].TS
}

// row is the document in a slot: a copy in into, with its value in the memory
// of into's, or in memory of its own if that is nil. One that is large is not
// copied.
func (d *docs) row(at uint32, into *schema.Row) *schema.Row {
	s := d.slots.At(at)
	if s.ref == 0 {
		return d.large[at]
	}
	e := entry(d.places.Bytes(s.ref))
	if into == nil {
		return e.fresh()
	}
	e.copyTo(into)
	return into
}

// put makes row the newest version of its document.
func (d *docs) put(hash uint32, row *schema.Row) {
	at := d.slotOf(hash, row.Table, row.ID)
	if at == 0 {
		at = d.add(hash)
	}
	d.store(at, row)
}

// fill adds a version that was read from the file, unless a version as new is
// here.
func (d *docs) fill(row *schema.Row) {
	hash := d.hash(row.Table, row.ID)
	if at := d.slotOf(hash, row.Table, row.ID); at == 0 || d.ts(at) < row.TS {
		d.put(hash, row)
	}
}

// add takes a slot for a document that has none.
func (d *docs) add(hash uint32) (at uint32) {
	if at = d.spare; at != 0 {
		d.spare = d.slots.At(at).next
	} else {
		d.last++
		at = d.last
		d.slots.Grow(at + 1)
	}
	*d.slots.At(at) = slot{hash: hash}
	d.number++
	d.link(at, uint32(d.number))
	return at
}

// store writes a row into a slot, over what was there.
func (d *docs) store(at uint32, row *schema.Row) {
	s := d.slots.At(at)
	n := entryBytes(row)
	if s.ref == 0 || n > slab.MaxBytes || len(d.places.Bytes(s.ref)) != slab.Size(n) {
		d.empty(at, s)
		if n <= slab.MaxBytes {
			s.ref = d.places.Alloc(n)
		}
		if s.ref == 0 {
			d.large[at] = row
			d.largeBytes += heapBytes(row)
			return
		}
	}
	entry(d.places.Bytes(s.ref)).write(at, row)
}

// empty frees what a slot leads to, if anything.
func (d *docs) empty(at uint32, s *slot) {
	if s.ref != 0 {
		d.places.Free(s.ref)
		s.ref = 0
		d.freed++
	} else if row := d.large[at]; row != nil {
		d.largeBytes -= heapBytes(row)
		delete(d.large, at)
	}
}

// Entries are moved together, so that memory can be given back, while an
// eighth of the budget is free places: a few more than have become free since
// the last time.
const (
	freeShare = 8
	drainStep = 16
)

// shrink evicts until the documents fit in budget bytes. The hand goes round at
// most twice: the first time it may only clear marks.
func (d *docs) shrink(budget int64) {
	for steps := 2 * int64(d.last); d.bytes() > budget && steps > 0; steps-- {
		if d.hand++; d.hand > d.last {
			d.hand = 1
		}
		s := d.slots.At(d.hand)
		switch {
		case s.ref == 0 && d.large[d.hand] == nil: // not in use
		case s.touched != 0 && budget > 0:
			s.touched = 0
		default:
			d.evict(d.hand)
		}
	}
	if d.places.Held()-d.places.Live() > budget/freeShare {
		d.places.Drain(drainStep+d.freed, d)
	}
	d.freed = 0
}

// Holds implements slab.Owner. A slot that is used again leads to another
// entry, or to none.
func (d *docs) Holds(place []byte, r slab.Ref) bool {
	return d.slots.At(entry(place).slot()).ref == r
}

// Moved implements slab.Owner.
func (d *docs) Moved(place []byte, to slab.Ref) { d.slots.At(entry(place).slot()).ref = to }

// forget takes a document out whose newest version is too large to keep.
func (d *docs) forget(hash uint32, row *schema.Row) {
	if at := d.slotOf(hash, row.Table, row.ID); at != 0 {
		d.evict(at)
	}
	d.setComplete(row.Table, false)
}

// leave takes a document out whose newest version is in an ordered range.
func (d *docs) leave(hash uint32, row *schema.Row) {
	if at := d.slotOf(hash, row.Table, row.ID); at != 0 {
		d.remove(at)
	}
}

// evict takes a document out.
func (d *docs) evict(at uint32) {
	d.setComplete(d.tableOf(at, d.slots.At(at)), false)
	d.remove(at)
}

func (d *docs) remove(at uint32) {
	s := d.slots.At(at)
	d.unlink(at)
	d.empty(at, s)
	*s = slot{next: d.spare}
	d.spare = at
	d.number--
}

func (d *docs) tableOf(at uint32, s *slot) schema.TableID {
	if s.ref == 0 {
		return d.large[at].Table
	}
	return entry(d.places.Bytes(s.ref)).table()
}

// A look-up of a document that is in no cache of the processor waits for memory
// several times, once for each step from the id to the value. Many look-ups
// that take each step together wait about as long as one. Measured with 10⁶
// documents: 1,140 to 1,320 ns each one after the other, 235 to 326 together.
const (
	touchMost  = 64      // documents that take a step together
	touchLeast = 1 << 12 // documents in the head; fewer are in the caches anyway
	touchBytes = 1 << 10 // of a document; what follows is read in a row, which a processor foresees
	cacheLine  = 64
)

// touch takes the steps of find for documents of these hashes, at most
// touchMost, and throws away what it finds. It returns something that depends on everything it has
// looked at, so that it has to.
//
//go:noinline
func (d *docs) touch(hashes []uint32) (sum byte) {
	var slots [touchMost]uint32
	var refs [touchMost]slab.Ref
	for i := range hashes {
		slots[i] = d.first(hashes[i])
	}
	n := 0
	for i := range hashes {
		if at := slots[i]; at != 0 {
			if ref := d.matching(at, hashes[i]); ref != 0 {
				refs[n] = ref
				n++
			}
		}
	}
	for _, ref := range refs[:n] {
		place := d.places.Bytes(ref)
		for at := 0; at < min(len(place), touchBytes); at += cacheLine {
			sum += place[at]
		}
	}
	return sum
}

// matching is where the first slot of a bucket's leads that has the hash, from
// one on; 0 if there is none, or its document is large.
func (d *docs) matching(at, hash uint32) slab.Ref {
	for at != 0 {
		s := d.slots.At(at)
		if s.hash == hash {
			return s.ref
		}
		at = s.next
	}
	return 0
}
