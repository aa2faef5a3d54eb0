package server

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// wire is TLS on a socket of a loop. It is what lies below a tls.Conn, which
// reads what the socket has and is told to come back when that is nothing,
// and writes into memory, from where the socket takes what it can.
//
// During its handshake a wire belongs to the goroutine in shake, which may
// wait; file is the same socket once more, for that. From then on it belongs
// to the loop. Nothing is ever encrypted while older bytes are not sent, so a
// connection holds one part of its output twice, of maxPartBytes at most.
type wire struct {
	conn *tls.Conn
	fd   int
	peer string
	near bool // the client is on this machine

	file  *os.File // until the handshake is over
	turns turns
	err   error // why the handshake failed

	last    bool   // the client will send no more: the end is to be found
	drained bool   // a read has found the socket empty
	out     []byte // encrypted
	sent    int    // bytes at its beginning that are sent
	plain   int    // how much of the session's output it is
}

// keepWireBytes is how large a buffer of encrypted bytes is kept for the next.
const keepWireBytes = 64 << 10

// again says that the socket has nothing now. A tls.Conn goes on after errors
// that are temporary.
type again struct{}

var errAgain error = again{}

func (again) Error() string   { return "server: nothing to read now" }
func (again) Timeout() bool   { return true }
func (again) Temporary() bool { return true }

// newWire prepares a handshake on fd.
func newWire(fd int, config *tls.Config, t turns) (*wire, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	w := &wire{fd: fd, turns: t, file: os.NewFile(uintptr(dup), "")}
	w.conn = tls.Server(w, config)
	return w, nil
}

// shake runs the handshake, and notes how it ended.
func (w *wire) shake() {
	defer w.file.Close()
	if w.err = w.file.SetDeadline(time.Now().Add(handshakeTimeout)); w.err != nil {
		return
	}
	w.turns.take()
	w.err = w.conn.Handshake()
	w.turns.give()
}

// abort ends a handshake, on any goroutine.
func (w *wire) abort() { w.file.Close() }

// Read gives the tls.Conn what has come.
func (w *wire) Read(p []byte) (int, error) {
	if w.file != nil {
		w.turns.give()
		defer w.turns.take()
		return w.file.Read(p)
	}
	if w.drained {
		return 0, errAgain
	}
	n, err := readNow(w.fd, p)
	switch {
	case err == unix.EAGAIN:
		w.drained = true
		return 0, errAgain
	case err != 0:
		return 0, err
	case n == 0:
		return 0, io.EOF
	}
	w.drained = n < len(p) && !w.last // less means that there was no more
	return n, nil
}

// Write takes what the tls.Conn has encrypted.
func (w *wire) Write(p []byte) (int, error) {
	if w.file != nil {
		return w.file.Write(p)
	}
	w.out = append(w.out, p...)
	return len(p), nil
}

// read decrypts into p what has come. more says that there may be more.
func (w *wire) read(p []byte, last bool) (n int, more bool, errno unix.Errno) {
	w.last, w.drained = last, false
	for n < len(p) {
		m, err := w.conn.Read(p[n:])
		n += m
		if err != nil {
			return w.readUpTo(n, err)
		}
	}
	return n, true, 0
}

// readUpTo is what read returns if an error came after n bytes.
func (w *wire) readUpTo(n int, err error) (int, bool, unix.Errno) {
	if w.plain == 0 && len(w.out) > 0 {
		w.push() // what the protocol itself answers: an alert, a new key
	}
	waits := err == errAgain
	switch {
	case len(w.out)-w.sent > 2*maxPartBytes:
		return 0, false, unix.EPROTO // it asks for new keys, and reads nothing
	case waits && n == 0:
		return 0, false, unix.EAGAIN
	case waits || n > 0:
		return n, !waits, 0 // what is wrong will be said again
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return 0, false, 0
	}
	return 0, false, unix.EPROTO
}

// write encrypts output of the session and sends it. n is how much of the
// session's output has left: all of what was encrypted together, or nothing.
// full says that the socket takes no more now.
func (w *wire) write(output []byte) (n int, full bool, errno unix.Errno) {
	if w.plain == 0 {
		if need := len(output) + (len(output)/maxRecordBytes+1)*recordBytes; cap(w.out)-len(w.out) < need {
			w.out = append(make([]byte, 0, len(w.out)+need), w.out...)
		}
		if _, err := w.conn.Write(output); err != nil {
			return 0, false, unix.EPIPE
		}
		w.plain = len(output)
	}
	if full, errno = w.push(); full || errno != 0 {
		return 0, full, errno
	}
	n, w.plain = w.plain, 0
	return n, false, 0
}

// What encrypting adds.
const (
	maxRecordBytes = 16 << 10 // of output, that are encrypted as one
	recordBytes    = 64       // a header, and what proves that nothing was changed
)

// push sends what is encrypted.
func (w *wire) push() (full bool, errno unix.Errno) {
	n, err := writeNow(w.fd, w.out[w.sent:])
	if err != 0 && err != unix.EAGAIN {
		return false, err
	}
	if w.sent += n; w.sent < len(w.out) {
		return true, 0
	}
	w.out, w.sent = w.out[:0], 0
	if cap(w.out) > keepWireBytes {
		w.out = nil
	}
	return false, 0
}

// idle gives back the buffer if nothing is in it.
func (w *wire) idle() {
	if len(w.out) == 0 {
		w.out = nil
	}
}

// bye tells the client that nothing more will come, if the socket takes that.
func (w *wire) bye() {
	if w.err == nil && w.conn.CloseWrite() == nil {
		w.push()
	}
}

// The rest of net.Conn, which a tls.Conn needs little of. The loop has
// deadlines of its own, and closes the socket.

func (w *wire) Close() error                     { return nil }
func (w *wire) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (w *wire) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (w *wire) SetDeadline(time.Time) error      { return nil }
func (w *wire) SetReadDeadline(time.Time) error  { return nil }
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
