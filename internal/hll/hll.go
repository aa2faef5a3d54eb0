// Package hll keeps HyperLogLogs as the strings that Redis keeps them as, to
// the byte: sketches that count different elements in 12 KiB or less.
package hll

import (
	"bytes"
	"encoding/binary"
	"errors"
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
	HeaderBytes   = 16
	indexBits     = 14
	RegisterCount = 1 << indexBits
	registerBits  = 6
	hashBits      = 64 - indexBits // what is left of a hash
	DenseBytes    = HeaderBytes + RegisterCount*registerBits/8
	zeroMax       = 64
	valueMax      = 32 // the largest register that a sparse one can have
	valueRunMax   = 4
	stale         = 0x80 // in the last byte of the count
	hashSeed      = 0xadc83b19
)

// ErrDamaged means that a string is no HyperLogLog, or not a whole one.
var ErrDamaged = errors.New("hll: damaged")

const magic = "HYLL"

// Registers are all registers, a byte each.
type Registers [RegisterCount]byte

// Sketch is the string of a HyperLogLog. It is a stored one, which nobody may
// modify, until a change has made a copy.
type Sketch struct {
	B           []byte
	Owned       bool
	SparseBytes int // above it a raised register makes the string dense; of no matter where none is raised
}

// New counts nothing yet.
func New(sparseBytes int) Sketch {
	b := make([]byte, HeaderBytes, HeaderBytes+2)
	copy(b, magic)
	b[4] = 1
	return Sketch{appendZeros(b, RegisterCount), true, sparseBytes}
}

// Is says whether a string looks like a HyperLogLog.
func Is(b []byte) bool {
	return len(b) >= HeaderBytes && bytes.HasPrefix(b, []byte(magic)) && b[4] <= 1 && (b[4] == 1 || len(b) == DenseBytes)
}

func (h *Sketch) Dense() bool { return h.B[4] == 0 }

// own makes the string one that may be modified.
func (h *Sketch) own() {
	if !h.Owned {
		h.B, h.Owned = bytes.Clone(h.B), true
	}
}

// KnownCount is the count that was taken last, if it still holds.
func (h *Sketch) KnownCount() (n int64, known bool) {
	return int64(binary.LittleEndian.Uint64(h.B[8:])), h.B[15]&stale == 0
}

// ForgetCount says that the count does not hold any more.
func (h *Sketch) ForgetCount() {
	h.own()
	h.B[15] |= stale
}

// Run is a run of equal registers in a sparse string.
type Run struct {
	Value  byte // 0: they are zero
	Length int  // in registers
	Bytes  int  // of the run in the string
}

// RunAt is the run at a place in a sparse string. One that is cut off reads as
// if a zero byte followed.
func (h *Sketch) RunAt(at int) Run {
	b := h.B[at]
	switch {
	case b&0x80 != 0:
		return Run{b>>2&0x1f + 1, int(b&3) + 1, 1}
	case b&0x40 == 0:
		return Run{0, int(b) + 1, 1}
	}
	length := int(b&0x3f) << 8
	if at+1 < len(h.B) {
		length |= int(h.B[at+1])
	}
	return Run{0, length + 1, 2}
}

// appendZeros appends a run of zeros in its shortest form.
func appendZeros(dst []byte, length int) []byte {
	if length <= zeroMax {
		return append(dst, byte(length-1))
	}
	return append(dst, 0x40|byte((length-1)>>8), byte(length-1))
}

func appendValues(dst []byte, value byte, length int) []byte {
	return append(dst, 0x80|(value-1)<<2|byte(length-1))
}

// Each visits the registers in runs of equal ones. A string that has not just
// as many is ErrDamaged.
func (h *Sketch) Each(visit func(first, length int, count byte)) error {
	if h.Dense() {
		for i := range RegisterCount {
			visit(i, 1, h.denseAt(i))
		}
		return nil
	}
	first := 0
	for at := HeaderBytes; at < len(h.B); {
		r := h.RunAt(at)
		if first+r.Length > RegisterCount {
			return ErrDamaged
		}
		visit(first, r.Length, r.Value)
		first += r.Length
		at += r.Bytes
	}
	if first != RegisterCount {
		return ErrDamaged
	}
	return nil
}

// densePlace is where a register begins: a byte, and a bit in it. The last
// register ends with the string, so the byte behind is asked for only where
// there is one.
func densePlace(index int) (at int, bit uint) {
	return HeaderBytes + index*registerBits/8, uint(index * registerBits % 8)
}

const registerMask = 1<<registerBits - 1

