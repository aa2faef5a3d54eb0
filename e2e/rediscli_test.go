package e2e

import (
	"net"
	"os/exec"
	"strings"
	"testing"
)

// redis-cli asks for COMMAND DOCS when it starts and prints replies by their
// type, so a session with it shows what a person would see.

func TestRedisCLISession(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("redis-cli is not on PATH")
	}
	host, port, err := net.SplitHostPort(startFirn(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []struct{ flag, members string }{
		{"-2", "1) \"a\"\n2) \"1\"\n"},
		{"-3", "1# \"a\" => \"1\"\n"},
	} {
		command := exec.Command(cli, "-h", host, "-p", port, protocol.flag, "--no-raw")
		command.Stdin = strings.NewReader(`SET "a key" "a \"value\""
GET "a key"
GET absent
APPEND absent x
DEL absent
HSET h a 1
HGETALL h
HGET
DEL h "a key"
QUIT
`)
		output, err := command.CombinedOutput()
		want := "OK\n" +
			"\"a \\\"value\\\"\"\n" +
			"(nil)\n" +
			"(integer) 1\n" +
			"(integer) 1\n" +
			"(integer) 1\n" +
			protocol.members +
			"(error) ERR wrong number of arguments for 'hget' command\n" +
			"(integer) 2\n"
		// The interactive form puts a blank line behind errors.
		if got := strings.ReplaceAll(string(output), "\n\n", "\n"); err != nil || got != want {
			t.Errorf("session with %s: %v\n got %s\nwant %s", protocol.flag, err, got, want)
		}
	}
}
