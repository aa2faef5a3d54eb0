package resp

import (
	"reflect"
	"sync"

	"github.com/firndb/firn/internal/invariant"
)

// MinSpace is a good argument for Space: with less room than this a read is
// hardly worth its system call.
const MinSpace = 4 << 10

const (
	// pageBytes is what a Reader starts with, and what most never outgrow:
	// Redis reads 16 KiB at a time too.
	pageBytes = 16 << 10

	// pageArgs is how many arguments one page full of commands may have
	// before headers are allocated; 128 pipelined SETs have 384.
	pageArgs = 512

	// pagePlaces is the same for a single command.
	pagePlaces = 128

	// pageAhead is for how many commands Peek allocates nothing.
	pageAhead = 64

	// idleBytes is the largest buffer that a Reader keeps although a page
	// would do.
	idleBytes = 1 << 20

	// idleArgs is the same for headers and places. 32,768 headers are 768 KiB.
	idleArgs = 32 << 10
)

// page is the memory that a connection needs while bytes are in flight.
// Pages are shared by all Readers, so an idle connection needs none.
type page struct {
	bytes  [pageBytes]byte
	args   [pageArgs][]byte
	places [pagePlaces]place
	ahead  [pageAhead]command
}

// What a page and the header of an argument take.
var (
	pageMemory   = int(reflect.TypeFor[page]().Size())
	headerMemory = int(reflect.TypeFor[[]byte]().Size())
)

var pages = sync.Pool{New: func() any { return new(page) }}

// Space returns room for at least least bytes, and usually for more, to read
// into. It ends the life of every argument that Next has returned.
//
// An unfinished command is moved to make room, and at most to a buffer of
// twice the size, or less if the end of the command is known. One of more than 1 MiB is given back as soon as what it holds
// fits into 16 KiB.
func (r *Reader) Space(least int) []byte {
	least = max(least, 1)
	r.unread()
	if r.page == nil {
		r.adopt()
	}
	r.mark()
	r.used = 0
	if r.start == r.end {
		r.start, r.pos, r.end, r.scan = 0, 0, 0, 0
	}
	r.shrink(least)
	if len(r.buf)-r.end < least {
		r.makeRoom(least)
	}
	return r.buf[r.end:]
}

// Fill says that n bytes were read into what Space returned last.
func (r *Reader) Fill(n int) {
	if room := len(r.buf) - r.end; n < 0 || n > room {
		invariant.Check(false, "%d bytes were read into %d", n, room)
	}
	r.end += n
}

// Release gives the buffer back if no unfinished command is in it, and
// reports whether it did. It ends the life of every argument that Next has
// returned. A driver calls it before a connection goes to sleep; the next
// Space takes a buffer again. After an error the buffer always goes.
func (r *Reader) Release() bool {
	r.unread()
	if r.err == nil && r.start != r.end {
		return false
	}
	if r.page != nil {
		r.mark()
		clear(r.page.args[:r.marked])
		clear(r.page.ahead[:])
		pages.Put(r.page)
	}
	r.page, r.buf, r.slab, r.places, r.ahead = nil, nil, nil, nil, nil
	r.start, r.pos, r.end, r.scan = 0, 0, 0, 0
	r.used, r.marked = 0, 0
	return true
}

// adopt takes a page.
func (r *Reader) adopt() {
	r.page = pages.Get().(*page)
	r.buf = r.page.bytes[:]
	r.slab = r.page.args[:]
	r.places = r.page.places[:0]
}

// mark notes how much of the page's headers has been written.
func (r *Reader) mark() {
	if len(r.slab) == pageArgs {
		r.marked = max(r.marked, r.used)
	}
}

// shrink goes back to the page where something much larger was needed for a
// while.
func (r *Reader) shrink(least int) {
	if len(r.slab) > idleArgs {
		r.slab = r.page.args[:]
	}
	if r.left == 0 && cap(r.places) > idleArgs {
		r.places = r.page.places[:0]
	}
	if len(r.buf) > idleBytes && r.end-r.start <= pageBytes-min(least, pageBytes) {
		r.move(r.page.bytes[:])
	}
}

// makeRoom moves the unfinished command to the front of the buffer, or to a
// larger one. The first happens once per command and the second doubles, so
// a command of n bytes costs O(n), however small the pieces it comes in.
func (r *Reader) makeRoom(least int) {
	held := r.end - r.start
	if r.start > 0 && held+least <= len(r.buf) {
		r.move(r.buf)
		return
	}
	size := 2 * len(r.buf)
	if r.left == 1 && r.need > 0 {
		// The last argument: the end of the command is known.
		size = min(size, r.pos-r.start+r.need)
	}
	if r.guest {
		size = min(size, guestMaxCommandBytes)
	}
	r.move(make([]byte, max(size, held+least)))
}

// move puts the unfinished command at the front of to.
func (r *Reader) move(to []byte) {
	copy(to, r.buf[r.start:r.end])
	if &to[0] != &r.buf[0] {
		// Old headers would keep the old buffer alive.
		clear(r.slab)
		clear(r.page.args[:r.marked])
		r.marked = 0
	}
	r.buf = to
	r.pos -= r.start
	r.end -= r.start
	r.scan = max(r.scan-r.start, 0)
	r.start = 0
}
