package server

import (
	"crypto/tls"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firndb/firn/redis"
)

// What a TLS client sends, and that it sends no more, may be one event for the
// loop, and there is no other.

// drivenTLS is a loop that the test runs by hand, with one client that has
// shaken hands.
type drivenTLS struct {
	*loop
	conn   *conn
	raw    *net.UnixConn // the client's end
	client *tls.Conn     // above it
}

func driveTLS(t *testing.T, s *secured) *drivenTLS {
	t.Helper()
	l, err := newLoop(s.server, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.release)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	file := os.NewFile(uintptr(ends[1]), "")
	raw := must(net.FileConn(file)).(*net.UnixConn)
	file.Close()
	t.Cleanup(func() { raw.Close() })
	l.adopt(arrival{ends[0], tlsDoor})
	d := &drivenTLS{l, l.conns[int32(ends[0])], raw, tls.Client(raw, must(s.ca.Client()))}
	t.Cleanup(func() { l.close(d.conn) })
	if err := d.client.Handshake(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end of the handshake", d.hasMail)
	d.readMail()
	d.turn()
	return d
}

// turn has the loop do all that it has to do.
func (d *drivenTLS) turn() {
	for more := true; more; more = len(d.filled)+len(d.again) > 0 {
		d.readAgain()
		d.runFilled()
		d.flushAll()
	}
}

func TestDataAndEndOfATLSClientInOneEvent(t *testing.T) {
	s := startTLS(t, Options{}, redis.Options{}, "no")
	for _, tt := range []struct{ name, text, behind, want string }{
		{"a command", "PING\r\n", "", "+PONG\r\n"},
		{"a command and half a record", "PING\r\n", "\x17\x03\x03\x00\x20half", "+PONG\r\n"},
		{"half a record", "", "\x17\x03\x03\x00\x20half", ""},
		{"half a header", "", "\x17", ""},
		{"nothing", "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := driveTLS(t, s)
			if tt.text != "" {
				must(io.WriteString(d.client, tt.text))
			}
			must(io.WriteString(d.raw, tt.behind))
			if err := d.raw.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			d.handle(&unix.EpollEvent{Fd: int32(d.conn.fd), Events: unix.EPOLLIN | unix.EPOLLRDHUP})
			d.turn()
			if !d.conn.closed {
				t.Fatal("the connection is there still, and no event will come")
			}
			if got, err := io.ReadAll(d.client); string(got) != tt.want || err != nil {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
}
