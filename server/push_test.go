package server

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/redis"
)

// What is pushed reaches clients that say nothing, and those that do not read
// it are ended without harm to others.

func TestPushesReachSilentClients(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		listener, from, tracker := r.connect(), r.connect(), r.connect()
		listener.send("SUBSCRIBE x\r\n")
		listener.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
		tracker.send("HELLO 3\r\nCLIENT TRACKING ON\r\nPING\r\n")
		for {
			if line, _ := tracker.in.ReadString('\n'); line == "+PONG\r\n" {
				break
			}
		}
		for i := range 100 {
			from.send(fmt.Sprintf("PUBLISH x %03d\r\n", i))
			from.expect(":1\r\n")
			listener.expect(fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$3\r\n%03d\r\n", i))
			tracker.send("GET k\r\n")
			if i == 0 {
				tracker.expect("_\r\n")
			} else {
				tracker.expect(fmt.Sprintf("$3\r\n%03d\r\n", i-1))
			}
			from.send(fmt.Sprintf("SET k %03d\r\n", i))
			from.expect("+OK\r\n")
			tracker.expect(">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n")
		}
		from.send("MULTI\r\nINCR n\r\nPUBLISH x m\r\nEXEC\r\n")
		from.expect("+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n")
		listener.expect("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\nm\r\n")
		listener.send("QUIT\r\n")
		listener.expectEnd("+OK\r\n")
	})
}

// TestListenersThatDoNotReadAreEnded has one client listen and not read, and
// another do both.
func TestListenersThatDoNotReadAreEnded(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		from, slow, reads := r.connect(), r.connect(), r.connect()
		from.send("CONFIG SET client-output-buffer-limit \"pubsub 1mb 0 0\"\r\n")
		from.expect("+OK\r\n")
		for _, c := range []*client{slow, reads} {
			c.send("SUBSCRIBE x\r\n")
			c.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
		}
		body := strings.Repeat("m", 64<<10)
		message := fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$%d\r\n%s\r\n", len(body), body)
		published := 0
		for listeners := 2; listeners == 2; published++ {
			if published == 4096 { // 256 MB, more than any socket holds
				t.Fatal("the client that does not read is still there")
			}
			from.send(fmt.Sprintf("*3\r\n$7\r\nPUBLISH\r\n$1\r\nx\r\n$%d\r\n%s\r\n", len(body), body))
			line, err := from.in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			listeners, _ = strconv.Atoi(strings.Trim(line, ":\r\n"))
			reads.expect(message)
		}
		got, _ := io.Copy(io.Discard, slow.in) // until the server has hung up
		if most := int64(published * len(message)); got >= most {
			t.Errorf("the client that does not read: got %d bytes, want fewer than the %d published", got, most)
		}
	})
}

// TestListenersDoNotTimeOut: silence is what they are for.
func TestListenersDoNotTimeOut(t *testing.T) {
	eachDriver(t, func(t *testing.T, o Options) {
		r := start(t, o, redis.Options{})
		listener, idle, from := r.connect(), r.connect(), r.connect()
		from.send("CONFIG SET timeout 1\r\n")
		from.expect("+OK\r\n")
		listener.send("SUBSCRIBE x\r\n")
		listener.expect("*3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n")
		idle.send("PING\r\n")
		idle.expect("+PONG\r\n")
		idle.expectEnd("")
		from = r.connect()
		from.send("PUBLISH x m\r\n")
		from.expect(":1\r\n")
		listener.expect("*3\r\n$7\r\nmessage\r\n$1\r\nx\r\n$1\r\nm\r\n")
	})
}
