package redis

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// What one client does reaches others as it does in Redis, in the same order.
//
// testdata/dialogues/*.txt are conversations of several clients. A line that
// begins with "==" begins a chapter, on an empty server. A command's line
// begins with the client's name and ">"; what any client hears then follows,
// behind its name and "|". $a in a command is the id of client a. "#" begins
// a comment. The files are replayed on sessions, and on a real Redis where
// there is one; UPDATE=1 rewrites them from the real Redis, but for chapters
// whose title ends with "!": there Firn differs.

// hearer is somebody at one end of a connection.
type hearer interface {
	// say sends a command, and hear returns all frames that came since.
	say(t testing.TB, words ...[]byte)
	hear(t testing.TB) [][]byte

	// end makes the client listen to nothing any more.
	end(t testing.TB)
}

// sessionHearer is a hearer without sockets.
type sessionHearer struct {
	*ours
	heard []byte
}

func (s *sessionHearer) say(t testing.TB, words ...[]byte) {
	s.heard = append(s.heard, s.tell(t, words...)...)
}

func (s *sessionHearer) hear(t testing.TB) [][]byte {
	if s.session.killed.Load() {
		s.session.Close()
		return nil
	}
	all := append(s.heard, s.take(t)...)
	s.heard = nil
	return frames(t, all)
}

func (s *sessionHearer) end(testing.TB) {}

func frames(t testing.TB, b []byte) [][]byte {
	t.Helper()
	var all [][]byte
	for len(b) > 0 {
		_, rest, err := parseValue(b)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		all, b = append(all, b[:len(b)-len(rest)]), rest
	}
	return all
}

// peer is a hearer at a real Redis.
type peer struct {
	*theirs
	said  bool // since it last heard
	multi bool // commands are only queued
	gone  bool
}

// barrier is the name of all connections to a real Redis: asking for it tells
// where what was heard ends, and changes nothing.
var barrier = []byte("barrier")

func newPeer(t testing.TB, conn *theirs) *peer {
	p := &peer{theirs: conn}
	p.tell(t, []byte("CLIENT"), []byte("SETNAME"), barrier)
	return p
}

func (p *peer) say(t testing.TB, words ...[]byte) {
	_ = p.conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := p.conn.Write(resp.AppendCommand(nil, words...)); err != nil && !errors.Is(err, syscall.EPIPE) {
		t.Fatal(err)
	}
	p.said = true
	switch {
	case command.Is(words[0], "MULTI"):
		p.multi = true
	case command.Is(words[0], "EXEC"), command.Is(words[0], "DISCARD"), command.Is(words[0], "RESET"):
		p.multi = false
	}
}

// hear reads up to the barrier, or inside MULTI the one reply.
func (p *peer) hear(t testing.TB) (all [][]byte) {
	if p.gone || p.multi && !p.said {
		return nil
	}
	p.said = false
	if !p.multi {
		p.say(t, []byte("CLIENT"), []byte("GETNAME"))
		p.said = false
	}
	for {
		frame, err := redistest.ReadReply(p.in)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET): // a reset if it ended before it read the barrier
			p.gone = true
			return all
		case err != nil:
			t.Fatal(err)
		case bytes.Equal(frame, []byte("$7\r\nbarrier\r\n")), bytes.HasPrefix(frame, []byte("-ERR Can't execute 'client|getname'")):
			return all
		}
		all = append(all, frame)
		switch {
		case p.multi:
			return all
		case string(frame) == "+RESET\r\n": // the name is gone
			if _, err := redistest.ReadReply(p.in); err != nil {
				t.Fatal(err)
			}
			p.tell(t, []byte("CLIENT"), []byte("SETNAME"), barrier)
			return all
		}
	}
}

func (p *peer) end(t testing.TB) {
	if !p.gone {
		p.say(t, []byte("RESET"))
		p.hear(t)
	}
}

// dialogue is one chapter of a file.
type dialogue struct {
	title string
	lines []string // with what is to be heard
}

