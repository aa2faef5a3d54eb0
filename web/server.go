package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/redis"
)

// Options says whom to serve. The zero value is ready for production.
type Options struct {
	// AllowOrigins are the origins, as https://app.example, whose pages may
	// read; "*" is all, and then without cookies or passwords of the browser's.
	AllowOrigins []string

	// Hosts are names under which clients reach the server, beside localhost
	// and addresses. They matter while no password is asked for.
	Hosts []string

	// OpenMetrics lets everybody read /metrics. Otherwise it takes the right
	// to INFO.
	OpenMetrics bool

	// Secure are listeners whose clients speak TLS, and TLS what those are
	// shown.
	Secure []net.Listener
	TLS    *tls.Config

	MaxConnections int // at once; 0: usualConnections
	MaxStreams     int // of one address at once; 0: usualStreams

	Logger *slog.Logger // nil: nothing is logged
}

func (o Options) withDefaults() Options {
	if o.MaxConnections <= 0 {
		o.MaxConnections = usualConnections
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = usualStreams
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Server serves HTTP. New makes one, and Run, called once, serves until its
// context ends.
type Server struct {
	redis     *redis.Server
	opts      Options
	listeners []net.Listener
	http      http.Server
	streams   streams
	counts    counts
	conns     atomic.Int64 // open connections

	keepAlive time.Duration // testOnly: keepAliveInterval otherwise
	patience  time.Duration // testOnly: writeTimeout otherwise
	lastWords time.Duration // testOnly: endTimeout otherwise

	mu       sync.Mutex
	ended    bool           // no request begins any more
	handlers sync.WaitGroup // requests that are being answered: they use the store
}

// Addrs is where the server listens, those addresses last that speak TLS.
func (s *Server) Addrs() (addrs []net.Addr) {
	for _, l := range slices.Concat(s.listeners, s.opts.Secure) {
		addrs = append(addrs, l.Addr())
	}
	return addrs
}

// Run serves until ctx ends or a listener fails. Then streams end, replies that
// are being written get endTimeout, and Run returns when the last request has
// let go of the store; the error is nil if ctx ended.
func (s *Server) Run(ctx context.Context) error {
	requests, end := context.WithCancel(context.Background())
	defer end()
	s.http.BaseContext = func(net.Listener) context.Context { return requests }
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range s.listeners {
		group.Go(func() error { return s.accept(&door{Listener: l, server: s}) })
	}
	for _, l := range s.opts.Secure {
		group.Go(func() error {
			return s.accept(tls.NewListener(&door{Listener: l, server: s, secure: true}, s.opts.TLS))
		})
	}
	group.Go(func() error {
		<-ctx.Done()
		end()
		last, cancel := context.WithTimeout(context.Background(), s.lastWords)
		defer cancel()
		if s.http.Shutdown(last) != nil {
			s.http.Close() // somebody does not read
		}
		return nil
	})
	err := group.Wait()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.handlers.Wait()
	return err
}

func (s *Server) accept(l net.Listener) error {
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// begin is false if the server has ended. Otherwise handlers counts one more.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.handlers.Add(1)
	}
	return !s.ended
}

// door accepts connections, as many as there may be.
type door struct {
	net.Listener
	server *Server
	secure bool // clients speak TLS
}

const fullReply = "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\nRetry-After: 5\r\n\r\n"

// Accept implements net.Listener.
func (d *door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if d.server.conns.Add(1) <= int64(d.server.opts.MaxConnections) {
			return &visitor{Conn: conn, left: func() { d.server.conns.Add(-1) }}, nil
		}
		d.server.conns.Add(-1)
		d.server.counts.refused.Add(1)
		if !d.secure { // otherwise the client would not understand
			conn.SetWriteDeadline(time.Now().Add(refusalTimeout))
			conn.Write([]byte(fullReply))
		}
		conn.Close()
	}
}

// visitor is a connection that counts.
type visitor struct {
	net.Conn
	once sync.Once
	left func()
}

// Close implements net.Conn.
func (v *visitor) Close() error {
	v.once.Do(v.left)
	return v.Conn.Close()
}

// CloseWrite lets net/http end a connection so that the client still reads the
// answer, although it has sent what nobody read.
func (v *visitor) CloseWrite() error {
	if tcp, ok := v.Conn.(*net.TCPConn); ok {
		return tcp.CloseWrite()
	}
	return nil
}

// streams counts the streams of each address.
type streams struct {
	most int // of one address

	mu        sync.Mutex
	byAddress map[string]int
	total     int
}

// enter is false if the address has as many as it may.
func (s *streams) enter(address string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byAddress[address] >= s.most {
		return false
	}
	if s.byAddress == nil {
		s.byAddress = make(map[string]int)
	}
	s.byAddress[address]++
	s.total++
	return true
}

func (s *streams) leave(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.total--
	if s.byAddress[address]--; s.byAddress[address] == 0 {
		delete(s.byAddress, address)
	}
}

func (s *streams) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total
}
