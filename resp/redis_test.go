package resp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The real thing has the last word: what is checked in as expected is
// replayed to a redis-server of the version that we follow, when there is one.

// redisServer starts one on a socket of its own and returns the socket's
// path. The test is skipped when there is none to start.
func redisServer(t *testing.T, options ...string) string {
	t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("no redis-server on PATH to compare with")
	}
	if version, _ := exec.Command(path, "--version").Output(); !bytes.Contains(version, []byte("v=7.0.")) {
		t.Skipf("redis-server is not 7.0 but %s", version)
	}
	// Not t.TempDir: a socket's path may have 107 bytes at most.
	dir, err := os.MkdirTemp("", "firn")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "socket")
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
		cmd.Process.Kill()
		cmd.Wait()
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

func dial(t *testing.T, socket string) *net.UnixConn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.UnixConn)
}

// exchange sends in, closes its half of the connection and returns all that
// comes back.
func exchange(t *testing.T, socket, in string) string {
	t.Helper()
	conn := dial(t, socket)
	defer conn.Close()
	if _, err := io.WriteString(conn, in); err != nil {
		t.Fatalf("send: %v", err)
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatalf("close: %v", err)
	}
	out, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	return string(out)
}

// ask sends commands in one go and returns one reply for each: what stands
// on the line, or in the bulk. Errors keep their dash.
func ask(t *testing.T, socket string, commands [][]string) []string {
	t.Helper()
	conn := dial(t, socket)
	defer conn.Close()
	go func() {
		var out []byte
		for _, command := range commands {
			out = AppendCommand(out, argsOf(command...)...)
		}
		conn.Write(out) // an error shows in the replies
	}()
	replies := make([]string, len(commands))
	in := bufio.NewReader(conn)
	for i := range replies {
		reply, err := readReply(in)
		if err != nil {
			t.Fatalf("reply to %q: %v", commands[i], err)
		}
		replies[i] = reply
	}
	return replies
}

func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimRight(line, "\r\n")
	switch line[0] {
	case '$':
		n, err := strconv.Atoi(line[1:])
		if err != nil || n < 0 {
			return "(nil)", err
		}
		bulk := make([]byte, n+2)
		if _, err := io.ReadFull(in, bulk); err != nil {
			return "", err
		}
		return string(bulk[:n]), nil
	case '-':
		return line, nil
	case '+', ':', ',':
		return line[1:], nil
	}
	return "", fmt.Errorf("unexpected reply %q", line)
}

func argsOf(words ...string) [][]byte {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return args
}
