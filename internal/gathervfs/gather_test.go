package gathervfs

// The gatherer against a file that is written at once: whenever SQLite may
// look, both hold the same, and a commit is one write.

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

const (
	testPageBytes  = 512
	testFrameBytes = frameHeaderBytes + testPageBytes
	ioError        = 10 | 3<<8
)

// testLog is a log behind a gatherer, and the same log written at once.
type testLog struct {
	t      *testing.T
	g      gatherer
	file   []byte
	want   []byte
	writes [][2]int64 // offset and length of each
	fail   bool
}

func newTestLog(t *testing.T) *testLog {
	l := &testLog{t: t}
	l.g.put = func(data []byte, offset int64) int32 {
		if l.fail {
			return ioError
		}
		l.writes = append(l.writes, [2]int64{offset, int64(len(data))})
		l.file = patch(l.file, data, offset)
		return 0
	}
	return l
}

func patch(file, data []byte, offset int64) []byte {
	if grow := int(offset) + len(data) - len(file); grow > 0 {
		file = append(file, make([]byte, grow)...)
	}
	copy(file[offset:], data)
	return file
}

func (l *testLog) write(data []byte, offset int64) {
	l.t.Helper()
	if rc := l.g.write(data, offset); rc != 0 {
		l.t.Fatalf("write of %d at %d: got %d, want 0", len(data), offset, rc)
	}
	l.want = patch(l.want, data, offset)
}

// frame writes a header and a page of pageBytes.
func (l *testLog) frame(offset int64, commit bool, fill byte, pageBytes int) int64 {
	l.t.Helper()
	l.write(header(commit, fill), offset)
	l.write(bytes.Repeat([]byte{fill}, pageBytes), offset+frameHeaderBytes)
	return offset + frameHeaderBytes + int64(pageBytes)
}

func header(commit bool, fill byte) []byte {
	h := bytes.Repeat([]byte{fill}, frameHeaderBytes)
	binary.BigEndian.PutUint32(h[4:], 0)
	if commit {
		binary.BigEndian.PutUint32(h[4:], 7)
	}
	return h
}

func (l *testLog) same(when string) {
	l.t.Helper()
	if !bytes.Equal(l.file, l.want) {
		l.t.Fatalf("%s: the file has %d bytes, want %d, or others", when, len(l.file), len(l.want))
	}
}

func TestCommitIsOneWrite(t *testing.T) {
	l := newTestLog(t)
	l.write(make([]byte, 32), 0)
	offset := int64(32)
	for range 3 {
		before := len(l.writes)
		for i := range 7 {
			offset = l.frame(offset, i == 6, byte(i+1), testPageBytes)
		}
		l.same("after a commit")
		l.g.drop()
		if got := l.writes[before:]; len(got) != 1 || got[0][1] != 7*testFrameBytes {
			t.Fatalf("writes of a commit: got %v, want one of %d bytes", got, 7*testFrameBytes)
		}
	}
}

// TestWritesHoldWholeFrames: SQLite's own write takes 17 bits for a length.
func TestWritesHoldWholeFrames(t *testing.T) {
	for _, pageBytes := range []int{512, 4096, 32768, 65536} {
		l := newTestLog(t)
		offset := int64(32)
		for i := range 500 {
			offset = l.frame(offset, i == 499, byte(i), pageBytes)
		}
		l.same("after a commit")
		for _, w := range l.writes {
			if w[1] > gatherBytes || w[1]%int64(frameHeaderBytes+pageBytes) != 0 {
				t.Fatalf("pages of %d: a write of %d bytes, want whole frames and at most %d", pageBytes, w[1], gatherBytes)
			}
		}
	}
}

// TestTransactionsThatChangeTheirFrames plays what SQLite does when one
// outgrows the page cache: frames without a commit, pages put anew, and at
// the end headers put anew, the commit's last.
func TestTransactionsThatChangeTheirFrames(t *testing.T) {
	random := seed.Fresh(t).Rand(0)
	l := newTestLog(t)
	l.write(make([]byte, 32), 0)
	first := int64(32)
	for range 300 {
		end := l.spill(random, first)
		switch random.IntN(3) {
		case 0: // rolled back: who comes next starts where this one did
			l.g.drop()
			l.want = append([]byte(nil), l.file...)
			continue
		case 1:
			end = l.frame(end, true, byte(random.Uint32()), testPageBytes)
		case 2:
			end = l.frame(end, true, byte(random.Uint32()), testPageBytes)
			for offset := first; offset < end; offset += testFrameBytes {
				if rc := l.g.flush(); rc != 0 { // it reads the frame first
					t.Fatal(rc)
				}
				l.write(header(offset+testFrameBytes == end, byte(random.Uint32())), offset)
			}
		}
		l.same("after a commit")
		l.g.drop()
		first = end
		if random.IntN(20) == 0 { // the log starts afresh
			l.write(bytes.Repeat([]byte{9}, 32), 0)
			first = 32
		}
	}
}

// spill writes frames without a commit, and some of their pages again.
func (l *testLog) spill(random *rand.Rand, first int64) (end int64) {
	end = first
	for range random.IntN(6) {
		end = l.frame(end, false, byte(random.Uint32()), testPageBytes)
		if random.IntN(4) == 0 {
			again := first + random.Int64N((end-first)/testFrameBytes)*testFrameBytes + frameHeaderBytes
			l.write(bytes.Repeat([]byte{byte(random.Uint32())}, testPageBytes), again)
			l.same("after a page put anew")
		}
	}
	return end
}

// TestFailureLastsUntilTheTransactionEnds: SQLite holds frames for written
// that were gathered, so a commit behind them must not succeed.
func TestFailureLastsUntilTheTransactionEnds(t *testing.T) {
	l := newTestLog(t)
	end := l.frame(32, false, 1, testPageBytes)
	l.fail = true
	if rc := l.g.flush(); rc != ioError {
		t.Fatalf("flush on a broken disk: got %d, want %d", rc, ioError)
	}
	l.fail = false
	if rc := l.g.write(header(true, 2), end); rc != ioError {
		t.Errorf("a frame behind one that is lost: got %d, want %d", rc, ioError)
	}
	if rc := l.g.flush(); rc != ioError {
		t.Errorf("a read behind one that is lost: got %d, want %d", rc, ioError)
	}
	l.g.drop()
	l.want = nil
	l.frame(32, true, 3, testPageBytes)
	l.same("after the next commit")
}
