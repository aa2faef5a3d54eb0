package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The helpers that every test here stands on: one build of the server, and a
// server per test that is stopped as an operator would, with its log shown
// when the test fails.

const (
	startLimit = 30 * time.Second // generous: the machine may run other tests
	stopLimit  = 30 * time.Second
)

// binary is the path of the server, built by the first test that asks.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "firn-e2e-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "firn")
	build := exec.Command("go", "build", "-o", path, "./cmd/firn")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return path, fmt.Errorf("build cmd/firn: %w\n%s", err, output)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, _ := binary(); path != "" {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// startFirn starts a server on a new store and returns its address. args are
// further flags of firn serve. The server ends with the test, which fails if
// it does not end with status 0.
func startFirn(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	addr := freeAddr(t)
	output, err := os.Create(filepath.Join(dir, "output.log"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, append([]string{"serve", filepath.Join(dir, "e2e.db"), "--listen", addr}, args...)...)
	command.Stdout, command.Stderr = output, output
	if err := command.Start(); err != nil {
		t.Fatalf("start firn: %v", err)
	}
	exited := make(chan error, 1) // room for the one result, so the goroutine ends without a receiver
	go func() { exited <- command.Wait() }()
	t.Cleanup(func() {
		if err := stop(command, exited); err != nil {
			t.Errorf("stop firn: %v", err)
		}
		_ = output.Close()
		if log, err := os.ReadFile(output.Name()); err == nil && t.Failed() {
			t.Logf("server's log:\n%s", log)
		}
	})
	if err := awaitListener(t.Context(), addr, exited); err != nil {
		t.Fatalf("start firn: %v", err)
	}
	return addr
}

// freeAddr is a loopback address that nothing listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// awaitListener returns when addr accepts connections. It returns an error
// when the server ends first, or takes too long.
func awaitListener(ctx context.Context, addr string, exited chan error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		if conn, err := net.DialTimeout("tcp", addr, time.Second); err == nil {
			return conn.Close()
		}
		select {
		case err := <-exited:
			exited <- err // stop waits for it too
			return fmt.Errorf("it ended before it listened: %v", err)
		case <-ctx.Done():
			return fmt.Errorf("nothing listens on %s: %w", addr, ctx.Err())
		case <-again.C:
		}
	}
}

// stop ends the server with SIGTERM, and with SIGKILL when that does not help.
func stop(command *exec.Cmd, exited chan error) error {
	if err := command.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case err := <-exited:
		return err
	case <-time.After(stopLimit):
		_ = command.Process.Kill()
		<-exited
		return fmt.Errorf("still running %v after SIGTERM", stopLimit)
	}
}

func TestServerSaysWhatItDislikes(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("not a store\n", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command(path, "serve", foreign, "--listen", freeAddr(t)).CombinedOutput()
	if err == nil || !strings.Contains(string(output), "letter.txt") {
		t.Errorf("serve a letter: got %v and %q, want an error that names the file", err, output)
	}
}
