package server

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Sockets are open to clients, who wait until a Server runs on them.
type Sockets []net.Listener

// BindError says where nothing can listen, and why.
type BindError struct {
	Address string // as in Options, or the path of the Unix socket
	Err     error  // the system's
}

func (e *BindError) Error() string { return fmt.Sprintf("server: listen on %s: %v", e.Address, e.Err) }

// Unwrap is the system's error.
func (e *BindError) Unwrap() error { return e.Err }

// Bind opens the sockets that o names, before there is anything to serve: so
// that an address which is taken costs nothing. An address that cannot be had is a *BindError. Their owner closes them, or
// makes a Server of them.
func Bind(o Options) (Sockets, error) {
	var b Sockets
	for _, address := range o.Listen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			b.Close()
			return nil, &BindError{address, err}
		}
		b = append(b, l)
	}
	if o.Unix != "" {
		l, err := listenUnix(o.Unix)
		if err != nil {
			b.Close()
			return nil, &BindError{o.Unix, err}
		}
		b = append(b, l)
	}
	for _, address := range o.TLSListen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			b.Close()
			return nil, &BindError{address, err}
		}
		b = append(b, secure{l})
	}
	if len(b) == 0 {
		return nil, errors.New("server: there is no address to listen on")
	}
	return b, nil
}

// Close closes the sockets. Those that are closed already stay so.
func (b Sockets) Close() {
	for _, l := range b {
		l.Close()
	}
}

// listenUnix opens a Unix socket. A socket that a dead server left behind is
// replaced, and one that somebody listens on is not.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if conn, dialErr := net.Dial("unix", path); dialErr == nil {
		conn.Close()
		return nil, err
	}
	if info, statErr := os.Stat(path); statErr != nil || info.Mode()&os.ModeSocket == 0 {
		return nil, err
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}
