// Package redistest starts a real redis-server for tests that compare with
// it.
package redistest

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Version is the release that Firn follows; another one may answer otherwise.
const Version = "7.0."

// Start starts a redis-server that keeps nothing and listens on a Unix socket
// alone, and returns the socket's path. It ends with the test. The test is
// skipped where there is none of the version that Firn follows on PATH.
func Start(t testing.TB, options ...string) (socket string) {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server on PATH to compare with")
	}
	if version, _ := exec.Command(path, "--version").Output(); !bytes.Contains(version, []byte("v="+Version)) {
		t.Skipf("redis-server is not %sx but %s", Version, version)
	}
	// Not t.TempDir: a socket's path may have 107 bytes at most.
	dir, err := os.MkdirTemp("", "firn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket = filepath.Join(dir, "socket")
	cmd := exec.Command(path, append([]string{
		"--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir, "--daemonize", "no",
	}, options...)...)
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "ready to accept connections at") {
			go io.Copy(io.Discard, output) // ends with the process
			return socket
		}
	}
	t.Fatal("redis-server ended before it was ready")
	return ""
}

// ReadReply reads the bytes of one reply, or push.
func ReadReply(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	n, _ := strconv.Atoi(string(bytes.TrimRight(line[1:], "\r\n")))
	switch line[0] {
	case '$', '=':
		if n >= 0 {
			body := make([]byte, n+2)
			_, err = io.ReadFull(in, body)
			line = append(line, body...)
		}
		return line, err
	case '%':
		n *= 2
	case '*', '~', '>':
	default:
		return line, nil
	}
	for range n {
		element, err := ReadReply(in)
		if err != nil {
			return nil, err
		}
		line = append(line, element...)
	}
	return line, nil
}
