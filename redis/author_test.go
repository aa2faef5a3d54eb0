package redis

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// A version says which user wrote it, through which client, from where and
// why, and that costs a few bytes.

// fieldsOf are maps in a reply, one or an array of them.
func fieldsOf(t testing.TB, reply []byte) []map[string]string {
	t.Helper()
	v, _, err := parseValue(reply)
	if err != nil {
		t.Fatal(err)
	}
	maps := v.elements
	if len(maps) > 0 && len(maps[0].elements) == 0 {
		maps = []value{v}
	}
	var all []map[string]string
	for _, m := range maps {
		fields := map[string]string{}
		for i := 0; i+1 < len(m.elements); i += 2 {
			fields[m.elements[i].text] = m.elements[i+1].text
		}
		all = append(all, fields)
	}
	return all
}

// writersOf is who did what to a key, oldest first, one line for each event.
func writersOf(t testing.TB, o *ours, key string) string {
	t.Helper()
	var lines []string
	for _, e := range fieldsOf(t, o.tell(t, []byte("HISTORY"), []byte("GET"), []byte(key))) {
		lines = append(lines, strings.Join([]string{e["operation"], e["user"], e["client"], e["address"], e["reason"]}, "|"))
	}
	return strings.Join(lines, "\n")
}

func TestHistorySaysWhoDidIt(t *testing.T) {
	for _, memory := range []int64{0, -1} {
		a, b, clock := clockedPair(t, memory)
		for _, command := range []string{
			"SET k 0", "CLIENT SETNAME desk", "INCR k", `CLIENT SETINFO REASON "ticket 7: über"`, "INCR k", "ACL SETUSER ada on >s ~* +@all",
			"AUTH ada s", "INCR k", `CLIENT SETINFO REASON ""`, "INCR k", "CLIENT SETINFO REASON forgotten", "RESET", "INCR k",
			"HELLO 2 AUTH ada s SETNAME lab", "INCR k", "MULTI", "INCR k", "CLIENT SETNAME late", "INCR k", "EXEC", "INCR k",
			"SWAPDB 0 5", "SWAPDB 0 5",
		} {
			clock.advance(time.Second)
			if got := a.ask(t, command); strings.HasPrefix(got, "(error)") {
				t.Fatalf("%s: got %s", command, got)
			}
		}
		b.ask(t, "DEL k")
		const at = "|127.0.0.1|"
		Check(t, "history", writersOf(t, a, "k"), strings.Join([]string{
			"SET|default|" + at, "INCR|default|desk" + at, "INCR|default|desk" + at + "ticket 7: über",
			"INCR|ada|desk" + at + "ticket 7: über", "INCR|ada|desk" + at, "INCR|default|" + at,
			"INCR|ada|lab" + at, "INCR|ada|lab" + at, "INCR|ada|late" + at,
			"SWAPDB|ada|late" + at, "SWAPDB|ada|late" + at, "DEL|default|" + at,
		}, "\n"))
		a.ask(t, "SET k 1")
		if got := fieldsOf(t, b.tell(t, []byte("KEYINFO"), []byte("k")))[0]; got["user"] != "ada" || got["client"] != "late" {
			t.Errorf("KEYINFO: got %v, want user ada and client late", got)
		}
	}
}

func TestReasonsAreOneLineOfText(t *testing.T) {
	o := newPlain(t)
	set := func(text string) string {
		return string(o.tell(t, []byte("client"), []byte("setinfo"), []byte("reason"), []byte(text)))
	}
	long := strings.Repeat("x", maxReasonBytes)
	for text, good := range map[string]bool{
		"": true, "because": true, "übermorgen 🙂, \"quoted\"": true, long: true,
		long + "x": false, "two\nlines": false, "a\rb": false, "tab\t": false, "nul\x00": false, "\x1b[31m": false, "\xff": false, "\u2028": false,
	} {
		before := o.session.author.Reason
		got, want, kept := set(text), "+OK\r\n", text
		if !good {
			want, kept = "-"+string(errReason)+"\r\n", before
		}
		Check(t, fmt.Sprintf("%.20q", text), got, want)
		Check(t, "the reason after that", o.session.author.Reason, kept)
	}
}

