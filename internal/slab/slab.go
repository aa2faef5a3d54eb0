// Package slab keeps many small pieces of bytes where the garbage collector
// does not look: in chunks off the heap, where the system has such memory.
//
// A [Slab] gives out places, each named by a [Ref], a number that a structure
// without pointers can hold. Places come in size classes, and a chunk has
// places of one class only, so a freed place fits the next piece of its class
// and nothing is moved in the steady state. Where sizes shift, chunks are left
// half empty: Drain moves what is left in one into others, so that its memory
// can be given back. An [Array] is a growing array off the heap.
//
// Nothing here is safe for concurrent use; whoever owns a Slab guards it. What
// a place holds is the owner's to know, and bytes of a place must not be used
// once it is free. Under the race detector all memory is on the heap, so that
// the detector sees it.
package slab

import "math/bits"

// Ref names a place; 0 is none. It counts granules over all chunks.
type Ref uint32

// Sizes, in bytes.
const (
	granule   = 16
	MaxBytes  = 4 << 10 // of a place; what is larger is better off in memory of its own, which need not be copied to be read
	MinChunk  = 64 << 10
	MaxChunk  = 1 << 20
	linkBytes = 4 // of a free place: the next one
)

// A class is a size of places: steps of a granule to 128 bytes, then eight
// steps a doubling, so that at most an eighth of a place is lost, and a
// sixteenth in the mean.
const (
	smallClasses = 8
	classes      = smallClasses + 8*5 // up to MaxBytes
)

// classOf is the smallest class of n bytes or more, 0 < n <= MaxBytes.
func classOf(n int) int {
	g := uint32(n+granule-1)/granule - 1 // one less than the granules needed
	if g < smallClasses {
		return int(g)
	}
	shift := bits.Len32(g) - 4
	return 8*shift + int(g>>shift)
}

// classBytes is how large the places of a class are.
func classBytes(class int) int {
	if class < smallClasses {
		return (class + 1) * granule
	}
	shift := (class - smallClasses) / 8
	return ((class-smallClasses)%8 + 9) << shift * granule
}

// Size is how many bytes the place of n bytes takes.
func Size(n int) int { return classBytes(classOf(n)) }

// Slab is chunks of places.
//
//   - A chunk is in its class's list of those with room if it has a free place,
//     or was never full, and is not being drained.
//   - An empty chunk holds no memory, unless it is the only one of its class
//     with room.
type Slab struct {
	chunkBytes int
	shift      uint    // of a Ref: the chunk's number
	chunks     []chunk // the first stands for none
	idle       []int32 // chunks without memory
	room       [classes]int32
	free       [classes]int // free places in what was touched of the chunks
	live, held int64

	drained int32 // the chunk that is being drained, 0: none
	at      int   // how far, in bytes
}

// chunk is what is known of a chunk. Its class is good while it has memory.
type chunk struct {
	mem        []byte
	size       int32 // of a place
	class      uint8
	listed     bool
	next, prev int32 // in the class's list
	live       int32 // places in use
	first      Ref   // free place
	touched    int32 // bytes that were ever given out
}

// New makes a Slab whose chunks have so many bytes, a power of two, from
// MinChunk to MaxChunk.
func New(chunkBytes int) *Slab {
	return &Slab{
		chunkBytes: chunkBytes,
		shift:      uint(bits.Len(uint(chunkBytes/granule)) - 1),
		chunks:     make([]chunk, 1),
	}
}

// Live is the bytes of all places in use.
func (s *Slab) Live() int64 { return s.live }

// Held is the bytes of memory that was touched and not given back: places in
// use and free ones.
func (s *Slab) Held() int64 { return s.held }

// Bytes is the memory of a place, to its class's size. It is good until the
// place is freed, or moved.
func (s *Slab) Bytes(r Ref) []byte {
	ch := &s.chunks[r>>(s.shift&31)]
	off := int(r&(1<<(s.shift&31)-1)) * granule
	return ch.mem[off : off+int(ch.size)]
}

