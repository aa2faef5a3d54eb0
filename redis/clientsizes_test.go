package redis

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn"
)

// CLIENT LIST tells what each client's buffers take: clients parse it.

var clientField = regexp.MustCompile(`([a-z-]+)=(\S*)`)

// describedAs is the fields of a line of CLIENT LIST, and their names in order.
func describedAs(line string) (fields map[string]string, names []string) {
	fields = map[string]string{}
	for _, m := range clientField.FindAllStringSubmatch(line, -1) {
		fields[m[1]] = m[2]
		names = append(names, m[1])
	}
	return fields, names
}

// sizesOf is the sizes that watcher sees of a session.
func sizesOf(t *testing.T, watcher, of *ours) map[string]int {
	t.Helper()
	fields, _ := describedAs(ask(t, watcher, "CLIENT LIST ID "+of.id()).text)
	sizes := map[string]int{}
	for name, text := range fields {
		if n, err := strconv.Atoi(text); err == nil {
			sizes[name] = n
		}
	}
	return sizes
}

// TestClientInfoHasTheFieldsOfRedis: all of 7.0's, in its order, and then
// those of later versions and Firn's own.
func TestClientInfoHasTheFieldsOfRedis(t *testing.T) {
	redis := startRedis(t)()
	a, _ := NewPair(t, firn.Options{})
	for _, command := range []string{"CLIENT INFO", "CLIENT LIST"} {
		_, want := describedAs(strings.SplitAfter(ask(t, redis, command).text, "\n")[0])
		_, got := describedAs(strings.SplitAfter(ask(t, a, command).text, "\n")[0])
		if len(want) < 28 || len(got) < len(want) {
			t.Fatalf("%s: got %d fields, Redis has %d", command, len(got), len(want))
		}
		Check(t, command, strings.Join(got[:len(want)], " "), strings.Join(want, " "))
		Check(t, command+": the rest", strings.Join(got[len(want):], " "), "lib-name lib-ver asof live")
	}
	// What a client's own command takes is known to the byte.
	for _, field := range []string{"qbuf", "argv-mem", "multi-mem", "obl", "oll", "omem"} {
		got, _ := describedAs(ask(t, a, "CLIENT INFO").text)
		want, _ := describedAs(ask(t, redis, "CLIENT INFO").text)
		Check(t, field, got[field], want[field])
	}
}

func TestClientSizesAreThoseOfTheBuffers(t *testing.T) {
	a, watcher := NewPair(t, firn.Options{})
	a.Run(t, "PING")
	idle := sizesOf(t, watcher, a)
	for _, field := range []string{"qbuf", "argv-mem", "multi-mem", "obl", "oll", "omem"} {
		if idle[field] != 0 {
			t.Errorf("at rest: got %s=%d, want 0", field, idle[field])
		}
	}
	if size := a.session.in.Size(); idle["qbuf-free"] != size || idle["rbs"] < len("+PONG\r\n") || idle["rbp"] != len("+PONG\r\n") {
		t.Errorf("at rest: got %v, want qbuf-free=%d, rbs and rbp for a PONG", idle, size)
	}
	if least := sessionBytes + a.session.in.Size() + idle["rbs"]; idle["tot-mem"] < least || idle["tot-mem"] > 2*least+32<<10 {
		t.Errorf("at rest: got tot-mem=%d, want a little more than %d", idle["tot-mem"], least)
	}

	a.send(t, []byte("*2\r\n$4\r\nECHO\r\n$100\r\nabc"))
	if got := sizesOf(t, watcher, a); got["qbuf"] != 23 || got["qbuf-free"] != idle["qbuf-free"]-23 {
		t.Errorf("half a command: got %v, want qbuf=23", got)
	}
	a.send(t, []byte(strings.Repeat("x", 97)+"\r\n"))
	a.Run(t, "MULTI", "SET key value", "GET key")
	if got := sizesOf(t, watcher, a); got["multi"] != 2 || got["multi-mem"] != len("SETkeyvalueGETkey") || got["tot-mem"] <= idle["tot-mem"] {
		t.Errorf("in MULTI: got %v, want multi=2 multi-mem=17 and more in all than %d", got, idle["tot-mem"])
	}
	a.Run(t, "DISCARD")
	if got := sizesOf(t, watcher, a); got["multi-mem"] != 0 {
		t.Errorf("after DISCARD: got %v, want multi-mem=0", got)
	}
}

// TestUnreadRepliesAreInTheClientList: what the driver could not send, and
// what was pushed and not taken.
func TestUnreadRepliesAreInTheClientList(t *testing.T) {
	a, watcher := NewPair(t, firn.Options{})
	input := "ECHO " + strings.Repeat("x", 1000) + "\r\n"
	a.session.Fill(copy(a.session.Space(len(input)), input))
	a.session.Run()
	a.session.Sent(7)
	const unsent = len("$1000\r\n\r\n") + 1000 - 7
	if got := sizesOf(t, watcher, a); got["obl"] != unsent || got["rbp"] != unsent+7 {
		t.Errorf("with a reply unread: got %v, want obl=%d rbp=%d", got, unsent, unsent+7)
	}
	a.session.Sent(unsent)
	if got := sizesOf(t, watcher, a); got["obl"] != 0 {
		t.Errorf("once it is read: got %v, want obl=0", got)
	}
	before := sizesOf(t, watcher, a)
	a.session.inbox.Push([]byte("+pushed\r\n"))
	if got := sizesOf(t, watcher, a); got["oll"] != 1 || got["omem"] != 9 || got["tot-mem"] < before["tot-mem"]+9 {
		t.Errorf("with a message: got %v, want oll=1 omem=9", got)
	}
}

// TestWaitingClientsHoldTheirArguments: a command that waits for a key is in
// argv-mem.
func TestWaitingClientsHoldTheirArguments(t *testing.T) {
	a, watcher := NewPair(t, firn.Options{})
	a.session.Fill(copy(a.session.Space(32), "BLPOP list another 0\r\n"))
	for a.session.Run() == NeedCommit {
		a.commit(t)
	}
	if got := sizesOf(t, watcher, a); got["argv-mem"] != len("listanother0") || got["qbuf"] != 0 {
		t.Errorf("got %v, want argv-mem=12 qbuf=0", got)
	}
	watcher.Run(t, "RPUSH list x")
	a.take(t)
	if got := sizesOf(t, watcher, a); got["argv-mem"] != 0 {
		t.Errorf("once it is served: got %v, want argv-mem=0", got)
	}
}
