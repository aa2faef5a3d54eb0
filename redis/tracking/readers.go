package tracking

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/firndb/firn/internal/slab"
)

// readers knows which clients have read which keys. It is guarded by the lock
// of its table.
//
// There may be a million keys, so a key takes one place of a slab and one
// entry of index:
//
//	4 bytes   next place whose key has the same hash; 0: none
//	uvarint   length of the key
//	…         the key
//	uvarint   how many readers there are
//	uvarint…  their ids in order: the first, then the distances
//
// A key of 16 bytes with ten readers that connected one after the other is 48
// bytes at most.
// A record that is larger than a place can be is in large.
type readers struct {
	index map[uint32]slab.Ref // by hash
	slab  *slab.Slab
	large map[string][]int64

	seed  maphash.Seed
	keys  int
	items int     // readers of all keys
	apart int64   // bytes of what is in large
	room  []byte  // scratch: a record
	who   []int64 // scratch: its readers
}

// linkBytes is the part of a record that a slab uses in a free place.
const linkBytes = 4

func (r *readers) init() {
	r.index, r.large = map[uint32]slab.Ref{}, map[string][]int64{}
	r.slab, r.seed = slab.New(slab.MinChunk), maphash.MakeSeed()
}

// reset forgets all.
func (r *readers) reset() {
	if r.slab != nil {
		r.slab.Release()
	}
	r.init()
	r.keys, r.items, r.apart = 0, 0, 0
}

// What a key takes beside its place, in the map that it is found by.
const (
	indexBytes = 16 // a hash and a place, where three of five are taken
	largeBytes = 64
)

// bytes is about how much memory there is in it.
func (r *readers) bytes() int64 {
	return r.slab.Held() + int64(len(r.index))*indexBytes + r.apart
}

func largeSize(key []byte, who []int64) int64 { return largeBytes + int64(len(key)+8*len(who)) }

// dropLarge forgets a key that is in large, if it is.
func (r *readers) dropLarge(key []byte) {
	if who, there := r.large[string(key)]; there {
		r.apart -= largeSize(key, who)
		delete(r.large, string(key))
	}
}

func (r *readers) hash(key []byte) uint32 { return uint32(maphash.Bytes(r.seed, key)) }

// parse takes a record apart. What it returns is good until the place is freed;
// the readers are still encoded, and counted.
func parse(place []byte) (next slab.Ref, key []byte, count int, who []byte) {
	next = slab.Ref(binary.LittleEndian.Uint32(place))
	n, at := binary.Uvarint(place[linkBytes:])
	key = place[linkBytes+at:][:n]
	who = place[linkBytes+at+int(n):]
	total, at := binary.Uvarint(who)
	return next, key, int(total), who[at:]
}

// decode appends readers to into.
func decode(into []int64, count int, who []byte) []int64 {
	last := int64(0)
	for range count {
		d, n := binary.Uvarint(who)
		last, who = last+int64(d), who[n:]
		into = append(into, last)
	}
	return into
}

// encode is a record in r.room.
func (r *readers) encode(next slab.Ref, key []byte, who []int64) []byte {
	b := binary.LittleEndian.AppendUint32(r.room[:0], uint32(next))
	b = append(binary.AppendUvarint(b, uint64(len(key))), key...)
	b = binary.AppendUvarint(b, uint64(len(who)))
	last := int64(0)
	for _, n := range who {
		b = binary.AppendUvarint(b, uint64(n-last))
		last = n
	}
	r.room = b
	return b
}

// find looks for a key: the place that it has, and the one before it in the
// chain; 0 if there is none.
func (r *readers) find(hash uint32, key []byte) (at, before slab.Ref) {
	for at = r.index[hash]; at != 0; {
		next, other, _, _ := parse(r.slab.Bytes(at))
		if string(other) == string(key) {
			return at, before
		}
		at, before = next, at
	}
	return 0, 0
}

// of are the readers of a key, in order, in r.who; nil: none.
func (r *readers) of(key []byte) []int64 {
	r.who = r.who[:0]
	if at, _ := r.find(r.hash(key), key); at != 0 {
		_, _, count, who := parse(r.slab.Bytes(at))
		r.who = decode(r.who, count, who)
	} else if len(r.large) > 0 {
		r.who = append(r.who, r.large[string(key)]...)
	}
	return r.who
}

// crowd is how many readers a key has before it is looked whether they are
// still there, each time that there are twice as many.
const crowd = 8

// add notes that a client has read a key. When there are many, those are
// forgotten that there does not know any more.
func (r *readers) add(key []byte, reader int64, there func(reader int64) bool) {
	who := r.of(key)
	at, found := slices.BinarySearch(who, reader)
	if found {
		return
	}
	before := len(who)
	if before >= crowd && before&(before-1) == 0 {
		who = slices.DeleteFunc(who, func(n int64) bool { return !there(n) })
		at, _ = slices.BinarySearch(who, reader)
	}
	who = slices.Insert(who, at, reader)
	r.who = who
	r.items += len(who) - before
	if before == 0 {
		r.keys++
	}
	r.put(key, who)
}

// put stores the readers of a key.
func (r *readers) put(key []byte, who []int64) {
	hash := r.hash(key)
	at, before := r.find(hash, key)
	next := r.index[hash]
	if at != 0 {
		next, _, _, _ = parse(r.slab.Bytes(at))
	}
	record := r.encode(next, key, who)
	if at != 0 && slab.Size(min(len(record), slab.MaxBytes)) == len(r.slab.Bytes(at)) && len(record) <= slab.MaxBytes {
		copy(r.slab.Bytes(at), record)
		return
	}
	if at != 0 {
		r.unlink(hash, at, before)
		binary.LittleEndian.PutUint32(record, uint32(r.index[hash]))
	}
	place := slab.Ref(0)
	if len(record) <= slab.MaxBytes {
		place = r.slab.Alloc(len(record))
	}
	r.dropLarge(key)
	if place == 0 {
		r.large[string(key)] = slices.Clone(who)
		r.apart += largeSize(key, who)
		return
	}
	copy(r.slab.Bytes(place), record)
	r.index[hash] = place
}

// unlink frees a key's place.
func (r *readers) unlink(hash uint32, at, before slab.Ref) {
	next, _, _, _ := parse(r.slab.Bytes(at))
	switch {
	case before != 0:
		binary.LittleEndian.PutUint32(r.slab.Bytes(before), uint32(next))
	case next != 0:
		r.index[hash] = next
	default:
		delete(r.index, hash)
	}
	r.slab.Free(at)
}

// take forgets a key, and is its readers, good until the next call; nil: none.
func (r *readers) take(key []byte) []int64 {
	who := r.of(key)
	if len(who) == 0 {
		return nil
	}
	if hash := r.hash(key); len(r.large) == 0 || r.large[string(key)] == nil {
		at, before := r.find(hash, key)
		r.unlink(hash, at, before)
	} else {
		r.dropLarge(key)
	}
	r.keys--
	r.items -= len(who)
	return who
}

// any is a copy of some key; nil: there is none.
func (r *readers) any() []byte {
	for key := range r.large {
		return []byte(key)
	}
	for _, at := range r.index {
		_, key, _, _ := parse(r.slab.Bytes(at))
		return slices.Clone(key)
	}
	return nil
}