func (h *Sketch) denseAt(index int) byte {
	at, bit := densePlace(index)
	pair := uint(h.B[at])
	if at+1 < len(h.B) {
		pair |= uint(h.B[at+1]) << 8
	}
	return byte(pair>>bit) & registerMask
}

func (h *Sketch) setDense(index int, count byte) {
	at, bit := densePlace(index)
	clear, set := uint(registerMask)<<bit, uint(count)<<bit
	h.B[at] = h.B[at]&^byte(clear) | byte(set)
	if clear>>8 != 0 {
		h.B[at+1] = h.B[at+1]&^byte(clear>>8) | byte(set>>8)
	}
}

// ToDense makes a sparse string dense.
func (h *Sketch) ToDense() error {
	if h.Dense() {
		return nil
	}
	next := Sketch{make([]byte, DenseBytes), true, h.SparseBytes}
	copy(next.B, h.B[:HeaderBytes])
	next.B[4] = 0
	err := h.Each(func(first, length int, count byte) {
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

// Raise sets a register to count if that is more than it has, and says
// whether it was.
func (h *Sketch) Raise(index int, count byte) (changed bool, err error) {
	if h.Dense() {
		if h.denseAt(index) >= count {
			return false, nil
		}
		h.own()
		h.setDense(index, count)
		return true, nil
	}
	if count > valueMax {
		return h.raiseDense(index, count)
	}
	return h.raiseSparse(index, count)
}

// raiseDense is raise for a string that must become dense for it.
func (h *Sketch) raiseDense(index int, count byte) (bool, error) {
	if err := h.ToDense(); err != nil {
		return false, err
	}
	return h.Raise(index, count)
}

// raiseSparse splits the run that the register is in, and joins runs of the
// same value around it again: not all that could be, but those that Redis
// joins.
func (h *Sketch) raiseSparse(index int, count byte) (bool, error) {
	first, at, before := 0, HeaderBytes, HeaderBytes
	var r Run
	for ; at < len(h.B); at += r.Bytes {
		if r = h.RunAt(at); index < first+r.Length {
			break
		}
		before = at
		first += r.Length
	}
	if at >= len(h.B) || at+r.Bytes > len(h.B) {
		return false, ErrDamaged
	}
	if r.Value >= count {
		return false, nil
	}
	var split [5]byte
	pieces := r.split(split[:0], index-first, count)
	if more := len(pieces) - r.Bytes; more > 0 && len(h.B)+more > h.SparseBytes {
		return h.raiseDense(index, count)
	}
	h.own()
	h.B = slices.Replace(h.B, at, at+r.Bytes, pieces...)
	h.join(before)
	h.B[15] |= stale
	return true, nil
}

// split appends what the run becomes when its i-th register is set.
func (r Run) split(dst []byte, i int, count byte) []byte {
	side := func(dst []byte, length int) []byte {
		switch {
		case length == 0:
			return dst
		case r.Value > 0:
			return appendValues(dst, r.Value, length)
		}
		return appendZeros(dst, length)
	}
	dst = side(dst, i)
	dst = appendValues(dst, count, 1)
	return side(dst, r.Length-i-1)
}

// joinSteps is how many runs Redis looks at to join them.
const joinSteps = 5

// join makes one run of neighbours with the same value, near a place.
func (h *Sketch) join(at int) {
	for steps := joinSteps; steps > 0 && at < len(h.B); steps-- {
		r := h.RunAt(at)
		if r.Value > 0 && at+1 < len(h.B) {
			next := h.RunAt(at + 1)
			if next.Value == r.Value && next.Length+r.Length <= valueRunMax {
				joined := appendValues(nil, r.Value, next.Length+r.Length)
				h.B = slices.Replace(h.B, at, at+2, joined...)
				continue
			}
		}
		at += r.Bytes
	}
}

// Place is the register of an element, and what it shows there.
func Place(element []byte) (index int, count byte) {
	hash := murmur64A(element, hashSeed)
	rest := hash>>indexBits | 1<<hashBits // so that there is a one bit
	return int(hash & (RegisterCount - 1)), byte(bits.TrailingZeros64(rest) + 1)
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

// Histogram is how many registers have each value.
type Histogram [1 << registerBits]int

// Estimate is the number of different elements, by the improved estimator of
// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog
// sketches" (arXiv:1702.01284), section 2. Conversions to float64 forbid the
// processor to round two operations at once, so the result is the same
// everywhere.
func (n *Histogram) Estimate() int64 {
	const m = float64(RegisterCount)
	const alphaInfinity = 0.721347520444481703680 // 1/(2 ln 2)
	z := float64(m * tau((m-float64(n[hashBits+1]))/m))
	for value := hashBits; value >= 1; value-- {
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
