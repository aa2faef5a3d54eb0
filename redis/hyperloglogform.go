package redis

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// A HyperLogLog counts different elements without keeping them: the hash of an
// element chooses one of 16,384 registers, and the register keeps the largest
// position of the lowest one bit that the rest of such a hash has shown.
//
// It is stored as Redis stores it, to the byte, so that strings can be
// exchanged:
//
//	0   "HYLL"
//	4   encoding: 0 dense, 1 sparse
//	5   three zero bytes
//	8   the count when it was last taken, 8 bytes little endian; it does not
//	    hold any more if the highest bit is set
//	16  the registers
//
// Dense, each register has six bits, the low ones of a byte first, and the
// string has 12,304 bytes. Sparse, there are runs of equal registers:
//
//	00xxxxxx           x+1 registers are 0
//	01xxxxxx yyyyyyyy  xy+1 registers are 0
//	1vvvvvxx           x+1 registers are v+1
//
// A sparse string becomes dense when a register passes 32 or the string
// would pass 3,000 bytes, and stays so.
const (
	hllHeaderBytes   = 16
	hllIndexBits     = 14
	hllRegisterCount = 1 << hllIndexBits
	hllRegisterBits  = 6
	hllHashBits      = 64 - hllIndexBits // what is left of a hash
	hllDenseBytes    = hllHeaderBytes + hllRegisterCount*hllRegisterBits/8
	hllZeroMax       = 64
	hllValueMax      = 32 // the largest register that a sparse one can have
	hllValueRunMax   = 4
	hllStale         = 0x80 // in the last byte of the count
	hllSeed          = 0xadc83b19
)

const hllMagic = "HYLL"

// hllRegisters are all registers, a byte each.
type hllRegisters [hllRegisterCount]byte

// hll is the string of a HyperLogLog. It is a stored one, which nobody may
// modify, until a change has made a copy.
type hll struct {
	b           []byte
	owned       bool
	sparseBytes int // above it a raised register makes the string dense; of no matter where none is raised
}

// newHLL counts nothing yet.
func newHLL(sparseBytes int) hll {
	b := make([]byte, hllHeaderBytes, hllHeaderBytes+2)
	copy(b, hllMagic)
	b[4] = 1
	return hll{appendZeros(b, hllRegisterCount), true, sparseBytes}
}

// isHLL says whether a string looks like a HyperLogLog.
func isHLL(b []byte) bool {
	return len(b) >= hllHeaderBytes && bytes.HasPrefix(b, []byte(hllMagic)) && b[4] <= 1 && (b[4] == 1 || len(b) == hllDenseBytes)
}

func (h *hll) dense() bool { return h.b[4] == 0 }

// own makes the string one that may be modified.
func (h *hll) own() {
	if !h.owned {
		h.b, h.owned = bytes.Clone(h.b), true
	}
}

// knownCount is the count that was taken last, if it still holds.
func (h *hll) knownCount() (n int64, known bool) {
	return int64(binary.LittleEndian.Uint64(h.b[8:])), h.b[15]&hllStale == 0
}

// forgetCount says that the count does not hold any more.
func (h *hll) forgetCount() {
	h.own()
	h.b[15] |= hllStale
}

// hllRun is a run of equal registers in a sparse string.
type hllRun struct {
	value  byte // 0: they are zero
	length int  // in registers
	bytes  int  // of the run in the string
}

// run is the run at a place in a sparse string. One that is cut off reads as
// if a zero byte followed.
func (h *hll) run(at int) hllRun {
	b := h.b[at]
	switch {
	case b&0x80 != 0:
		return hllRun{b>>2&0x1f + 1, int(b&3) + 1, 1}
	case b&0x40 == 0:
		return hllRun{0, int(b) + 1, 1}
	}
	length := int(b&0x3f) << 8
	if at+1 < len(h.b) {
		length |= int(h.b[at+1])
	}
	return hllRun{0, length + 1, 2}
}

// appendZeros appends a run of zeros in its shortest form.
func appendZeros(dst []byte, length int) []byte {
	if length <= hllZeroMax {
		return append(dst, byte(length-1))
	}
	return append(dst, 0x40|byte((length-1)>>8), byte(length-1))
}

func appendValues(dst []byte, value byte, length int) []byte {
	return append(dst, 0x80|(value-1)<<2|byte(length-1))
}

// each visits the registers in runs of equal ones. A string that has not just
// as many is errCorruptHLL.
func (h *hll) each(visit func(first, length int, count byte)) error {
	if h.dense() {
		for i := range hllRegisterCount {
			visit(i, 1, h.denseAt(i))
		}
		return nil
	}
	first := 0
	for at := hllHeaderBytes; at < len(h.b); {
		r := h.run(at)
		if first+r.length > hllRegisterCount {
			return errCorruptHLL
		}
		visit(first, r.length, r.value)
		first += r.length
		at += r.bytes
	}
	if first != hllRegisterCount {
		return errCorruptHLL
	}
	return nil
}

// densePlace is where a register begins: a byte, and a bit in it. The last
// register ends with the string, so the byte behind is asked for only where
// there is one.
func densePlace(index int) (at int, bit uint) {
	return hllHeaderBytes + index*hllRegisterBits/8, uint(index * hllRegisterBits % 8)
}

const hllRegisterMask = 1<<hllRegisterBits - 1

func (h *hll) denseAt(index int) byte {
	at, bit := densePlace(index)
	pair := uint(h.b[at])
	if at+1 < len(h.b) {
		pair |= uint(h.b[at+1]) << 8
	}
	return byte(pair>>bit) & hllRegisterMask
}

