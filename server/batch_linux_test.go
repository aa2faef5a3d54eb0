package server

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/firndb/firn/redis"
)

// A batch that is decided while the loop hands it over goes on at once: the
// answer is on its way before the loop looks at anything else.

// driven is a loop that the test runs by hand, with one client.
type driven struct {
	*loop
	conn   *conn
	client int // the client's end
}

func drive(t *testing.T) (*running, *driven) {
	t.Helper()
	r := start(t, Options{}, redis.Options{})
	l, err := newLoop(r.server, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.release)
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(ends[1]) })
	l.adopt(arrival{ends[0], plainDoor})
	c := l.conns[int32(ends[0])]
	t.Cleanup(func() { l.close(c) })
	return r, &driven{l, c, ends[1]}
}

// round sends input, hands its writes over, and returns what the client has
// when that is done.
func (d *driven) round(t *testing.T, input string) string {
	t.Helper()
	if _, err := unix.Write(d.client, []byte(input)); err != nil {
		t.Fatal(err)
	}
	d.conn.readable = true
	d.read(d.conn)
	d.runFilled()
	if !d.hasBatch() {
		t.Fatalf("%q: got no batch", input)
	}
	d.submit()
	return d.take()
}

// take is what the client has been sent.
func (d *driven) take() string {
	d.flushAll()
	reply := make([]byte, 1<<10)
	n, _ := unix.Read(d.client, reply)
	return string(reply[:max(n, 0)])
}

func TestInlineCommitsAreAnsweredAtOnce(t *testing.T) {
	_, d := drive(t)
	for range 3 { // the batch is used again
		waitFor(t, "a commit on the loop's goroutine", func() bool {
			got := d.round(t, "SET k 1\r\nINCR k\r\nGET k\r\n")
			inline := got != ""
			if !inline { // the writer was busy, and sends a letter
				waitFor(t, "the writer's letter", d.hasMail)
				d.readMail()
				got = d.take()
			}
			if want := "+OK\r\n:2\r\n$1\r\n2\r\n"; got != want {
				t.Fatalf("replies: got %q, want %q", got, want)
			}
			return inline
		})
	}
	if d.waiting != 0 || d.hasBatch() {
		t.Errorf("left: got %d sessions that wait, a batch %t, want none", d.waiting, d.hasBatch())
	}
}

func TestRefusedBatchesAreAnsweredAtOnce(t *testing.T) {
	r, d := drive(t)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	if got := d.round(t, "SET k 1\r\n"); !strings.HasPrefix(got, "-") {
		t.Errorf("of a closed store: got %q, want an error", got)
	}
	if d.waiting != 0 {
		t.Errorf("sessions that wait: got %d, want none", d.waiting)
	}
}

// What one round brings is handed over in pieces, unless each commit has its
// fsync.
func TestLargeBatchesAreHandedOverInPieces(t *testing.T) {
	_, d := drive(t)
	for _, pieces := range []bool{true, false} {
		d.pieces = pieces
		for _, n := range []int{pieceLen - 1, pieceLen} {
			if _, err := unix.Write(d.client, []byte(strings.Repeat("INCR k\r\n", n))); err != nil {
				t.Fatal(err)
			}
			d.conn.readable = true
			d.read(d.conn)
			d.runFilled()
			if got, want := d.hasBatch(), !pieces || n < pieceLen; got != want {
				t.Errorf("pieces %t, %d commands: a batch waits: got %t, want %t", pieces, n, got, want)
			}
			d.submit()
			for d.waiting > 0 {
				waitFor(t, "the writer's letter", d.hasMail)
				d.readMail()
			}
			for answered := 0; answered < n; {
				answered += strings.Count(d.take(), "\r\n")
			}
		}
	}
}
