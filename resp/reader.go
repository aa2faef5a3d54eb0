package resp

import "bytes"

// Reader finds the commands in the bytes of one connection.
//
// Bytes go in through Space and Fill, commands come out of Next. A command
// may arrive in any number of pieces; what is known of an unfinished one is
// kept, and no byte is looked at twice but to be copied into a larger buffer, or
// because there was a Peek at it.
//
// Invariants:
//
//   - 0 <= start <= pos <= end <= len(buf). The unfinished command begins at
//     start, is understood up to pos, and has arrived up to end.
//   - buf grows with the bytes that arrived and never by a length that a
//     client merely announced.
//   - Arguments alias buf, and their headers lie in slab; neither moves
//     between two calls of Space.
//   - What is in ahead begins where it says, one command behind the other, and
//     the last ends at start. Space undoes it: then it is read again.
//   - page is nil exactly when buf is: a Reader without bytes costs nothing
//     but itself.
//
// A Reader belongs to one goroutine. What Next returned may be read by
// another one until the next Space.
type Reader struct {
	limits Limits
	guest  bool  // the client has not authenticated yet
	err    error // a ProtocolError, once there is one

	page            *page
	buf             []byte // page.bytes, or larger
	start, pos, end int
	scan            int // no line ends before this offset, if it is past pos

	left   int     // arguments of the array that are still to come
	need   int     // bytes of the current bulk with its line break, 0 if unknown
	places []place // the arguments understood so far

	ahead []command // what Peek has read, and Next not returned yet

	slab   [][]byte // headers: page.args, or larger
	used   int      // slab[:used] was handed out since the last Space
	marked int      // page.args[:marked] may still refer to a buffer
}

// place is an argument's place, counted from start.
type place struct{ from, to int }

// NewReader returns a Reader that enforces limits. It holds no buffer until
// the first Space.
func NewReader(limits Limits) *Reader {
	return &Reader{limits: limits.withDefaults()}
}

// SetLimits replaces the limits, from the next length on that is read.
func (r *Reader) SetLimits(limits Limits) {
	r.unread()
	r.limits = limits.withDefaults()
}

// SetAuthenticated says whether the client is trusted with commands of more
// than 10 arguments and arguments of more than 16 KiB. A Reader starts
// trusting. While it does not, it holds no command of more than 32 KiB and no
// line of more than 16 KiB or 128 words, and each command should be executed before the
// next is asked for: it may be the AUTH that lifts the limit.
func (r *Reader) SetAuthenticated(trusted bool) {
	r.unread()
	r.guest = !trusted
}

// Buffered returns how many bytes have arrived that Next did not return yet.
func (r *Reader) Buffered() int {
	if len(r.ahead) > 0 {
		return r.end - r.ahead[0].start
	}
	return r.end - r.start
}

// Used returns how many bytes are in the buffer: those that Next did not
// return yet, and those of commands that it has since the last Space.
func (r *Reader) Used() int { return r.end }

// Size returns how many bytes the buffer holds, used or not.
func (r *Reader) Size() int { return len(r.buf) }

// Memory returns how many bytes the Reader's buffers take in all.
func (r *Reader) Memory() int {
	if r.page == nil {
		return 0
	}
	memory := pageMemory
	if len(r.buf) > pageBytes {
		memory += len(r.buf)
	}
	if len(r.slab) > pageArgs {
		memory += len(r.slab) * headerMemory
	}
	return memory
}

// Next returns the next command that has arrived completely, its name first.
// ok is false if there is none yet. Commands are never empty, but arguments
// may be.
//
// args and everything in it are valid until the next call of Space or
// Release, however often Next is called in between. They must not be
// written to.
//
// An error is a [ProtocolError], and it comes after the good commands in
// front of it. It stays: every later call returns it too.
func (r *Reader) Next() (args [][]byte, ok bool, err error) {
	if len(r.ahead) > 0 {
		args = r.ahead[0].args
		r.ahead = r.ahead[1:]
		return args, true, nil
	}
	return r.read()
}

// read is Next for what there was no Peek at.
func (r *Reader) read() (args [][]byte, ok bool, err error) {
	for r.err == nil {
		switch {
		case r.left > 0:
			if !r.readBulks() {
				return nil, false, r.err
			}
			return r.take(), true, nil
		case r.pos == r.end:
			return nil, false, nil
		case r.buf[r.pos] == '*':
			if !r.readCount() {
				return nil, false, r.err
			}
		default:
			if !r.readInline() {
				return nil, false, r.err
			}
			if len(r.places) > 0 {
				return r.take(), true, nil
			}
		}
		if r.left == 0 {
			r.start = r.pos // nothing in it: an empty line or array
		}
	}
	return nil, false, r.err
}

