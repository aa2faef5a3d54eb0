package schema

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
)

// A write-ahead log is a header and frames, each a page with a header of its
// own (https://www.sqlite.org/fileformat2.html#walformat):
//
//	header  magic(4) version(4) page size(4) sequence(4) salts(8) checksum(8)
//	frame   page number(4) size of the database after a commit, or 0(4) salts(8) checksum(8) page
//
// Checksums run on from frame to frame, and SQLite reads up to the first that
// is wrong. Whatever comes behind is cut without a word. A frame there with
// the header's salts was written after the log was last started afresh; when
// its checksum follows from that of the frame before it, it is intact, and if
// it ends a commit, a commit has been cut. What a rolled back transaction has
// left there ends none.
const (
	walHeaderBytes = 32
	walFrameBytes  = 24

	walMagic     = 0x377f0682 // checksums of little-endian words; of big-endian ones with the last bit set
	walLooks     = 5          // at a log that somebody writes to
	walReadBytes = 1 << 20
)

// WALDamage is what a write-ahead log has behind its first broken frame. The
// zero value is a log that is sound, or ends in what no commit had finished.
type WALDamage struct {
	Offset  int64 // in bytes, of what is broken
	Frames  int64 // that are intact behind it
	Commits int64 // that these frames end
}

func (d WALDamage) String() string {
	return fmt.Sprintf("write-ahead log: broken at byte %d: %d commits in %d intact frames behind it cannot be read, and are lost "+
		"if no checkpoint had moved them; after a power cut they may be those that no fsync had covered, "+
		"at most the last group with always and the last second with everysec", d.Offset, d.Commits, d.Frames)
}

// InspectWAL looks for commits behind damage in the write-ahead log of the
// database at path, which may be in use. It must be asked before the store is
// opened for writing: SQLite then writes over them.
func InspectWAL(path string) (WALDamage, error) {
	var last walLook
	for n := range walLooks {
		look, err := lookAtWAL(resolve(path) + "-wal")
		if errors.Is(err, fs.ErrNotExist) {
			return WALDamage{}, nil
		}
		if err != nil {
			return WALDamage{}, fmt.Errorf("inspect the write-ahead log: %w", err)
		}
		if look.Commits == 0 {
			return WALDamage{}, nil
		}
		if n > 0 && look.same(last) {
			return look.WALDamage, nil
		}
		last = look
	}
	return WALDamage{}, nil // it only looks so because it is being written
}

// walLook is a log as it was read once. A log that is written to meanwhile
// may seem broken, but not twice in the same way.
type walLook struct {
	WALDamage
	broken uint64 // a hash of the header and of what is broken
}

func (l walLook) same(other walLook) bool {
	return l.Offset == other.Offset && l.broken == other.broken
}

// walReader reads the frames of a log in order.
type walReader struct {
	in     *bufio.Reader
	order  binary.ByteOrder
	frame  []byte
	salts  [8]byte
	before [2]uint32 // the checksum that the next one follows from
}

func lookAtWAL(name string) (look walLook, err error) {
	f, err := os.Open(name) // SQLite has no locks on it that closing would drop
	if err != nil {
		return look, err
	}
	defer f.Close()
	r := walReader{in: bufio.NewReaderSize(f, walReadBytes)}
	sound, header, err := r.header()
	if err != nil || r.frame == nil {
		return look, err
	}
	hash := fnv.New64a()
	hash.Write(header)
	for offset := int64(walHeaderBytes); ; offset += int64(len(r.frame)) {
		intact, err := r.next(!sound && offset == walHeaderBytes)
		if err != nil {
			look.broken = hash.Sum64()
			return look, ignoreEnd(err)
		}
		switch {
		case sound && !intact:
			sound, look.Offset = false, offset
			hash.Write(r.frame)
		case !sound && intact:
			look.Frames++
			if binary.BigEndian.Uint32(r.frame[4:]) != 0 {
				look.Commits++
			}
		}
	}
}

// ignoreEnd is nil at the log's end, also within a frame.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// header reads the header and says whether it is sound. There is no frame
// buffer afterwards if the log is empty, or its pages have no size.
func (r *walReader) header() (sound bool, header []byte, err error) {
	header = make([]byte, walHeaderBytes)
	if _, err := io.ReadFull(r.in, header); err != nil {
		return false, nil, ignoreEnd(err)
	}
	magic, pageBytes := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[8:])
	if pageBytes < 512 || pageBytes > 65536 || pageBytes&(pageBytes-1) != 0 {
		pageBytes = 4096 // what a store has unless told otherwise
	}
	r.order = binary.LittleEndian
	if magic&1 != 0 {
		r.order = binary.BigEndian
	}
	r.frame = make([]byte, walFrameBytes+int(pageBytes))
	copy(r.salts[:], header[16:])
	r.before = stored(header[24:])
	sound = magic&^1 == walMagic && r.sum([2]uint32{}, header[:24]) == r.before
	return sound, header, nil
}

// next reads a frame and says whether it is intact. With trusted its salts
// are taken for the log's: the header's are broken.
func (r *walReader) next(trusted bool) (intact bool, err error) {
	if _, err := io.ReadFull(r.in, r.frame); err != nil {
		return false, err
	}
	if trusted {
		copy(r.salts[:], r.frame[8:])
	}
	before, sum := r.before, stored(r.frame[16:])
	r.before = sum
	if [8]byte(r.frame[8:16]) != r.salts || binary.BigEndian.Uint32(r.frame) == 0 {
		return false, nil
	}
	return r.sum(r.sum(before, r.frame[:8]), r.frame[walFrameBytes:]) == sum, nil
}

func stored(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// sum is SQLite's checksum of data, a multiple of 8 bytes, from a start.
func (r *walReader) sum(from [2]uint32, data []byte) [2]uint32 {
	s0, s1 := from[0], from[1]
	for i := 0; i+8 <= len(data); i += 8 {
		s0 += r.order.Uint32(data[i:]) + s1
		s1 += r.order.Uint32(data[i+4:]) + s0
	}
	return [2]uint32{s0, s1}
}