// TestWhoWaitedTakes: a waiting client is served in somebody else's group, but
// what it takes is its own doing.
func TestWhoWaitedTakes(t *testing.T) {
	a, b := NewPair(t, firn.Options{})
	a.Run(t, "CLIENT SETNAME waits", "BLPOP l 0")
	b.Run(t, "CLIENT SETNAME brings", "RPUSH l x y", "RPUSH l z")
	a.later(t)
	const by = "|127.0.0.1|"
	Check(t, "history", writersOf(t, b, "l"), "RPUSH|default|brings"+by+"\nBLPOP|default|waits"+by+"\nRPUSH|default|brings"+by)
}

func TestWhatEndsByItselfIsNobodysDoing(t *testing.T) {
	c := newClockedWith(t, firn.Options{})
	c.expect(t, "CLIENT SETNAME desk", "OK", "SET k v PX 100", "OK")
	c.advance(time.Second)
	c.sweep(t)
	Check(t, "history", writersOf(t, c.ours, "k"), "SET|default|desk|127.0.0.1|\n"+keyspace.OperationExpired+"||||")
}

// TestAKeyAndItsElementsHaveOneAuthor looks at every row of the store.
func TestAKeyAndItsElementsHaveOneAuthor(t *testing.T) {
	o := newPlain(t)
	o.Run(t, "CLIENT SETNAME desk", "HSET h a 1 b 2", "HEXPIRE h 100 FIELDS 1 a", "RPUSH l x y", "ZADD z 1 m", "SADD s m n", "XADD x * f v",
		"XGROUP CREATE x g 0", "XREADGROUP GROUP g c STREAMS x >", "FLUSHDB", "SET k v",
		`FUNCTION LOAD "#!lua name=l\nredis.register_function('f', function() return 1 end)"`)
	want := firn.Author{User: "default", Client: "desk", Address: "127.0.0.1"}
	err := o.Store.View(func(snap *firn.Snapshot) error {
		for _, spec := range keyspace.Tables() {
			table, n := o.Store.Table(spec.Name), 0
			for item, err := range snap.Scan(firn.Range{Index: table.ByID()}) {
				if err != nil {
					return err
				}
				n++
				if got, err := snap.Author(item.Doc); got != want || err != nil {
					t.Errorf("%s, %q: got %v, %v, want %v", spec.Name, item.Key, got, err, want)
				}
			}
			if n == 0 {
				t.Errorf("%s: got no documents, want some", spec.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// written is what others, and then a number of commits of one connection,
// leave behind.
type written struct {
	rows, authors int
	bytes         int64 // the closed file's
}

func write(t *testing.T, others, commits int, o Options) written {
	t.Helper()
	clock := newFakeClock()
	o.Now = clock.now
	store := openStore(t, firn.Options{Durability: firn.None, Now: clock.now})
	c := newOurs(t, New(store, o))
	for i := range others {
		c.Run(t, fmt.Sprintf("CLIENT SETNAME other-%d", i), "SET k v")
	}
	c.ask(t, "CLIENT SETNAME worker")
	for i := range commits {
		c.ask(t, fmt.Sprintf("SET k:%d v%d", i%100, i))
	}
	w := written{rows: int(store.Stats().Rows)}
	err := store.View(func(snap *firn.Snapshot) (err error) {
		w.authors, err = snap.CountRange(firn.Range{Index: store.Table("firn.authors").ByID()})
		return err
	})
	if err == nil {
		err = store.Close()
	}
	file, statErr := os.Stat(store.Stats().Path)
	if err != nil || statErr != nil {
		t.Fatal(err, statErr)
	}
	w.bytes = file.Size()
	return w
}

func TestAThousandCommitsAddOneAuthor(t *testing.T) {
	const commits = 1000
	with, without := write(t, 0, commits, Options{}), write(t, 0, commits, Options{Anonymous: true})
	if without.authors != 0 || without.rows != commits {
		t.Errorf("without audit: got %d rows and %d authors, want %d and none", without.rows, without.authors, commits)
	}
	if with.authors != 1 || with.rows != commits+1 {
		t.Errorf("with audit: got %d rows and %d authors, want %d and 1", with.rows, with.authors, commits+1)
	}
}

// TestAnAuthorTakesAFewBytesOfARow is about the 201st author of a store: the
// first costs nothing.
func TestAnAuthorTakesAFewBytesOfARow(t *testing.T) {
	const others, commits, least, most = 200, 20_000, 1.0, 6.0
	with, without := write(t, others, commits, Options{}), write(t, others, commits, Options{Anonymous: true})
	if each := float64(with.bytes-without.bytes) / commits; each < least || each > most {
		t.Errorf("bytes for each version: got %.1f more, want %.1f to %.1f", each, least, most)
	}
}

func TestAnonymousServersSayNothing(t *testing.T) {
	o := newOurs(t, New(openStore(t, firn.Options{}), Options{Anonymous: true}))
	o.Run(t, "CLIENT SETNAME desk", "CLIENT SETINFO REASON because", "SET k v")
	Check(t, "history", writersOf(t, o, "k"), "SET||||")
	o.expect(t, "CONFIG GET firn-audit", "1) \"firn-audit\"\n2) \"no\"")
	newPlain(t).expect(t, "CONFIG GET firn-audit", "1) \"firn-audit\"\n2) \"yes\"")
}

func TestAddressesHaveNoPort(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1:6379": "127.0.0.1", "[::1]:6379": "::1", "[fe80::1%eth0]:1": "fe80::1%eth0",
		"/run/firn.sock:0": "/run/firn.sock", "/run/a:b:0": "/run/a:b", "?:0": "?", "": "",
	} {
		Check(t, address, host(address), want)
	}
}

// TestNamesOfAnyLengthAreWritten: a name that is too long for an author is
// cut, and never in the way of a commit.
func TestNamesOfAnyLengthAreWritten(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("x", maxAuthorNameBytes):      strings.Repeat("x", maxAuthorNameBytes),
		strings.Repeat("x", maxAuthorNameBytes+1):    strings.Repeat("x", maxAuthorNameBytes-3) + "…",
		strings.Repeat("ü", maxAuthorNameBytes/2+1):  strings.Repeat("ü", maxAuthorNameBytes/2-2) + "…",
		strings.Repeat("\xff", maxAuthorNameBytes*2): "\uFFFD",
	} {
		got := authorText(name, maxAuthorNameBytes)
		Check(t, fmt.Sprintf("%.9q… of %d", name, len(name)), got, want)
		if len(got) > maxAuthorNameBytes {
			t.Errorf("%d bytes, want at most %d", len(got), maxAuthorNameBytes)
		}
	}
	srv := New(openStore(t, firn.Options{}), Options{})
	o := newOurs(t, srv)
	o.session.peer = strings.Repeat("/p", 500) + ":0"
	user := strings.Repeat("u", 2000)
	for _, words := range [][]string{
		{"ACL", "SETUSER", user, "on", ">s", "~*", "+@all"}, {"CLIENT", "SETNAME", strings.Repeat("c", 2000)},
		{"CLIENT", "SETINFO", "REASON", strings.Repeat("r", maxReasonBytes)}, {"AUTH", user, "s"}, {"SET", "k", "v"},
	} {
		Check(t, words[0], string(o.tell(t, wordsOf(words)...)), "+OK\r\n")
	}
	if got := writersOf(t, o, "k"); !strings.HasPrefix(got, "SET|uuu") || strings.Count(got, "…") != 3 {
		t.Errorf("history: got %s, want three parts cut", got)
	}
}

func wordsOf(texts []string) [][]byte {
	var words [][]byte
	for _, text := range texts {
		words = append(words, []byte(text))
	}
	return words
}

// TestManyConnectionsShareAnAuthor: one that connects again is the same.
func TestManyConnectionsShareAnAuthor(t *testing.T) {
	srv := New(openStore(t, firn.Options{}), Options{})
	var names []string
	for i := range 20 {
		o := newOurs(t, srv)
		o.session.peer = fmt.Sprintf("192.0.2.1:%d", 40_000+i)
		name := fmt.Sprintf("worker-%d", i%3)
		o.Run(t, "CLIENT SETNAME "+name, "SET k v", "SET k w")
		names = append(names, name, name)
	}
	var got []string
	for _, e := range fieldsOf(t, newOurs(t, srv).send(t, resp.AppendCommand(nil, []byte("HISTORY"), []byte("GET"), []byte("k")))) {
		got = append(got, e["client"])
	}
	if !slices.Equal(got, names) {
		t.Errorf("clients: got %q, want %q", got, names)
	}
	err := srv.store.View(func(snap *firn.Snapshot) error {
		n, err := snap.CountRange(firn.Range{Index: srv.store.Table("firn.authors").ByID()})
		if n != 3 {
			t.Errorf("authors: got %d, want 3", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
