package slab

import (
	"math/bits"
	"unsafe"
)

// Array is a growing array off the heap. Growing moves no element, so it never
// takes long. T has no pointers, and its size is a power of two.
type Array[T any] struct {
	chunks [][]T
	mem    [][]byte
	shift  uint // elements of a chunk
	mask   uint32
}

// arrayBytes is how much an Array grows by.
const arrayBytes = 64 << 10

// At is the element i, which must be there.
func (a *Array[T]) At(i uint32) *T { return &a.chunks[i>>(a.shift&31)][i&a.mask] }

// Grow makes sure that there are n elements. New ones are zero.
func (a *Array[T]) Grow(n uint32) {
	var t T
	per := arrayBytes / uint32(unsafe.Sizeof(t))
	a.shift, a.mask = uint(bits.Len32(per)-1), per-1
	for uint32(len(a.chunks)) < (n+per-1)/per {
		m := allocate(arrayBytes)
		a.mem = append(a.mem, m)
		a.chunks = append(a.chunks, unsafe.Slice((*T)(unsafe.Pointer(&m[0])), per))
	}
}

// Held is the bytes of memory that the array has taken.
func (a *Array[T]) Held() int64 { return int64(len(a.mem)) * arrayBytes }

// Release gives the memory back. There are no elements afterwards.
func (a *Array[T]) Release() {
	for _, m := range a.mem {
		release(m)
	}
	*a = Array[T]{}
}
