package server

import (
	"net"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/firndb/firn/redis"
)

// conn is a socket of a loop, and the session behind it.
type conn struct {
	fd      int
	session *redis.Session
	wire    *wire // TLS; nil: none

	readable bool // epoll said so, and no read has found it empty since
	hup      bool // the client will send no more; what it sent may be unread
	blocked  bool // the socket takes no more output; epoll will say when it does
	waiting  bool // the session is with the store or with a worker
	queued   bool // it is in the loop's list to read again
	filled   bool // it is in the loop's list of those that got input
	talks    bool // it is in the loop's list of those to be flushed
	stopped  bool // the session can go on once some of its output is gone
	ended    bool // nothing more is read: end once all is answered
	shaking  bool // its TLS handshake is not over; it waits for that
	closed   bool
}

// door says what the clients of a listening socket speak.
type door int8

const (
	noDoor door = iota
	plainDoor
	tlsDoor
)

// arrival is a socket that was accepted.
type arrival struct {
	fd   int
	door door
}

// maxAccepts bounds how many clients are let in before others are served.
const maxAccepts = 64

// accept lets waiting clients in, and spreads them over the loops.
func (l *loop) accept(at int) {
	for range maxAccepts {
		fd, _, err := unix.Accept4(at, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			if err != unix.EAGAIN && err != unix.EINTR && err != unix.ECONNABORTED {
				l.server.opts.Logger.Warn("accept failed", "error", err)
			}
			return
		}
		to, a := l.peers[l.turn%len(l.peers)], arrival{fd, l.doors[int32(at)]}
		l.turn++
		if to == l {
			l.adopt(a)
		} else {
			to.tell(func(m *mailbox) { m.arrived = append(m.arrived, a) })
		}
	}
}

// adopt makes an accepted socket a connection of this loop.
func (l *loop) adopt(a arrival) {
	fd := a.fd
	if l.ending {
		unix.Close(fd)
		return
	}
	peer, local, near := addressesOf(fd)
	if text := l.server.redis.Refusal(near || a.door == tlsDoor); text != "" {
		if a.door != tlsDoor { // the client would not understand
			unix.Write(fd, []byte(text))
		}
		unix.Close(fd)
		return
	}
	tune(fd, int(l.server.redis.KeepAliveSeconds()))
	c := &conn{fd: fd}
	if err := l.connect(c, a.door); err != nil {
		l.server.opts.Logger.Warn("client refused", "client", peer, "error", err)
		unix.Close(fd)
		return
	}
	c.session = l.server.redis.NewSession(peer, local)
	c.session.Hang = func() { l.tell(func(m *mailbox) { m.hung = append(m.hung, c) }) }
	c.session.Nudge = func() { l.tell(func(m *mailbox) { m.nudged = append(m.nudged, c) }) }
	l.conns[int32(fd)] = c
	if c.wire != nil {
		c.wire.peer, c.wire.near = peer, near
		l.shakeHands(c)
	}
}

// connect has epoll watch a socket. One that speaks TLS is watched once it
// has shaken hands.
func (l *loop) connect(c *conn, d door) (err error) {
	if d == tlsDoor {
		c.wire, err = newWire(c.fd, l.server.opts.TLS, l.server.turns)
		return err
	}
	return l.watchClient(c.fd)
}

func (l *loop) watchClient(fd int) error {
	return l.watch(fd, unix.EPOLLIN|unix.EPOLLOUT|unix.EPOLLRDHUP|unix.EPOLLET)
}

// tune sets what Redis sets on a client's socket. A Unix socket has none of
// it, so errors mean nothing.
func tune(fd, keepAlive int) {
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if keepAlive <= 0 {
		return
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1)
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, keepAlive)
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(keepAlive/3, 1))
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 3)
}

// What a client makes a loop do at once for it, while others wait.
const (
	// maxPartBytes is what is written to a socket in one round: 50 to 100 µs.
	maxPartBytes = 256 << 10

	// behindBytes is the unsent output from which a client is behind, if less
	// than behindInput of commands has arrived that are not run yet. So it has
	// one large reply waiting, and not as many as maxUnreadBytes allows.
	behindBytes = 1 << 20
	behindInput = 16 << 10
)

