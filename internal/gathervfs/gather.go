// Package gathervfs writes a commit's frames at once.
//
// SQLite writes each frame of its write-ahead log in two calls, one for the
// header and one for the page: a group of 32 rows takes a dozen. [Over] makes
// a SQLite virtual file system for one write connection. It stands over a
// named one, gathers frames that follow one another, and writes them in one
// call when the commit's last page comes, within that call of SQLite: what
// has to be in the file when SQLite syncs it or tells readers of it is there,
// and an error is that call's.
//
// Both files are synced with fdatasync, where the file system below is the
// platform's own. Everything else goes through unchanged: the database file,
// what is read, and what is written to the log and is not a frame behind the
// ones before.
//
// It exists for Linux only; elsewhere [Over] is the file system below.
package gathervfs

import "encoding/binary"

// gatherBytes is the most of one write: the platform's own counts the bytes
// of a write in 17 bits.
const gatherBytes = 1<<17 - 1

// A frame is a header and a page. The header's bytes 4 to 7 are not 0 in the
// last frame of a commit.
const frameHeaderBytes = 24

// gatherer gathers what is written to one write-ahead log.
//
// Invariants:
//
//   - What is gathered lies behind everything that the transaction has
//     written. One that outgrows the page cache changes frames of its own, and
//     then their headers; none of these is followed by its page, and the last
//     is that of the commit.
//   - Nothing is gathered when the write of a commit's last page returns, nor
//     when the write lock is let go.
//   - Once gathered frames could not be written, nothing more is until the
//     transaction ends, because SQLite was told that these were.
type gatherer struct {
	put func(data []byte, offset int64) int32 // writes below, and returns SQLite's code

	buf     []byte // gathered; never more than gatherBytes, which it has room for
	start   int64  // its offset in the log
	written int64  // the end of what the transaction has put
	page    bool   // the next write is the page of a header that is gathered
	commit  bool   // that header ends a commit
	bytes   int    // of the page before
	failed  int32  // why gathered frames could not be written; 0: they could
}

// write takes a write of the log, and returns SQLite's code.
func (g *gatherer) write(data []byte, offset int64) int32 {
	page := g.page
	g.page = false
	switch {
	case g.failed != 0:
		return g.failed
	case page && offset == g.end() && g.fits(len(data)):
		g.buf, g.bytes = append(g.buf, data...), len(data)
		if g.commit {
			return g.flush()
		}
		return 0
	case len(data) == frameHeaderBytes && offset >= g.written:
		return g.header(data, offset)
	}
	return g.through(data, offset)
}

// header starts a frame.
func (g *gatherer) header(data []byte, offset int64) int32 {
	if offset != g.end() || !g.fits(frameHeaderBytes+g.bytes) {
		if rc := g.flush(); rc != 0 {
			return rc
		}
	}
	if len(g.buf) == 0 {
		g.start = offset
	}
	g.buf = append(g.buf, data...)
	g.page, g.commit = true, binary.BigEndian.Uint32(data[4:]) != 0
	return 0
}

// through writes what is not gathered, behind what is.
func (g *gatherer) through(data []byte, offset int64) int32 {
	if rc := g.flush(); rc != 0 {
		return rc
	}
	g.written = max(g.written, offset+int64(len(data)))
	return g.put(data, offset)
}

func (g *gatherer) end() int64 { return g.start + int64(len(g.buf)) }

func (g *gatherer) fits(n int) bool { return len(g.buf)+n <= gatherBytes }

// flush writes what is gathered.
func (g *gatherer) flush() int32 {
	if g.failed != 0 || len(g.buf) == 0 {
		return g.failed
	}
	g.page = false
	g.written = g.end()
	g.failed = g.put(g.buf, g.start)
	g.buf = g.buf[:0]
	return g.failed
}

// drop forgets what is gathered: the transaction ends without a commit, or has
// had it. It must happen before another connection may write to the log.
func (g *gatherer) drop() {
	g.buf, g.written, g.page, g.failed = g.buf[:0], 0, false, 0
}
