// Package server carries bytes between sockets and sessions.
//
// A session (package redis) is a state machine without I/O; a driver runs it.
// There are two. On Linux a few epoll loops own all sockets: a loop reads
// each ready connection with one call, runs its session, hands the writes of
// all sessions to the store as one batch, and writes each reply with one
// call. Everywhere else, and for any net.Conn, a goroutine per connection
// does the same with plain blocking calls. TLS lies below the sessions in
// either: a loop decrypts what it has read and encrypts what it sends, and
// only handshakes have goroutines. Both keep the same promises:
//
//   - A connection takes no input while its session waits for the store, nor
//     while it leaves too much output unread: that is the back-pressure. A
//     client that waits for a key is read from, so that its end is noticed;
//     what it sends meanwhile has the limit of a command.
//   - Whatever ends a connection, a batch that was handed to the store is
//     answered first, and then everything is released.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/redis/scripting"
)

// Options says where and how to serve.
type Options struct {
	Listen   []string // TCP addresses, host:port
	Unix     string   // path of a Unix socket; empty: none
	Loops    int      // epoll loops; 0: 1
	Workers  int      // goroutines for reads that wait for the file; 0: 4
	Portable bool     // a goroutine per connection, on Linux too

	TLSListen []string    // TCP addresses whose clients speak TLS
	TLS       *tls.Config // what those are shown, see package certs

	Logger *slog.Logger // nil: nothing is logged
}

func (o Options) withDefaults() Options {
	if o.Loops <= 0 {
		o.Loops = 1
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Limits of one connection.
const (
	// minReadBytes is the least room that a read is worth making.
	minReadBytes = 4 << 10

	// maxUnreadBytes is the output that a client may leave unread before its
	// input is left alone. Clients that send a long pipeline before they read
	// any reply depend on it: the replies to a million SETs are 5 MB.
	maxUnreadBytes = 64 << 20

	// quietMS is after how long a silent connection gives its buffers back.
	quietMS = 2000
)

// Server accepts connections and runs their sessions. Listen makes one, and
// Run, called once, serves until its context ends.
type Server struct {
	redis     *redis.Server
	opts      Options
	listeners Sockets
	turns     turns

	mu    sync.Mutex
	conns map[net.Conn]bool // of the portable driver
	ended bool
	wg    sync.WaitGroup // their goroutines
}

// Listen opens the sockets that o names; clients that connect wait until Run.
func Listen(r *redis.Server, o Options) (*Server, error) {
	sockets, err := Bind(o)
	if err != nil {
		return nil, err
	}
	return sockets.Server(r, o), nil
}

// Server makes a server that has the sockets from now on.
func (b Sockets) Server(r *redis.Server, o Options) *Server {
	return &Server{redis: r, opts: o.withDefaults(), listeners: b, turns: newTurns(), conns: make(map[net.Conn]bool)}
}

// Addrs is where the server listens: Listen, Unix, TLSListen.
func (s *Server) Addrs() []net.Addr {
	addrs := make([]net.Addr, len(s.listeners))
	for i, l := range s.listeners {
		addrs[i] = l.Addr()
	}
	return addrs
}

// Close closes the sockets of a server that is not going to Run.
func (s *Server) Close() { s.listeners.Close() }

// Run serves until ctx ends or a loop fails. Then it accepts no more, lets
// the batches in flight finish, sends what can be sent, closes every
// connection, and returns; the error is nil if ctx ended.
func (s *Server) Run(ctx context.Context) error {
	if len(s.opts.TLSListen) > 0 && s.opts.TLS == nil {
		return errors.New("server: addresses for TLS, and no certificate")
	}
	over := make(chan struct{})
	var aside sync.WaitGroup
	aside.Go(func() { s.endScripts(ctx, over) })
	defer aside.Wait()
	defer close(over)
	if haveLoops && !s.opts.Portable {
		return s.runLoops(ctx)
	}
	return s.runPortable(ctx)
}

// endScripts ends scripts that go on when the server ends, after a while, until
// it is over.
func (s *Server) endScripts(ctx context.Context, over <-chan struct{}) {
	select {
	case <-ctx.Done():
	case <-over:
		return
	}
	for wait := time.NewTimer(scripting.EndGrace); ; wait.Reset(scripting.EndGrace / 10) {
		select {
		case <-wait.C:
			s.redis.EndScripts()
		case <-over:
			return
		}
	}
}

// runPortable accepts with a goroutine per listener.
func (s *Server) runPortable(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, l := range s.listeners {
		group.Go(func() error { return s.accept(ctx, l) })
	}
	group.Go(func() error { return s.redis.RunLive(ctx) })
	group.Go(func() error {
		<-ctx.Done()
		s.listeners.Close()
		s.hangUp()
		return nil
	})
	err := group.Wait()
	s.wg.Wait()
	return err
}

func (s *Server) accept(ctx context.Context, l net.Listener) error {
	_, speaksTLS := l.(secure)
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			s.start(conn, speaksTLS)
		case ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return nil
		case isTemporary(err):
			s.opts.Logger.Warn("accept failed", "error", err)
			if !pause(ctx) {
				return nil
			}
		default:
			return fmt.Errorf("server: accept: %w", err)
		}
	}
}