// readCount reads the line in front of an array. It returns false if the line
// is not there yet, or is wrong.
func (r *Reader) readCount() bool {
	n, width, good := r.readNumber(errMultibulkLine)
	switch {
	case width == 0:
		return false
	case !good || n > int64(r.limits.MaxArgs):
		r.err = errMultibulkLength
		return false
	case r.guest && n > guestMaxArgs:
		r.err = errGuestMultibulkLength
		return false
	}
	r.pos += width
	r.left = int(max(n, 0))
	return true
}

// readBulks reads arguments until the array is complete. It returns false if
// it is not, or is wrong.
func (r *Reader) readBulks() bool {
	for r.left > 0 {
		if r.need == 0 && !r.readBulkLength() {
			return false
		}
		if r.end-r.pos < r.need {
			return false
		}
		from := r.pos - r.start
		r.places = append(r.places, place{from, from + r.need - len("\r\n")})
		r.pos += r.need
		r.need = 0
		r.left--
	}
	return true
}

// readBulkLength reads the line in front of a bulk. It returns false if the
// line is not there yet, or is wrong.
func (r *Reader) readBulkLength() bool {
	n, width, good := r.readNumber(errBulkLine)
	switch {
	case width == 0:
		return false
	case r.buf[r.pos] != '$':
		r.err = errExpectedBulk(r.buf[r.pos])
		return false
	case !good || n < 0 || n > int64(r.limits.MaxBulk):
		r.err = errBulkLength
		return false
	case r.guest && n > guestMaxBulk:
		r.err = errGuestBulkLength
		return false
	}
	r.pos += width
	whole := n + int64(r.pos-r.start+len("\r\n"))
	switch {
	case whole > int64(r.limits.MaxCommandBytes):
		r.err = errCommand
		return false
	case r.guest && whole > guestMaxCommandBytes:
		r.err = errGuestBulkLength
		return false
	}
	r.need = int(n) + len("\r\n")
	return true
}

// readNumber reads the line at pos: one byte of any kind, a number, and a
// carriage return with the byte after it. width is the line's length in
// bytes, or 0 if it is not complete; tooLong becomes the Reader's error if it
// never can be. good is false if the number is none.
func (r *Reader) readNumber(tooLong ProtocolError) (n int64, width int, good bool) {
	line := r.buf[r.pos:r.end]
	// Nearly all numbers have one to three digits. What has more than seven,
	// or begins with a zero, or is odd otherwise is left to the strict parser.
	for i := 1; i < len(line) && i <= 8 && line[0] != 0; i++ {
		digit := line[i] - '0'
		if digit > 9 {
			if line[i] != '\r' || i == 1 || i+1 == len(line) || (line[1] == '0' && i > 2) {
				break
			}
			return n, i + 2, true
		}
		n = n*10 + int64(digit)
	}
	at := r.findLineEnd('\r', tooLong)
	if at < 0 || at+1 == len(line) {
		return 0, 0, false
	}
	n, good = ParseInt(line[min(1, at):at])
	return n, at + 2, good
}

// findLineEnd returns where terminator stands, counted from pos, or -1 if it
// has not arrived; tooLong becomes the Reader's error if it never will. As in
// Redis, which looks for it with strchr, a NUL byte hides what follows.
func (r *Reader) findLineEnd(terminator byte, tooLong ProtocolError) int {
	r.scan = max(r.scan, r.pos)
	rest := r.buf[r.scan:r.end]
	i := bytes.IndexByte(rest, terminator)
	if i >= 0 {
		rest = rest[:i]
	}
	if nul := bytes.IndexByte(rest, 0); nul >= 0 {
		r.scan += nul // where the next search stops again, at once
		i = -1
	} else {
		r.scan += len(rest)
	}
	arrived := r.end - r.pos
	if i >= 0 {
		arrived = r.scan - r.pos
	}
	if arrived > r.limits.MaxInline || r.guest && arrived > guestMaxInline {
		r.err = tooLong
		return -1
	}
	if i < 0 {
		return -1
	}
	return arrived
}

// take hands out the command that ends at pos.
func (r *Reader) take() [][]byte {
	n := len(r.places)
	if len(r.slab)-r.used < n {
		// The old slab lives on in the commands that were taken from it.
		r.mark()
		size := 2 * len(r.slab)
		if r.guest {
			size = guestMaxWords // its commands are executed one by one
		}
		r.slab = make([][]byte, max(size, n))
		r.used = 0
	}
	args := r.slab[r.used : r.used+n : r.used+n]
	r.used += n
	command := r.buf[r.start:r.pos]
	for i, s := range r.places {
		args[i] = command[s.from:s.to:s.to]
	}
	r.places = r.places[:0]
	r.start = r.pos
	return args
}