// read reads once from a connection that has input, if its session can take
// it. The session runs once all that are ready have been read.
func (l *loop) read(c *conn) {
	if !c.readable || c.waiting || c.closed || c.ended || c.filled {
		return
	}
	if _, held := c.session.Unread(); c.stopped && held || len(c.session.Output()) >= maxUnreadBytes {
		return // until the client has read some of it
	}
	space := c.session.Space(minReadBytes)
	n, more, err := c.receive(space)
	switch {
	case err == unix.EAGAIN:
		c.readable = false
		return
	case err != 0:
		l.close(c)
		return
	case n == 0:
		c.ended = true
	}
	c.session.Fill(n)
	c.readable = c.hup || more
	c.filled = true
	l.filled = append(l.filled, c)
}

// receive reads once; more says that there may be more.
func (c *conn) receive(p []byte) (n int, more bool, err unix.Errno) {
	if c.wire != nil {
		return c.wire.read(p, c.hup)
	}
	n, err = readNow(c.fd, p)
	return n, n == len(p), err // less means that there was no more
}

// runFilled runs the sessions that have got input.
func (l *loop) runFilled() {
	filled := l.filled
	l.filled = l.running[:0]
	for _, c := range filled {
		if !c.closed && !c.waiting {
			l.ahead.Look(c.session)
		}
	}
	l.ahead.Touch()
	for _, c := range filled {
		c.filled = false
		l.advance(c)
		l.submitPiece()
	}
	clear(filled)
	l.running = filled[:0]
}

// resume goes on with a session that comes back from the store or a worker.
func (l *loop) resume(c *conn) {
	c.waiting = false
	l.waiting--
	if c.closed {
		c.session.Close()
		return
	}
	if c.shaking && !l.letIn(c) {
		return
	}
	l.advance(c)
}

// wait notes that a session is with the store, or with a worker.
func (l *loop) wait(c *conn) {
	c.waiting = true
	l.waiting++
}

// advance runs a session until it has to wait, lacks input, or has said much:
// then what it has to say is sent with what the others have.
func (l *loop) advance(c *conn) {
	c.stopped = false
	for !c.closed && !c.waiting {
		if l.isBehind(c) {
			c.stopped = true
			l.flushLater(c)
			l.queueRead(c)
			return
		}
		switch c.session.Run() {
		case redis.NeedCommit:
			l.wait(c)
			l.join(c)
		case redis.NeedCold:
			l.wait(c)
			helpers := l.workers
			if redis.RunsScript(c.session) {
				helpers = l.scripts
			}
			helpers.do(func() {
				c.session.RunCold()
				l.tell(func(m *mailbox) { m.ready = append(m.ready, c) })
			})
		case redis.NeedFlush:
			c.stopped = true
			l.flushLater(c)
			return
		case redis.NeedInput:
			l.flushLater(c)
			l.queueRead(c)
			return
		case redis.NeedClose:
			c.ended = true
			l.flushLater(c)
			return
		}
	}
}

// isBehind says that a client takes less than it asks for, and has to read
// before more of that runs. One that has sent much more may read nothing before
// all of it is taken, and gets as much as maxUnreadBytes for that.
func (l *loop) isBehind(c *conn) bool {
	unsent := len(c.session.Output())
	if unsent < behindBytes || unsent >= maxUnreadBytes {
		return unsent >= maxUnreadBytes
	}
	input, held := c.session.Unread()
	return input < behindInput && !held
}

// flushLater notes that a session has something to say, or has ended.
func (l *loop) flushLater(c *conn) {
	if !c.talks {
		c.talks = true
		l.talking = append(l.talking, c)
	}
}

// flushAll sends what the sessions of this round have to say. All of it is
// sent together: a client of many connections is woken once, and sends its next
// commands together. What is much is sent in parts, one in each round, and so
// are the commands run that ask for it.
func (l *loop) flushAll() {
	talking := l.talking
	l.talking = l.flushing[:0]
	for _, c := range talking {
		c.talks = false
		if !c.closed && !c.waiting && l.flush(c) {
			l.flushed(c)
		}
	}
	clear(talking)
	l.flushing = talking[:0]
}

// flushed goes on with a client that was sent something.
func (l *loop) flushed(c *conn) {
	left := len(c.session.Output())
	switch {
	case left > 0 && !c.blocked:
		l.flushLater(c) // the next part
	case left == 0 && c.ended && !c.stopped:
		l.close(c)
		return
	}
	if c.stopped && !l.isBehind(c) {
		l.runLater(c)
	}
	l.queueRead(c)
}

