package slab

// The rule: places do not overlap, keep what is in them wherever they are
// moved, and what is not needed any more is given back.

import (
	"encoding/binary"
	"testing"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/internal/seed"
)

func TestSizesOfPlaces(t *testing.T) {
	for n := 1; n <= MaxBytes; n++ {
		size := Size(n)
		switch lost := size - n; {
		case lost < 0:
			t.Fatalf("%d bytes: got a place of %d", n, size)
		case n <= 128 && lost >= granule:
			t.Fatalf("%d bytes: got a place of %d, want steps of %d", n, size, granule)
		case n > 128 && lost*9 > size:
			t.Fatalf("%d bytes: got a place of %d, want at most an eighth more", n, size)
		case size%granule != 0 || classOf(n) >= classes || classBytes(classOf(n)) != size || Size(size) != size:
			t.Fatalf("%d bytes: got a place of %d of class %d", n, size, classOf(n))
		}
	}
	if got := classOf(MaxBytes); got != classes-1 {
		t.Errorf("the largest class: got %d, want %d", got, classes-1)
	}
}

// ledger owns the places of a Slab: piece i says where it is in its bytes 4 to
// 8, like any owner's, and is filled with a byte of its own behind that.
type ledger struct {
	t      *testing.T
	slab   *Slab
	places map[uint32]Ref
	sizes  map[uint32]int
	moves  int
}

func (l *ledger) put(piece uint32, n int) {
	r := l.slab.Alloc(n)
	b := l.slab.Bytes(r)
	if len(b) < n {
		l.t.Fatalf("a place for %d bytes: got %d", n, len(b))
	}
	binary.LittleEndian.PutUint32(b[4:], piece)
	for i := 8; i < len(b); i++ {
		b[i] = byte(piece)
	}
	l.places[piece], l.sizes[piece] = r, len(b)
}

func (l *ledger) drop(piece uint32) {
	l.slab.Free(l.places[piece])
	delete(l.places, piece)
	delete(l.sizes, piece)
}

func (l *ledger) Holds(place []byte, r Ref) bool {
	return l.places[binary.LittleEndian.Uint32(place[4:])] == r
}

func (l *ledger) Moved(place []byte, to Ref) {
	l.places[binary.LittleEndian.Uint32(place[4:])] = to
	l.moves++
}

// check reads every piece, and counts.
func (l *ledger) check() {
	l.t.Helper()
	live := int64(0)
	for piece, r := range l.places {
		b := l.slab.Bytes(r)
		live += int64(len(b))
		if got := binary.LittleEndian.Uint32(b[4:]); got != piece || len(b) != l.sizes[piece] {
			l.t.Fatalf("piece %d: got %d of %d bytes, want %d bytes", piece, got, len(b), l.sizes[piece])
		}
		for i := 8; i < len(b); i++ {
			if b[i] != byte(piece) {
				l.t.Fatalf("piece %d: got byte %d at %d, want %d", piece, b[i], i, byte(piece))
			}
		}
	}
	if got := l.slab.Live(); got != live {
		l.t.Fatalf("live: got %d, want %d", got, live)
	}
	if got := l.slab.Held(); got < live {
		l.t.Fatalf("held: got %d, want at least the %d that live", got, live)
	}
}

// TestPlacesAreTheirOwners puts, drops and drains pieces of sizes that shift.
func TestPlacesAreTheirOwners(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(1)
	l := &ledger{t: t, slab: New(MinChunk), places: map[uint32]Ref{}, sizes: map[uint32]int{}}
	defer l.slab.Release()
	next := uint32(1)
	var pieces []uint32
	for round := range race.Lighter(60, 45) {
		size := 8 + rng.IntN(1<<(4+round%9)) // the usual size is another one each round
		for range 2000 {
			switch rng.IntN(5) {
			case 0, 1:
				l.put(next, min(size+rng.IntN(16), MaxBytes))
				pieces = append(pieces, next)
				next++
			case 2, 3:
				if n := len(pieces); n > 0 {
					i := rng.IntN(n)
					l.drop(pieces[i])
					pieces[i] = pieces[n-1]
					pieces = pieces[:n-1]
				}
			case 4:
				l.slab.Drain(1+rng.IntN(32), l)
			}
		}
		l.check()
	}
	if l.moves == 0 {
		t.Error("pieces moved: got 0, want some")
	}
	for l.slab.Drain(1000, l) {
	}
	for class, free := range l.slab.free {
		if free*classBytes(class) > MinChunk {
			t.Errorf("free places of %d bytes after draining: got %d, want at most a chunk's", classBytes(class), free)
		}
	}
	l.check()
}

// TestMemoryIsGivenBack: nine pieces of ten go, and so does most of the memory.
func TestMemoryIsGivenBack(t *testing.T) {
	l := &ledger{t: t, slab: New(MinChunk), places: map[uint32]Ref{}, sizes: map[uint32]int{}}
	defer l.slab.Release()
	const pieces = 10_000
	for i := range uint32(pieces) {
		l.put(i+1, 200)
	}
	full := l.slab.Held()
	for i := range uint32(pieces) {
		if i%10 != 0 {
			l.drop(i + 1)
		}
	}
	if got := l.slab.Held(); got != full {
		t.Errorf("held before draining: got %d, want %d", got, full)
	}
	for l.slab.Drain(64, l) {
	}
	l.check()
	if got := l.slab.Held(); got > full/10+2*MinChunk {
		t.Errorf("held after draining: got %d, want about a tenth of %d", got, full)
	}
	for i := range uint32(pieces) {
		if i%10 == 0 {
			l.drop(i + 1)
		}
	}
	if got := l.slab.Held(); got > MinChunk {
		t.Errorf("held when all is free: got %d, want a chunk at most", got)
	}
}

// TestNumbersOfPlacesEnd: a Slab with as many chunks as its numbers can name
// says so.
func TestNumbersOfPlacesEnd(t *testing.T) {
	s := New(MaxChunk)
	s.chunks = make([]chunk, 1<<(32-s.shift)) // as if they were all in use
	if got := s.Alloc(10); got != 0 {
		t.Errorf("a place: got %d, want none", got)
	}
}

func TestArrayKeepsItsElements(t *testing.T) {
	var a Array[uint32]
	defer a.Release()
	const n = 100_000
	first := (*uint32)(nil)
	for i := range uint32(n) {
		a.Grow(i + 1)
		if got := *a.At(i); got != 0 {
			t.Fatalf("a new element: got %d, want 0", got)
		}
		*a.At(i) = i
		if i == 0 {
			first = a.At(0)
		}
	}
	for i := range uint32(n) {
		if got := *a.At(i); got != i {
			t.Fatalf("element %d: got %d", i, got)
		}
	}
	if a.At(0) != first {
		t.Error("growing moved the first element")
	}
}
