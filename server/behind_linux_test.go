package server

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// Clients that ask for more than they read cost the server little, hold up
// nobody, and get everything once they do.

// keep sets a key to a value of so many bytes, and returns the reply to GET.
func (c *client) keep(key string, bytes int) string {
	c.t.Helper()
	value := strings.Repeat("0123456789abcdef", bytes/16)
	c.send(fmt.Sprintf("*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(key), key, len(value), value))
	c.expect("+OK\r\n")
	return fmt.Sprintf("$%d\r\n%s\r\n", len(value), value)
}

var unsentBytes = regexp.MustCompile(` obl=(\d+) `)

// unsent is what the server holds of replies for the client with an id.
func (c *client) unsent(id int) int {
	c.t.Helper()
	c.send(fmt.Sprintf("CLIENT LIST ID %d\r\n", id))
	line := c.bulk()
	found := unsentBytes.FindStringSubmatch(line)
	if found == nil {
		c.t.Fatalf("CLIENT LIST: got %q", line)
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

func TestClientsThatAreBehindHaveOneReplyWaiting(t *testing.T) {
	const gets, size = 24, 8 << 20
	r := start(t, Options{}, redis.Options{})
	slow, other := r.connect(), r.connect()
	want := slow.keep("k", size)
	slow.send(strings.Repeat("GET k\r\n", gets))
	waitFor(t, "a reply that is not read", func() bool { return other.unsent(1) > 0 })
	for range gets {
		slow.expect(want)
		for range 20 {
			if n := other.unsent(1); n > size+behindBytes {
				t.Fatalf("unsent: got %d bytes, want at most one reply and %d", n, behindBytes)
			}
		}
	}
}

// TestClientsThatSendMuchBeforeTheyReadGetItAll: more than the sockets hold of
// commands, and more than behindBytes of replies.
func TestClientsThatSendMuchBeforeTheyReadGetItAll(t *testing.T) {
	const gets, size = 100_000, 512
	r := start(t, Options{}, redis.Options{})
	c := r.connect()
	want := c.keep("k", size)
	get := "GET k" + strings.Repeat(" ", 150) + "\r\n"
	if _, err := io.WriteString(c, strings.Repeat(get, gets)); err != nil {
		t.Fatalf("the server takes no more before it is read from: %v", err)
	}
	for range gets {
		c.expect(want)
	}
}
