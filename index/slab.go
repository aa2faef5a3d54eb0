package index

import (
	"unsafe"

	"github.com/firndb/firn/internal/invariant"
)

// slab holds the bytes of a run's keys and ids in chunks without pointers. The
// collector does not look into them, and takes one back whole when neither the
// run nor a string in it is in use. What is written never moves or changes.
type slab struct {
	chunks [][]byte
	used   int   // bytes of the last chunk
	bytes  int64 // of all that was put
}

// place is where in a slab something begins: the number of a chunk and, in its
// low bits, granules from the chunk's beginning.
type place uint32

const (
	granule    = 8 // bytes; so a place reaches 32 GiB
	chunkBytes = 1 << 20
	perChunk   = chunkBytes / granule
	maxChunks  = 1 << 32 / perChunk

	firstChunk = 8 << 10 // the ones after it are twice as large each, up to chunkBytes
	doublings  = 7
)

// put copies a key, and an id behind it.
func (s *slab) put(key, id string) place {
	size := slabBytes(len(key) + len(id))
	n := len(s.chunks) - 1
	if n < 0 || s.used+size > len(s.chunks[n]) {
		n = s.grow(size)
	}
	to := s.chunks[n][s.used:]
	copy(to, key)
	copy(to[len(key):], id)
	p := place(n*perChunk + s.used/granule)
	s.used += size
	s.bytes += int64(size)
	return p
}

// slabBytes is the room that n bytes take.
func slabBytes(n int) int { return max((n+granule-1)&^(granule-1), granule) }

// grow adds a chunk with room for size bytes and returns its number. In one that
// is larger than chunkBytes nothing else has room, so a place reaches it all.
func (s *slab) grow(size int) int {
	n := len(s.chunks)
	s.chunks = append(s.chunks, make([]byte, max(size, firstChunk<<min(n, doublings))))
	invariant.Check(len(s.chunks) <= maxChunks, "a run has %d bytes of keys", s.bytes)
	s.used = 0
	return n
}

// text is n bytes that begin from bytes behind p, valid for as long as anyone
// has them.
func (s *slab) text(p place, from, n uint32) string {
	from += uint32(p%perChunk) * granule
	return unsafe.String(unsafe.SliceData(s.chunks[p/perChunk][from:from+n]), int(n))
}

// touch reads a byte of each record's key, so that they are near.
func (s *slab) touch(records part) (sum byte) {
	for i := range records {
		at := records[i].at
		sum += s.chunks[at/perChunk][uint32(at%perChunk)*granule]
	}
	return sum
}