func (h *hll) setDense(index int, count byte) {
	at, bit := densePlace(index)
	clear, set := uint(hllRegisterMask)<<bit, uint(count)<<bit
	h.b[at] = h.b[at]&^byte(clear) | byte(set)
	if clear>>8 != 0 {
		h.b[at+1] = h.b[at+1]&^byte(clear>>8) | byte(set>>8)
	}
}

// toDense makes a sparse string dense.
func (h *hll) toDense() error {
	if h.dense() {
		return nil
	}
	next := hll{make([]byte, hllDenseBytes), true, h.sparseBytes}
	copy(next.b, h.b[:hllHeaderBytes])
	next.b[4] = 0
	err := h.each(func(first, length int, count byte) {
		for i := first; count > 0 && i < first+length; i++ {
			next.setDense(i, count)
		}
	})
	if err != nil {
		return err
	}
	*h = next
	return nil
}

// raise sets a register to count if that is more than it has, and says
// whether it was.
func (h *hll) raise(index int, count byte) (changed bool, err error) {
	if h.dense() {
		if h.denseAt(index) >= count {
			return false, nil
		}
		h.own()
		h.setDense(index, count)
		return true, nil
	}
	if count > hllValueMax {
		return h.raiseDense(index, count)
	}
	return h.raiseSparse(index, count)
}

// raiseDense is raise for a string that must become dense for it.
func (h *hll) raiseDense(index int, count byte) (bool, error) {
	if err := h.toDense(); err != nil {
		return false, err
	}
	return h.raise(index, count)
}

// raiseSparse splits the run that the register is in, and joins runs of the
// same value around it again: not all that could be, but those that Redis
// joins.
func (h *hll) raiseSparse(index int, count byte) (bool, error) {
	first, at, before := 0, hllHeaderBytes, hllHeaderBytes
	var r hllRun
	for ; at < len(h.b); at += r.bytes {
		if r = h.run(at); index < first+r.length {
			break
		}
		before = at
		first += r.length
	}
	if at >= len(h.b) || at+r.bytes > len(h.b) {
		return false, errCorruptHLL
	}
	if r.value >= count {
		return false, nil
	}
	var split [5]byte
	pieces := r.split(split[:0], index-first, count)
	if more := len(pieces) - r.bytes; more > 0 && len(h.b)+more > h.sparseBytes {
		return h.raiseDense(index, count)
	}
	h.own()
	h.b = slices.Replace(h.b, at, at+r.bytes, pieces...)
	h.join(before)
	h.b[15] |= hllStale
	return true, nil
}

// split appends what the run becomes when its i-th register is set.
func (r hllRun) split(dst []byte, i int, count byte) []byte {
	side := func(dst []byte, length int) []byte {
		switch {
		case length == 0:
			return dst
		case r.value > 0:
			return appendValues(dst, r.value, length)
		}
		return appendZeros(dst, length)
	}
	dst = side(dst, i)
	dst = appendValues(dst, count, 1)
	return side(dst, r.length-i-1)
}

// hllJoinSteps is how many runs Redis looks at to join them.
const hllJoinSteps = 5

// join makes one run of neighbours with the same value, near a place.
func (h *hll) join(at int) {
	for steps := hllJoinSteps; steps > 0 && at < len(h.b); steps-- {
		r := h.run(at)
		if r.value > 0 && at+1 < len(h.b) {
			next := h.run(at + 1)
			if next.value == r.value && next.length+r.length <= hllValueRunMax {
				joined := appendValues(nil, r.value, next.length+r.length)
				h.b = slices.Replace(h.b, at, at+2, joined...)
				continue
			}
		}
		at += r.bytes
	}
}

// hllPlace is the register of an element, and what it shows there.
func hllPlace(element []byte) (index int, count byte) {
	hash := murmur64A(element, hllSeed)
	rest := hash>>hllIndexBits | 1<<hllHashBits // so that there is a one bit
	return int(hash & (hllRegisterCount - 1)), byte(bits.TrailingZeros64(rest) + 1)
}

// murmur64A is the hash MurmurHash2 in its variant for 64 bits.
func murmur64A(b []byte, seed uint64) uint64 {
	const multiplier, shift = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(b))*multiplier
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * multiplier
		k ^= k >> shift
		h = (h ^ k*multiplier) * multiplier
	}
	if len(b) > 0 {
		var tail [8]byte
		copy(tail[:], b)
		h = (h ^ binary.LittleEndian.Uint64(tail[:])) * multiplier
	}
	h ^= h >> shift
	h *= multiplier
	return h ^ h>>shift
}

// hllHistogram is how many registers have each value.
type hllHistogram [1 << hllRegisterBits]int

// estimate is the number of different elements, by the improved estimator of
// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog
// sketches" (arXiv:1702.01284), section 2. Conversions to float64 forbid the
// processor to round two operations at once, so the result is the same
// everywhere.
func (n *hllHistogram) estimate() int64 {
	const m = float64(hllRegisterCount)
	const alphaInfinity = 0.721347520444481703680 // 1/(2 ln 2)
	z := float64(m * tau((m-float64(n[hllHashBits+1]))/m))
	for value := hllHashBits; value >= 1; value-- {
		z = float64((z + float64(n[value])) * 0.5)
	}
	z += float64(m * sigma(float64(n[0])/m))
	return int64(math.Round(alphaInfinity * m * m / z))
}

// tau and sigma are the series of the paper, summed until they stand still.
func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == before {
			return z / 3
		}
	}
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		x *= x
		before := z
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}
