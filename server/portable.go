package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/firndb/firn/redis"
)

// Go serves conn, of any kind, with a goroutine of its own, and closes it.
// Once the server has ended conn is closed at once.
func (s *Server) Go(conn net.Conn) { s.start(conn, false) }

// start serves conn, whose client speaks TLS or not.
func (s *Server) start(conn net.Conn, speaksTLS bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		conn.Close()
		return
	}
	if text := s.redis.Refusal(speaksTLS || isLocal(conn.RemoteAddr())); text != "" {
		if !speaksTLS { // the client would not understand
			conn.SetWriteDeadline(time.Now().Add(refusalTimeout))
			io.WriteString(conn, text)
		}
		conn.Close()
		return
	}
	s.conns[conn] = true
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		s.serve(conn, speaksTLS)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, conn)
	}()
}

// refusalTimeout is how long a client that is turned away may take to be told.
const refusalTimeout = 100 * time.Millisecond

// isLocal says whether a client at this address is on this machine. What is
// no IP address is a Unix socket, or a pipe inside the process.
func isLocal(a net.Addr) bool {
	switch a := a.(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	return a.Network() == "pipe"
}

// hangUp makes the goroutines of all connections end when they next read.
func (s *Server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	for conn := range s.conns {
		conn.SetReadDeadline(longAgo)
	}
}

func (s *Server) hungUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// serve runs the session of one connection until either side ends it.
func (s *Server) serve(socket net.Conn, speaksTLS bool) {
	conn := socket
	defer func() { conn.Close() }()
	keepAlive(conn, s.redis.KeepAliveSeconds())
	session := s.redis.NewSession(addressOf(conn.RemoteAddr(), conn.LocalAddr()), addressOf(conn.LocalAddr(), conn.LocalAddr()))
	defer session.Close()
	decided := make(chan struct{}, 1) // so that the writer never waits
	alone := redis.Group{Decided: func() { decided <- struct{}{} }}
	session.Hang = func() { socket.Close() } // conn might wait to say goodbye
	session.Nudge = func() { socket.SetReadDeadline(longAgo) }
	if speaksTLS {
		if secret := s.shakeHands(socket); secret != nil {
			conn = secret
		} else {
			return
		}
	}
	for {
		switch session.Run() {
		case redis.NeedCommit:
			alone.Reset()
			alone.Add(session)
			if err := s.redis.Store().Submit(&alone); err != nil {
				alone.Done(0, err)
			}
			<-decided
		case redis.NeedCold:
			session.RunCold()
		case redis.NeedFlush:
			if !flush(conn, session) {
				return
			}
		case redis.NeedInput:
			if !flush(conn, session) || !s.fill(conn, session) {
				return
			}
		case redis.NeedClose:
			flush(conn, session)
			return
		}
	}
}

// flush writes the session's output. A client that does not read it in time
// is given up.
func flush(conn net.Conn, session *redis.Session) bool {
	out := session.Output()
	if len(out) == 0 {
		return true
	}
	conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	n, err := conn.Write(out)
	session.Sent(n)
	return err == nil
}

// writeTimeout is how long a client may leave a reply unread.
const writeTimeout = 5 * time.Minute

// longAgo is a deadline that ends a read at once.
var longAgo = time.Unix(1, 0)

// fill reads once. A read may end without input because the session was
// nudged: the caller runs it either way.
func (s *Server) fill(conn net.Conn, session *redis.Session) bool {
	timeout := time.Duration(s.redis.TimeoutSeconds()) * time.Second
	var deadline time.Time
	if timeout > 0 && !session.Listens() && !session.Waits() {
		deadline = time.Now().Add(timeout)
	}
	conn.SetReadDeadline(deadline)
	if s.hungUp() && !session.Served() {
		return false
	}
	if session.Nudged() {
		return true
	}
	n, err := conn.Read(session.Space(minReadBytes))
	session.Fill(n)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
		return deadline.IsZero() || time.Now().Before(deadline)
	}
	return n > 0 || err == nil
}

// keepAlive makes the system probe an idle TCP connection.
func keepAlive(conn net.Conn, seconds int64) {
	if tcp, ok := conn.(*net.TCPConn); ok && seconds > 0 {
		tcp.SetKeepAliveConfig(net.KeepAliveConfig{
			Enable: true, Idle: time.Duration(seconds) * time.Second, Interval: time.Duration(max(seconds/3, 1)) * time.Second, Count: 3,
		})
	}
}

// addressOf is an address as CLIENT LIST shows it. The client's end of a Unix
// socket has no name, so the server's is shown.
func addressOf(a, local net.Addr) string {
	if a.Network() == "unix" {
		return local.String() + ":0"
	}
	return a.String()
}

// isTemporary says whether accepting may work again later.
func isTemporary(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR, syscall.EPROTO} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// pause waits a little; false means that ctx ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(50 * time.Millisecond):
		return true
	}
}
