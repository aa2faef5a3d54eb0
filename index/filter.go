package index

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// filter tells that a key was never added, mostly: a Bloom filter whose bits
// for one key are in one line of 512 bits, so that a question costs one cache
// miss. It has 12 bits a key, of which a key sets 6: about 1 wrong yes in 200.
//
// One goroutine at a time adds.
type filter struct {
	lines []line
	room  int // keys that it is made for
	keys  int // that were added, and not there already
}

type line [8]uint64

const (
	lineBits   = 512
	bitsPerKey = 12
	bitsSet    = 6
)

var filterSeed = maphash.MakeSeed()

// golden is 2⁶⁴ divided by the golden ratio: multiplying by it spreads numbers
// that differ little.
const golden = 0x9e3779b97f4a7c15

// hashKey is the same within a process only.
func hashKey(x schema.IndexID, key string) uint64 {
	return maphash.String(filterSeed, key) ^ uint64(x)*golden
}

func newFilter(room int) filter {
	return filter{lines: make([]line, filterBytes(room)/lineBytes), room: room}
}

const lineBytes = lineBits / 8

// filterBytes is the memory of a filter.
func filterBytes(room int) int64 { return (int64(room)*bitsPerKey/lineBits + 1) * lineBytes }

// add makes mayHave true for a hash.
func (f *filter) add(hash uint64) {
	l, rest := f.place(hash)
	missing := uint64(0)
	for range bitsSet {
		word, bit := &l[rest>>6&7], uint64(1)<<(rest&63)
		missing |= bit &^ *word
		*word |= bit
		rest >>= 9
	}
	if missing != 0 {
		f.keys++
	}
}

// addShared is add while others ask.
func (f *filter) addShared(hash uint64) {
	l, rest := f.place(hash)
	added := false
	for range bitsSet {
		word, bit := &l[rest>>6&7], uint64(1)<<(rest&63)
		if old := atomic.LoadUint64(word); old&bit == 0 {
			atomic.StoreUint64(word, old|bit)
			added = true
		}
		rest >>= 9
	}
	if added {
		f.keys++
	}
}

// mayHave is false only if the hash was never added.
func (f *filter) mayHave(hash uint64) bool {
	l, rest := f.place(hash)
	for range bitsSet {
		if atomic.LoadUint64(&l[rest>>6&7])>>(rest&63)&1 == 0 {
			return false
		}
		rest >>= 9
	}
	return true
}

// place is the line of a hash and, 9 bits each, which of the line's bits are
// its own.
func (f *filter) place(hash uint64) (*line, uint64) {
	n, _ := bits.Mul64(hash, uint64(len(f.lines)))
	return &f.lines[n], hash * golden >> 10
}
