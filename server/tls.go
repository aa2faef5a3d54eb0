package server

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"runtime"
	"time"
)

// handshakeTimeout is how long a client may take for its TLS handshake. Until
// then it counts as a client like any other, and has said nothing. It is what
// a phone at the end of a bad line needs, several times.
const handshakeTimeout = 10 * time.Second

// secure is a listener whose clients speak TLS.
type secure struct{ net.Listener }

// turns bounds how many handshakes compute at once. Each takes up to some
// milliseconds of a processor; a thousand clients that come back together
// must not take all processors from those who are connected. A handshake that
// waits for its client has no turn.
type turns chan struct{}

func newTurns() turns { return make(turns, max(runtime.GOMAXPROCS(0)-1, 1)) }

func (t turns) take() { t <- struct{}{} }
func (t turns) give() { <-t }

// shaking is a connection during its handshake: whoever reads from it has a
// turn, and gives it back while there is nothing to read.
type shaking struct {
	net.Conn
	turns turns // nil once the handshake is over
}

func (s *shaking) Read(p []byte) (int, error) {
	if s.turns == nil {
		return s.Conn.Read(p)
	}
	s.turns.give()
	defer s.turns.take()
	return s.Conn.Read(p)
}

// shakeHands makes conn one that speaks TLS; nil means that it is of no use.
func (s *Server) shakeHands(conn net.Conn) net.Conn {
	conn.SetDeadline(time.Now().Add(handshakeTimeout))
	if s.hungUp() {
		return nil
	}
	below := &shaking{conn, s.turns}
	speaks := tls.Server(below, s.opts.TLS)
	s.turns.take()
	err := speaks.Handshake()
	s.turns.give()
	if err != nil {
		logHandshake(s.opts.Logger, conn.RemoteAddr().String(), err)
		return nil
	}
	below.turns = nil
	conn.SetDeadline(time.Time{})
	if text := s.redis.Denial(isLocal(conn.RemoteAddr())); text != "" {
		conn.SetWriteDeadline(time.Now().Add(refusalTimeout))
		io.WriteString(speaks, text)
		speaks.Close()
		return nil
	}
	return speaks
}

// logHandshake tells why a client was not let in. One that only looked
// whether somebody listens is not worth a line.
func logHandshake(logger *slog.Logger, client string, err error) {
	if errors.Is(err, io.EOF) {
		logger.Debug("TLS handshake failed", "client", client, "error", err)
		return
	}
	logger.Info("TLS handshake failed", "client", client, "error", err)
}
