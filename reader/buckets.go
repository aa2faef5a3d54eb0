package reader

import (
	"hash/maphash"

	"github.com/firndb/firn/internal/slab"
	"github.com/firndb/firn/schema"
)

// buckets find the slots of documents by hash: linear hashing, with a list of
// slots in each bucket. One bucket after the other is split as documents come,
// so no write waits for the whole table to grow, and documents of one hash do
// no harm. There are never fewer than there were.
type buckets struct {
	seed  maphash.Seed
	weak  uint32 // bits that hashes lack; 0 but in tests
	slots slab.Array[slot]
	heads slab.Array[uint32] // slots, by bucket
	count uint32             // buckets: half+1 to 2*half+2, or 0
	half  uint32             // mask of a bucket's number before the present doubling
}

// bucketBytes is what a document needs of buckets, of which there are half as
// many again as documents: 1.3 slots are looked at to find one.
const bucketBytes = 6

func newBuckets() buckets { return buckets{seed: maphash.MakeSeed()} }

func (b *buckets) release() {
	b.slots.Release()
	b.heads.Release()
	b.count, b.half = 0, 0
}

// hash is a document's. It may be called by anyone at any time.
func (b *buckets) hash(t schema.TableID, id string) uint32 {
	const spread = 0x9e3779b97f4a7c15 // the golden ratio: tables that follow each other lie far apart
	h := maphash.String(b.seed, id) ^ uint64(t)*spread
	return uint32(h^h>>32) &^ b.weak
}

func (b *buckets) bucket(hash uint32) uint32 {
	n := hash & (2*b.half + 1)
	if n >= b.count {
		n &= b.half
	}
	return n
}

// first is the first slot that may be a hash's; 0 if there is none.
func (b *buckets) first(hash uint32) uint32 {
	if b.count == 0 {
		return 0
	}
	return *b.heads.At(b.bucket(hash))
}

// link puts a slot into its bucket, of enough for so many documents.
func (b *buckets) link(at, documents uint32) {
	for b.count <= documents+documents/2 {
		b.split()
	}
	s := b.slots.At(at)
	head := b.heads.At(b.bucket(s.hash))
	s.next, *head = *head, at
}

// unlink takes a slot out of its bucket, in which it is.
func (b *buckets) unlink(at uint32) {
	s := b.slots.At(at)
	to := b.heads.At(b.bucket(s.hash))
	for *to != at {
		to = &b.slots.At(*to).next
	}
	*to = s.next
}

// split adds a bucket, and moves to it what belongs there.
func (b *buckets) split() {
	if b.count > 2*b.half+1 {
		b.half = b.count - 1
	}
	added := b.count
	b.heads.Grow(added + 1)
	b.count++
	if added == 0 {
		return
	}
	from, to := b.heads.At(added&b.half), b.heads.At(added)
	for *from != 0 {
		s := b.slots.At(*from)
		if b.bucket(s.hash) != added {
			from = &s.next
			continue
		}
		*to, *from, s.next = *from, s.next, *to
	}
}
