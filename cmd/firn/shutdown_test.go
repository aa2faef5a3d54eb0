package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/resp"
)

// The rule: a server that is told to end does not first end what takes long.

// served is a server of its own process.
type served struct {
	*testing.T
	socket  string
	process *exec.Cmd
	log     bytes.Buffer
}

func startServer(t *testing.T, path string) *served {
	t.Helper()
	s := &served{T: t, socket: filepath.Join(t.TempDir(), "s")}
	s.process = exec.Command("firn", "serve", path, "--listen", "127.0.0.1:0", "--unix", s.socket, "--fsync", "no", "--retention", keepAll)
	s.process.Stderr = &s.log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.process.Process.Kill() })
	return s
}

func (s *served) client() *peer {
	s.Helper()
	conn, err := dial(s.Context(), "unix", s.socket)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { conn.Close() })
	return newPeer(conn)
}

// stop ends the server with SIGTERM.
func (s *served) stop() {
	s.Helper()
	if err := s.process.Process.Signal(syscall.SIGTERM); err != nil {
		s.Fatal(err)
	}
	if err := s.process.Wait(); err != nil {
		s.Fatalf("the server's end: %v\n%s", err, s.log.String())
	}
}

// versions writes n versions.
func (p *peer) versions(n int) error {
	var words []byte
	for i := range n {
		words = resp.AppendCommand(words, []byte("INCR"), fmt.Append(nil, "k", i%100))
	}
	sent := make(chan error, 1)
	go func() {
		_, err := p.Write(words)
		sent <- err
	}()
	for range n {
		if _, err := p.reply(); err != nil {
			return err
		}
	}
	return <-sent
}

var compactedVersions = regexp.MustCompile(`compacted_versions:(\d+)`)

func (p *peer) compacted() (n int, err error) {
	info, err := p.ask("INFO", "everything")
	if err != nil {
		return 0, err
	}
	found := compactedVersions.FindStringSubmatch(info)
	if found == nil {
		return 0, fmt.Errorf("INFO has no compacted_versions:\n%s", info)
	}
	return strconv.Atoi(found[1])
}

// TestSIGTERMDoesNotWaitForAPrune that has most of its work before it.
func TestSIGTERMDoesNotWaitForAPrune(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pruned.db")
	s := startServer(t, path)
	if err := s.client().versions(race.Lighter(60_000, 15_000)); err != nil {
		t.Fatal(err)
	}
	writer, pruner, watcher := s.client(), s.client(), s.client()
	go func() { // who writes makes a pass take longer
		for {
			if _, err := writer.ask("INCR", "beside"); err != nil {
				return
			}
		}
	}()
	answered := make(chan string, 1)
	go func() {
		reply, err := pruner.ask("HISTORY", "PRUNE", "BEFORE", "now")
		if err != nil {
			reply = err.Error()
		}
		answered <- reply
	}()
	for n := 0; n == 0; {
		var err error
		if n, err = watcher.compacted(); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	if got, want := <-answered, "-ERR the server is shutting down: the work is not finished, what is done of it stays"; got != want {
		t.Errorf("the prune: got %q, want %q", got, want)
	}
}
