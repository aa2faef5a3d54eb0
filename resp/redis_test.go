package resp

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
)

// The real thing has the last word: what is checked in as expected is
// replayed to a redis-server of the version that we follow, when there is one.

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
