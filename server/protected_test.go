package server

import (
	"bufio"
	"net"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// Without a password only clients of this machine are let in. That is judged
// when they come, because passwords come and go.

// from is a connection whose client is elsewhere.
type from struct {
	net.Conn
	address net.Addr
}

func (f from) RemoteAddr() net.Addr { return f.address }

// connectFrom connects a client by a pipe that says it comes from address.
func connectFrom(t *testing.T, s *Server, address net.Addr) *client {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { ours.Close() })
	go s.Go(from{theirs, address}) // a pipe has no room for the refusal
	return &client{t, ours, bufio.NewReader(ours)}
}

func TestStrangersAreRefusedWithoutAPassword(t *testing.T) {
	r := start(t, Options{Portable: true}, redis.Options{})
	admin := r.connect()
	tell := func(command string) {
		admin.send(command + "\r\n")
		admin.expect("+OK\r\n")
	}
	letsIn := func(want bool, ips ...string) {
		t.Helper()
		for _, ip := range ips {
			c := connectFrom(t, r.server, &net.TCPAddr{IP: net.ParseIP(ip), Port: 1})
			go c.Write([]byte("PING\r\n"))
			line, _ := c.in.ReadString('\n')
			if denied := strings.HasPrefix(line, "-DENIED Redis is running in protected mode"); line == "" || denied == want {
				t.Errorf("PING from %s: got %q, want to be let in: %t", ip, line, want)
			}
			c.Close()
		}
	}
	letsIn(true, "127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1")
	letsIn(false, "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "0.0.0.0")
	tell("CONFIG SET protected-mode no")
	letsIn(true, "192.0.2.1")
	tell("CONFIG SET protected-mode yes")
	letsIn(false, "192.0.2.1")
	tell("CONFIG SET requirepass secret")
	letsIn(true, "192.0.2.1")
	tell("CONFIG SET requirepass \"\"")
	letsIn(false, "192.0.2.1")
	admin.send("CONFIG GET protected-mode\r\n")
	admin.expect("*2\r\n$14\r\nprotected-mode\r\n$3\r\nyes\r\n")
}
