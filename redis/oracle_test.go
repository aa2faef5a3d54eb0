package redis

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/race"
	"github.com/firndb/firn/resp"
)

// Every data command replies what Redis replies, to the byte.
//
// testdata/<type>.txt is a conversation per chapter. A line that begins with
// "==" begins a chapter, on an empty server. A command's line begins with ">"
// and is quoted as for an inline command; its reply follows, see render. "#"
// begins a comment. Other beginnings of a command's line:
//
//	>~   the reply's elements have no order of their own
//	>2   … and its arrays are really pairs
//	>!   Firn differs here: the reply is not compared with Redis's
//
// The files are replayed on a session, and on a real Redis where there is one.
// UPDATE=1 rewrites the replies from the real Redis.

// line is one line of a conversation.
type line struct {
	text  string // as it stands there
	mode  byte   // of a command: ' ', '~', '2' or '!'; 0 for any other line
	words [][]byte
	reply string // of a command: what is to follow
}

type chapter struct {
	name  string
	lines []line
}

// parseConversations reads a file of chapters.
func parseConversations(t *testing.T, name string) []chapter {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	chapters := []chapter{{name: "head"}}
	for text := range strings.Lines(string(content)) {
		text = strings.TrimSuffix(text, "\n")
		now := &chapters[len(chapters)-1]
		switch {
		case strings.HasPrefix(text, "=="):
			chapters = append(chapters, chapter{name: strings.TrimSpace(text[2:])})
			now = &chapters[len(chapters)-1]
			now.lines = append(now.lines, line{text: text})
		case strings.HasPrefix(text, ">"):
			now.lines = append(now.lines, line{text: text, mode: text[1], words: SplitWords(t, text[2:])})
		case text == "" || strings.HasPrefix(text, "#"):
			now.lines = append(now.lines, line{text: text})
		default:
			last := &now.lines[len(now.lines)-1]
			last.reply = strings.TrimPrefix(last.reply+"\n"+text, "\n")
		}
	}
	return chapters
}

// SplitWords reads a command as the server reads an inline one.
func SplitWords(t testing.TB, text string) [][]byte {
	t.Helper()
	in := resp.NewReader(resp.Limits{})
	in.Fill(copy(in.Space(len(text)+2), text+"\r\n"))
	words, ok, err := in.Next()
	if err != nil || !ok {
		t.Fatalf("cannot read the command %q: %v", text, err)
	}
	var kept [][]byte
	for _, w := range words {
		kept = append(kept, bytes.Clone(w))
	}
	return kept
}

// show renders a reply to a command of the given mode.
func show(reply []byte, mode byte) string {
	switch mode {
	case '~':
		return inOneOrder(reply, 1)
	case '2':
		return inOneOrder(reply, 2)
	}
	return render(reply)
}

// conversationFiles are the oracle's files; none is a failure.
func conversationFiles(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no conversations in testdata: %v", err)
	}
	return names
}

// converse replays a chapter and reports where a reply is not the one in the
// file. same says which commands' replies count.
func converse(t *testing.T, s chapter, with talker, same func(mode byte) bool) {
	for _, l := range s.lines {
		if l.mode == 0 {
			continue
		}
		got := show(with.tell(t, l.words...), l.mode)
		if same(l.mode) && got != l.reply {
			t.Errorf("%s\n got %s\nwant %s", l.text, got, l.reply)
		}
	}
}

func TestRepliesAreThoseOfTheConversations(t *testing.T) {
	for _, name := range conversationFiles(t) {
		for _, s := range parseConversations(t, name) {
			t.Run(filepath.Base(name)+"/"+s.name, func(t *testing.T) {
				srv := New(openStore(t, firn.Options{Durability: firn.None}), Options{Debug: "yes"})
				converse(t, s, newOurs(t, srv), func(byte) bool { return true })
			})
		}
	}
}

// TestConversationsHoldHotAndCold: what a store has in memory, and what it has
// merged, changes no reply.
func TestConversationsHoldHotAndCold(t *testing.T) {
	for kind, o := range coldOptions {
		if (race.Enabled || testing.Short()) && kind != "both" {
			continue // the others take the same ways through the code
		}
		for _, name := range conversationFiles(t) {
			for _, s := range parseConversations(t, name) {
				t.Run(kind+"/"+filepath.Base(name)+"/"+s.name, func(t *testing.T) {
					converse(t, s, newOurs(t, New(openStore(t, o), Options{Debug: "yes"})), func(byte) bool { return true })
				})
			}
		}
	}
}

func TestConversationsAgreeWithRealRedis(t *testing.T) {
	connect := startRedis(t)
	for _, name := range conversationFiles(t) {
		chapters := parseConversations(t, name)
		if updating() {
			rewrite(t, name, chapters, connect)
			continue
		}
		for _, s := range chapters {
			t.Run(filepath.Base(name)+"/"+s.name, func(t *testing.T) {
				redis := connect()
				redis.tell(t, []byte("FLUSHALL"))
				converse(t, s, redis, func(mode byte) bool { return mode != '!' })
			})
		}
	}
}

// TestConversationsAgreeInProtocol3: replies whose type is another one in RESP3
// have Redis's type.
func TestConversationsAgreeInProtocol3(t *testing.T) {
	connect := startRedis(t)
	for _, name := range conversationFiles(t) {
		for _, s := range parseConversations(t, name) {
			if filepath.Base(name) == "pubsub.txt" {
				continue // what a client sends itself comes before the answer in Redis, and behind it here
			}
			t.Run(filepath.Base(name)+"/"+s.name, func(t *testing.T) {
				redis, firn := connect(), newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{Debug: "yes"}))
				redis.tell(t, []byte("FLUSHALL"))
				for _, who := range []talker{redis, firn} {
					who.tell(t, []byte("HELLO"), []byte("3"))
				}
				for _, l := range s.lines {
					if l.mode == 0 {
						continue
					}
					want, got := show(redis.tell(t, l.words...), l.mode), show(firn.tell(t, l.words...), l.mode)
					if l.mode != '!' && got != want {
						t.Errorf("%s\n got %s\nwant %s", l.text, got, want)
					}
				}
			})
		}
	}
}

// rewrite replaces the replies in a file by the real Redis's; where Firn
// differs on purpose, by Firn's.
func rewrite(t *testing.T, name string, chapters []chapter, connect func() *theirs) {
	var out strings.Builder
	for _, s := range chapters {
		redis := connect()
		redis.tell(t, []byte("FLUSHALL"))
		firn := newOurs(t, New(openStore(t, firn.Options{Durability: firn.None}), Options{Debug: "yes"}))
		for _, l := range s.lines {
			out.WriteString(l.text + "\n")
			if l.mode == 0 {
				continue
			}
			reply, mine := redis.tell(t, l.words...), firn.tell(t, l.words...)
			if l.mode == '!' {
				reply = mine
			}
			out.WriteString(show(reply, l.mode) + "\n")
		}
	}
	if err := os.WriteFile(name, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
