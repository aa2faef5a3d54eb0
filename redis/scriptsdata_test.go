package redis

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/resp"
)

// What servers hold, as text that can be compared.

// manyTalker is told several commands at once.
type manyTalker interface {
	tellAll(t testing.TB, commands [][][]byte) (replies [][]byte)
}

// allData is what the first databases hold.
func allData(t *testing.T, who manyTalker) string {
	t.Helper()
	var out strings.Builder
	for db := range 3 {
		found := who.tellAll(t, [][][]byte{{[]byte("SELECT"), strconv.AppendInt(nil, int64(db), 10)}, {[]byte("KEYS"), []byte("*")}})
		v, _, _ := parseValue(found[1])
		var names []string
		for _, e := range v.elements {
			names = append(names, e.text)
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(&out, "%d %q %s\n", db, name, dataOf(t, who, []byte(name)))
		}
	}
	return out.String()
}

// dataOf is what a key holds.
func dataOf(t *testing.T, who manyTalker, key []byte) string {
	t.Helper()
	words := func(text ...string) [][]byte {
		all := [][]byte{[]byte(text[0]), key}
		for _, w := range text[1:] {
			all = append(all, []byte(w))
		}
		return all
	}
	first := who.tellAll(t, [][][]byte{words("TYPE"), words("PEXPIRETIME")})
	ask := map[string][][]byte{
		"+string": words("GET"), "+list": words("LRANGE", "0", "-1"), "+hash": words("HGETALL"), "+set": words("SMEMBERS"),
		"+zset": words("ZRANGE", "0", "-1", "WITHSCORES"), "+stream": words("XRANGE", "-", "+"),
	}[string(bytes.TrimSpace(first[0]))]
	if ask == nil {
		return string(first[0])
	}
	reply := who.tellAll(t, [][][]byte{ask})[0]
	shown := ""
	switch string(ask[0]) {
	case "HGETALL":
		shown = inOneOrder(reply, 2)
	case "SMEMBERS":
		shown = inOneOrder(reply, 1)
	default:
		shown = render(reply)
	}
	return string(bytes.TrimSpace(first[1])) + " " + shown
}

// notInPrograms are commands whose replies depend on the server, or on what it
// did before, and PFCOUNT, which scripts that only read may call here.
var notInPrograms = map[string]bool{"DUMP": true, "RESTORE": true, "SWAPDB": true, "FLUSHDB": true, "LOLWUT": true, "DEBUG": true, "PFCOUNT": true}

// tellAll tells one command after the other.
func (o *ours) tellAll(t testing.TB, commands [][][]byte) (replies [][]byte) {
	t.Helper()
	for _, words := range commands {
		replies = append(replies, o.tell(t, words...))
	}
	return replies
}

// tellAll sends all commands before it reads a reply.
func (r *theirs) tellAll(t testing.TB, commands [][][]byte) (replies [][]byte) {
	t.Helper()
	var out []byte
	for _, words := range commands {
		out = resp.AppendCommand(out, words...)
	}
	_ = r.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := r.conn.Write(out); err != nil {
		t.Fatal(err)
	}
	for range commands {
		reply, err := redistest.ReadReply(r.in)
		if err != nil {
			t.Fatalf("%v, after %.3000s", err, out)
		}
		replies = append(replies, reply)
	}
	return replies
}
