package index

import (
	"hash/maphash"

	"github.com/firndb/firn/schema"
)

// filter tells that a part has no entry of a key, mostly without looking at
// the part: a Bloom filter whose bits for one key are in one word, so that a
// question costs one cache miss. A run of a million entries has some thirty
// large parts, and a key that was never written would be searched for in each,
// at 15 cache misses a search.
//
// A filter may know keys that were removed from its part.
type filter []uint64

// keysPerWord makes for 16 bits a key, and with 4 of them set about 1 wrong
// yes in 100.
const keysPerWord = 4

var filterSeed = maphash.MakeSeed()

func hashKey(x schema.IndexID, key string) uint64 {
	// The odd constant, 2⁶⁴ divided by the golden ratio, spreads the few indexes.
	return maphash.String(filterSeed, key) ^ uint64(x)*0x9e3779b97f4a7c15
}

func newFilter(p part) filter {
	f := make(filter, len(p)/keysPerWord+1)
	for i := range p {
		if i == 0 || p[i].Key != p[i-1].Key || p[i].Index != p[i-1].Index {
			word, bits := f.place(hashKey(p[i].Index, p[i].Key))
			f[word] |= bits
		}
	}
	return f
}

// mayHave is false only if no entry has the key of this hash.
func (f filter) mayHave(hash uint64) bool {
	word, bits := f.place(hash)
	return f[word]&bits == bits
}

// place takes the word from the upper half of a hash and its bits from the
// lower.
func (f filter) place(hash uint64) (word, bits uint64) {
	word = (hash >> 32) * uint64(len(f)) >> 32
	return word, 1<<(hash&63) | 1<<(hash>>6&63) | 1<<(hash>>12&63) | 1<<(hash>>18&63)
}