// Alloc is a place of n bytes or more, 0 < n <= MaxBytes; 0 if all numbers are
// taken. What is in it is not said.
func (s *Slab) Alloc(n int) Ref {
	class := classOf(n)
	c := s.room[class]
	if c == 0 {
		if c = s.open(class); c == 0 {
			return 0
		}
	}
	return s.take(c)
}

// take is a place of a chunk that has one.
func (s *Slab) take(c int32) Ref {
	ch := &s.chunks[c]
	r := ch.first
	if r != 0 {
		ch.first = s.link(r)
		s.free[ch.class]--
	} else {
		r = Ref(c)<<s.shift | Ref(ch.touched/granule)
		ch.touched += ch.size
		s.held += int64(ch.size)
	}
	ch.live++
	s.live += int64(ch.size)
	if ch.first == 0 && int(ch.touched+ch.size) > s.chunkBytes {
		s.unlist(c)
	}
	return r
}

// Free gives a place back.
func (s *Slab) Free(r Ref) {
	c := int32(r >> s.shift)
	ch := &s.chunks[c]
	s.setLink(r, ch.first)
	ch.first = r
	ch.live--
	s.free[ch.class]++
	s.live -= int64(ch.size)
	if c == s.drained {
		return // Drain gives it back
	}
	if !ch.listed {
		s.list(c)
	}
	if ch.live == 0 && (ch.next != 0 || ch.prev != 0) {
		s.release(c)
	}
}

func (s *Slab) link(r Ref) Ref {
	b := s.Bytes(r)
	return Ref(b[0]) | Ref(b[1])<<8 | Ref(b[2])<<16 | Ref(b[3])<<24
}

func (s *Slab) setLink(r, next Ref) {
	b := s.Bytes(r)
	b[0], b[1], b[2], b[3] = byte(next), byte(next>>8), byte(next>>16), byte(next>>24)
}

// open gives a class another chunk; 0 if there are no more numbers.
func (s *Slab) open(class int) int32 {
	var c int32
	if n := len(s.idle); n > 0 {
		c, s.idle = s.idle[n-1], s.idle[:n-1]
	} else {
		if uint64(len(s.chunks)) >= 1<<(32-s.shift) {
			return 0
		}
		c = int32(len(s.chunks))
		s.chunks = append(s.chunks, chunk{})
	}
	s.chunks[c] = chunk{mem: allocate(s.chunkBytes), class: uint8(class), size: int32(classBytes(class))}
	s.list(c)
	return c
}

// release gives the memory of an empty chunk back.
func (s *Slab) release(c int32) {
	ch := &s.chunks[c]
	if ch.listed {
		s.unlist(c)
	}
	s.free[ch.class] -= int(ch.touched / ch.size)
	s.held -= int64(ch.touched)
	release(ch.mem)
	*ch = chunk{}
	s.idle = append(s.idle, c)
}

// Release gives all memory back. The Slab is as new.
func (s *Slab) Release() {
	for i := range s.chunks {
		if m := s.chunks[i].mem; m != nil {
			release(m)
		}
	}
	*s = *New(s.chunkBytes)
}

// list adds a chunk in front of those of its class with room.
func (s *Slab) list(c int32) {
	ch := &s.chunks[c]
	ch.listed, ch.prev, ch.next = true, 0, s.room[ch.class]
	if ch.next != 0 {
		s.chunks[ch.next].prev = c
	}
	s.room[ch.class] = c
}

func (s *Slab) unlist(c int32) {
	ch := &s.chunks[c]
	if ch.prev != 0 {
		s.chunks[ch.prev].next = ch.next
	} else {
		s.room[ch.class] = ch.next
	}
	if ch.next != 0 {
		s.chunks[ch.next].prev = ch.prev
	}
	ch.listed, ch.next, ch.prev = false, 0, 0
}