func parseDialogues(t *testing.T, name string) []dialogue {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	chapters := []dialogue{{}}
	for _, text := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n") {
		if title, ok := strings.CutPrefix(text, "=="); ok {
			chapters = append(chapters, dialogue{title: strings.TrimSpace(title)})
		}
		now := &chapters[len(chapters)-1]
		now.lines = append(now.lines, text)
	}
	return chapters
}

// replay lets the clients of a chapter talk, and returns its lines with what
// they heard.
func (d *dialogue) replay(t *testing.T, connect func() hearer) []string {
	clients := map[string]hearer{}
	ids := map[string]string{}
	var names, lines []string
	for _, text := range d.lines {
		name, command, ok := strings.Cut(text, "> ")
		if !ok || len(name) != 1 {
			if len(text) < 2 || text[1] != '|' {
				lines = append(lines, text)
			}
			continue
		}
		if clients[name] == nil {
			clients[name] = connect()
			names = append(names, name)
			slices.Sort(names)
			clients[name].say(t, []byte("CLIENT"), []byte("ID"))
			ids["$"+name] = strings.Trim(string(clients[name].hear(t)[0]), ":\r\n")
		}
		words := SplitWords(t, command)
		for i, word := range words {
			if id, ok := ids[string(word)]; ok {
				words[i] = []byte(id)
			}
		}
		lines = append(lines, text)
		clients[name].say(t, words...)
		for _, listener := range append([]string{name}, names...) {
			for _, frame := range clients[listener].hear(t) {
				if bytes.EqualFold(words[0], []byte("HELLO")) {
					continue // it tells the version
				}
				shown := render(frame)
				for id, number := range ids {
					if bytes.Contains(frame, []byte("redir")) {
						shown = strings.ReplaceAll(shown, "(integer) "+number, "(integer) "+id)
					}
				}
				for line := range strings.SplitSeq(shown, "\n") {
					lines = append(lines, listener+"| "+line)
				}
			}
		}
	}
	for _, client := range clients {
		client.end(t)
	}
	return lines
}

func TestDialoguesAreThoseOfTheFiles(t *testing.T) {
	eachDialogue(t, func(t *testing.T, d *dialogue) {
		for _, memory := range []int64{0, -1} {
			srv := New(openStore(t, firn.Options{Durability: firn.None, Memory: memory}), Options{})
			got := d.replay(t, func() hearer { return &sessionHearer{ours: newOurs(t, srv)} })
			Check(t, fmt.Sprintf("memory=%d", memory), strings.Join(got, "\n"), strings.Join(d.lines, "\n"))
		}
	})
}

func TestDialoguesAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	hear := func() hearer { return newPeer(t, connect()) }
	if updating() {
		for _, name := range dialogueFiles(t) {
			rewriteDialogues(t, name, hear)
		}
		return
	}
	eachDialogue(t, func(t *testing.T, d *dialogue) {
		if strings.HasSuffix(d.title, "!") {
			t.Skip("Firn differs")
		}
		connect().tell(t, []byte("FLUSHALL"))
		Check(t, d.title, strings.Join(d.replay(t, hear), "\n"), strings.Join(d.lines, "\n"))
	})
}

func rewriteDialogues(t *testing.T, name string, real func() hearer) {
	var out strings.Builder
	for _, d := range parseDialogues(t, name) {
		connect := real
		if strings.HasSuffix(d.title, "!") {
			srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{})
			connect = func() hearer { return &sessionHearer{ours: newOurs(t, srv)} }
		} else {
			real().(*peer).tell(t, []byte("FLUSHALL"))
		}
		for _, text := range d.replay(t, connect) {
			out.WriteString(text + "\n")
		}
	}
	if err := os.WriteFile(name, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func dialogueFiles(t *testing.T) []string {
	names, err := filepath.Glob("testdata/dialogues/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no dialogues: %v", err)
	}
	return names
}

func eachDialogue(t *testing.T, run func(*testing.T, *dialogue)) {
	for _, name := range dialogueFiles(t) {
		for _, d := range parseDialogues(t, name) {
			t.Run(filepath.Base(name)+"/"+d.title, func(t *testing.T) { run(t, &d) })
		}
	}
}
