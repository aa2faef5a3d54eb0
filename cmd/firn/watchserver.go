package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn/resp"
	answer "github.com/firndb/firn/resp/reply"
)

const (
	// A server that went away is tried again, the more rarely the longer it is.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second

	// silence is how long a server that lives never is: it answers every ten
	// seconds at the latest.
	silence = 40 * time.Second

	dialTimeout = 10 * time.Second

	// pageCommits is how many commits are asked for at once: enough that asking
	// costs little.
	pageCommits = "1000"
)

// address is where a server is, and who asks.
type address struct {
	network, host  string
	speaksTLS      bool
	name           string // in the server's certificate
	user, password string
	database       string // the only one that is asked for; empty: all
}

func parseAddress(where string) (a address, err error) {
	u, err := url.Parse(where)
	if err != nil {
		return a, usageError{fmt.Errorf("%s: not an address such as redis://127.0.0.1:6379/0", where)}
	}
	a.user = u.User.Username()
	a.password, _ = u.User.Password()
	if u.Scheme == "unix" {
		a.network, a.host = "unix", u.Host+u.Path
		return a, nil
	}
	a.network, a.host = "tcp", u.Host
	if u.Port() == "" {
		a.host = net.JoinHostPort(u.Hostname(), "6379")
	}
	if u.Scheme == "rediss" {
		a.speaksTLS, a.name = true, u.Hostname()
	}
	if a.database = strings.Trim(u.Path, "/"); a.database != "" {
		if n, err := strconv.Atoi(a.database); err != nil || n < 0 {
			return a, usageError{fmt.Errorf("%s: %q is no number of a database", where, a.database)}
		}
	}
	return a, nil
}

// server watches a server until ctx ends.
func (w *watch) server(ctx context.Context, where string) error {
	a, err := parseAddress(where)
	if err != nil {
		return err
	}
	if err := w.query.tls.check(a.speaksTLS); err != nil {
		return err
	}
	words := w.query.words()
	if a.database != "" {
		words = append(words, "DB", a.database)
	}
	for retry, reached := firstRetry, false; ; {
		connected := func() { retry, reached = firstRetry, true }
		err := w.connection(ctx, &a, words, connected)
		lost, ok := errors.AsType[*lostError](err)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return err
		case !reached:
			return fmt.Errorf("cannot watch %s: %w", a.host, lost.cause)
		}
		if retry == firstRetry {
			fmt.Fprintf(w.log, "firn: lost %s: %v; trying again\n", a.host, lost.cause)
		}
		if err := pause(ctx, retry); err != nil {
			return err
		}
		retry = min(2*retry, lastRetry)
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// lostError says that there is no connection, or no longer: another may be better.
type lostError struct{ cause error }

func (e *lostError) Error() string { return e.cause.Error() }

// connection watches over one connection, until that ends.
func (w *watch) connection(ctx context.Context, a *address, words []string, connected func()) error {
	conn, err := w.dial(ctx, a)
	if err != nil {
		return &lostError{err}
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	s := &speaker{conn: conn}
	hello := []string{"HELLO", "3", "SETNAME", "firn-watch"}
	if a.password != "" {
		user := a.user
		if user == "" {
			user = "default"
		}
		hello = append(hello, "AUTH", user, a.password)
	}
	greeting, err := s.ask(hello...)
	if err != nil {
		return err
	}
	if greeting.IsError() {
		return refused(greeting.Text)
	}
	connected()
	for block := false; ; {
		request := append([]string{"CHANGES", w.token, "COUNT", pageCommits}, words...)
		if block {
			request = append(request, "BLOCK", "0")
		}
		p, err := s.ask(request...)
		if err != nil {
			return err
		}
		if p.IsError() {
			return refused(p.Text)
		}
		before := w.token
		if err := w.page(p); err != nil {
			return err
		}
		if block = w.token == before || block; block && w.query.justOnce {
			return nil
		}
	}
}

// dial connects to a server. With TLS nothing is said before it is known who it
// is.
func (w *watch) dial(ctx context.Context, a *address) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: dialTimeout}
	if !a.speaksTLS {
		return dialer.DialContext(ctx, a.network, a.host)
	}
	config, err := w.query.tls.config(a.name)
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: dialer, Config: config}).DialContext(ctx, a.network, a.host)
}

// refused is what a server has said, which is no reason to try again unless it
// is about to be better.
func refused(text string) error {
	for _, passing := range []string{"LOADING", "ERR max number of clients", "ERR server is shutting down"} {
		if strings.HasPrefix(text, passing) {
			return &lostError{errors.New(text)}
		}
	}
	return refusal(text)
}

// speaker sends commands and reads replies.
type speaker struct {
	conn net.Conn
	in   []byte
}

// readBytes is how much is read at once, at first.
const readBytes = 64 << 10

func (s *speaker) ask(words ...string) (*answer.Value, error) {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	if err := s.conn.SetDeadline(time.Now().Add(silence)); err != nil {
		return nil, &lostError{err}
	}
	if _, err := s.conn.Write(resp.AppendCommand(nil, args...)); err != nil {
		return nil, &lostError{err}
	}
	for room := readBytes; ; {
		v, rest, err := answer.Parse(s.in)
		if err == nil {
			s.in = append(s.in[:0], rest...)
			return &v, nil
		}
		if !errors.Is(err, answer.ErrShort) {
			return nil, err
		}
		have := len(s.in)
		s.in = append(s.in, make([]byte, room)...)
		n, err := s.conn.Read(s.in[have:])
		s.in = s.in[:have+n]
		if err != nil {
			return nil, &lostError{err}
		}
		if n == room {
			room *= 2 // it is parsed from the beginning each time
		}
	}
}