// runLater has a session run in the next round that has all the input it needs.
func (l *loop) runLater(c *conn) {
	if !c.filled {
		c.filled = true
		l.filled = append(l.filled, c)
	}
}

// queueRead makes sure that input which is known to be there is read in the
// next round, after others had their turn.
func (l *loop) queueRead(c *conn) {
	if c.readable && !c.queued && !c.closed && !c.ended {
		c.queued = true
		l.again = append(l.again, c)
	}
}

// flush writes a part of the output, as far as the socket takes it. A client
// that leaves more unread than it may is cut off. false means that c is closed.
func (l *loop) flush(c *conn) bool {
	out := c.session.Output()
	if len(out) == 0 {
		return true
	}
	if !c.blocked {
		part := out[:min(len(out), maxPartBytes)]
		n, full, err := c.send(part)
		if err != 0 {
			l.close(c)
			return false
		}
		c.session.Sent(n)
		c.blocked = full
	}
	if c.session.Overflows() {
		l.close(c)
		return false
	}
	return true
}

// send writes to the socket; full says that it takes no more now.
func (c *conn) send(p []byte) (n int, full bool, err unix.Errno) {
	if c.wire != nil {
		return c.wire.write(p)
	}
	n, err = writeNow(c.fd, p)
	if err == unix.EAGAIN {
		return 0, true, 0
	}
	return n, n < len(p), err
}

// close ends a connection. A session that waits is released when it is back.
func (l *loop) close(c *conn) {
	if c.closed {
		return
	}
	c.closed = true
	delete(l.conns, int32(c.fd))
	switch {
	case c.shaking:
		c.wire.abort()
	case c.wire != nil:
		c.wire.bye()
	}
	unix.Close(c.fd)
	if !c.waiting {
		c.session.Close()
	}
}

// readNow is read(2) on a socket that does not block, without telling the Go
// scheduler, which costs more than the call.
func readNow(fd int, p []byte) (int, unix.Errno) {
	return callNow(unix.SYS_READ, fd, p)
}

// writeNow is write(2) in the same way.
func writeNow(fd int, p []byte) (int, unix.Errno) {
	return callNow(unix.SYS_WRITE, fd, p)
}

func callNow(call uintptr, fd int, p []byte) (int, unix.Errno) {
	for {
		n, _, err := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch err {
		case 0:
			return int(n), 0
		case unix.EINTR:
		default:
			return 0, err
		}
	}
}

// pollNow is epoll_wait that never sleeps.
func pollNow(epoll int, events []unix.EpollEvent) (int, error) {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
	if err != 0 && err != unix.EINTR {
		return 0, err
	}
	if err != 0 {
		return 0, nil
	}
	return int(n), nil
}

// fileOf is a listener's socket.
func fileOf(l net.Listener) (*os.File, error) {
	switch l := l.(type) {
	case *net.TCPListener:
		return l.File()
	case *net.UnixListener:
		return l.File()
	case secure:
		return fileOf(l.Listener)
	}
	return nil, errNoSocket
}

// addressesOf are both ends of a socket as CLIENT LIST shows them, and whether
// the client is on this machine.
func addressesOf(fd int) (peer, local string, near bool) {
	ours, err := unix.Getsockname(fd)
	if err != nil {
		return "?:0", "?:0", false
	}
	local = addressText(ours)
	if _, ok := ours.(*unix.SockaddrUnix); ok {
		return local, local, true
	}
	theirs, err := unix.Getpeername(fd)
	if err != nil {
		return "?:0", local, false
	}
	return addressText(theirs), local, isNear(theirs)
}

// isNear says whether an address is one of this machine's for itself.
func isNear(a unix.Sockaddr) bool {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return net.IP(a.Addr[:]).IsLoopback()
	case *unix.SockaddrInet6:
		return net.IP(a.Addr[:]).IsLoopback()
	case *unix.SockaddrUnix:
		return true
	}
	return false
}

func addressText(a unix.Sockaddr) string {
	switch a := a.(type) {
	case *unix.SockaddrInet4:
		return net.JoinHostPort(net.IP(a.Addr[:]).String(), strconv.Itoa(a.Port))
	case *unix.SockaddrInet6:
		return net.JoinHostPort(net.IP(a.Addr[:]).String(), strconv.Itoa(a.Port))
	case *unix.SockaddrUnix:
		return a.Name + ":0"
	}
	return "?:0"
}
