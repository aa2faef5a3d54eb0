package server

import (
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/redis"
)

// Anybody who reaches the port can be a guest, as often as there are clients:
// one that has not authenticated costs little, whatever it sends and whether
// or not it reads.

// maxGuestBytes is what one guest may cost of the server's memory.
const maxGuestBytes = 100_000

func TestGuestsCostLittle(t *testing.T) {
	refused := strings.Repeat("PING\r\n", 16_000) // 544 KB of replies, more than a Unix socket holds
	half := "*3\r\n$4\r\nAUTH\r\n$16000\r\n" + strings.Repeat("a", 16_000) + "\r\n$15000\r\n" + strings.Repeat("b", 14_000)
	for name, input := range map[string]string{
		"unread":                refused,
		"half a command":        half,
		"a line without end":    strings.Repeat("a", 16<<10),
		"words":                 strings.Repeat("a ", 8<<10) + "\r\n",
		"unread and unfinished": strings.Repeat("PING\r\n", 2_000) + half,
	} {
		t.Run(name, func(t *testing.T) {
			eachDriver(t, func(t *testing.T, o Options) { guestsCost(t, o, input) })
		})
	}
}

// guestsCost has many guests send input and read nothing, and weighs them.
func guestsCost(t *testing.T, o Options, input string) {
	const guests = 200
	r := start(t, o, redis.Options{Password: "secret"})
	admin := r.connect()
	admin.send("AUTH secret\r\n")
	admin.expect("+OK\r\n")
	before := heapBytes()
	for range guests {
		conn, err := net.Dial("unix", r.unix)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(patience))
		_, _ = io.WriteString(conn, input) // the server may have hung up
	}
	admin.quiet()
	if each := (heapBytes() - before) / guests; each > maxGuestBytes {
		t.Errorf("memory for each of %d guests: got %d bytes, want at most %d", guests, each, maxGuestBytes)
	}
}

// quiet waits until the server reads nothing any more but this client.
func (c *client) quiet() {
	c.t.Helper()
	var last, same int64
	waitFor(c.t, "the server to have read what there is", func() bool {
		const question = "INFO stats\r\n"
		c.send(question)
		info := c.bulk()
		_, rest, _ := strings.Cut(info, "total_net_input_bytes:")
		var read int64
		if _, err := fmt.Sscan(rest, &read); err != nil {
			c.t.Fatalf("INFO: got %q (%v)", info, err)
		}
		if same++; read != last+int64(len(question)) {
			same = 0
		}
		last = read
		return same == 20
	})
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC() // what pools held goes in the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestGuestsWhoAuthenticateHaveTime: what is sent behind AUTH in one go has
// the limits of any client, though nothing is read meanwhile.
func TestGuestsWhoAuthenticateHaveTime(t *testing.T) {
	for _, loops := range []int{1, 2} { // the portable driver does not read while it writes
		r := start(t, Options{Loops: loops}, redis.Options{Password: "secret"})
		c := r.dial("unix", r.unix)
		const n = 100_000
		c.send("PING\r\nAUTH secret\r\n" + strings.Repeat("PING\r\n", n) + "RESET\r\n")
		c.expect("-NOAUTH Authentication required.\r\n+OK\r\n" + strings.Repeat("+PONG\r\n", n) + "+RESET\r\n")
	}
}
