package oracle

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firndb/firn/internal/race"
)

// program is the server's binary, built once, with the race detector if the
// tests have it.
func program(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// programs is the directory of what built builds.
var programs string

var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(programs, "firn")
	args := []string{"build", "-buildvcs=false", "-o", path}
	if race.Enabled {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "../../cmd/firn")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if programs, err = os.MkdirTemp("", "firn"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(programs)
		return m.Run()
	}())
}

// victim is a real server, which is killed and started again on the same file.
// Its sockets are other ones after each start.
type victim struct {
	t     testing.TB
	path  string
	dir   string   // of the sockets, whose paths must be short
	flags []string // beside those that every start has

	mu      sync.Mutex
	process *exec.Cmd
	log     *lockedBuffer
	socket  string
	http    string // host:port; empty: it does not serve HTTP
	starts  int
	ended   chan struct{} // closed when the process has ended
}

// lockedBuffer is what a process says, which may be read meanwhile.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newVictim(t testing.TB, flags ...string) *victim {
	t.Helper()
	dir, err := os.MkdirTemp("", "firn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &victim{t: t, path: filepath.Join(t.TempDir(), "o.db"), dir: dir, flags: flags}
}

// httpAddress finds where the server listens for HTTP in what it logs.
var httpAddress = regexp.MustCompile(`"serving http","listen":"([0-9.:]+)"`)

// start starts the server, with more flags.
func (s *victim) start(more ...string) {
	s.t.Helper()
	log := new(lockedBuffer)
	socket := filepath.Join(s.dir, strconv.Itoa(s.starts))
	args := append([]string{"serve", s.path, "--listen", "127.0.0.1:0", "--unix", socket, "--log-format", "json"}, s.flags...)
	process := exec.Command(program(s.t), append(args, more...)...)
	process.Stderr = log
	if err := process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		process.Wait()
		close(ended)
	}()
	s.t.Cleanup(func() {
		process.Process.Kill()
		<-ended
		if said := log.String(); strings.Contains(said, "DATA RACE") || strings.Contains(said, "panic: ") {
			s.t.Errorf("the server said\n%.8000s", said)
		}
	})
	s.mu.Lock()
	s.process, s.log, s.socket, s.http, s.ended = process, log, socket, "", ended
	s.starts++
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(s.t.Context(), wirePatience)
	defer cancel()
	conn, err := s.dial(ctx)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, log)
	}
	defer conn.Close()
	if _, err := newWire(conn).ask("PING"); err != nil { // it listens before it is ready
		s.t.Fatalf("%v\n%s", err, log)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(args, "--http") {
		return
	}
	for s.http == "" && ctx.Err() == nil { // it is said a moment later
		if found := httpAddress.FindStringSubmatch(log.String()); found != nil {
			s.http = found[1]
		}
	}
}

// kill ends the server in the middle of whatever it does.
func (s *victim) kill() {
	s.mu.Lock()
	process, ended := s.process, s.ended
	s.mu.Unlock()
	process.Process.Kill()
	<-ended
}

// dial connects to the server that runs now; it may take several, one after the
// other, until one answers.
func (s *victim) dial(ctx context.Context) (net.Conn, error) {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		s.mu.Lock()
		socket := s.socket
		s.mu.Unlock()
		conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ctx.Err(), err)
		case <-again.C:
		}
	}
}

// web is where the server that runs now serves HTTP.
func (s *victim) web() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.http
}

// said is what the server that runs now has logged.
func (s *victim) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}
