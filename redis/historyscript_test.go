package redis

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/schema"
)

// What was, as clients see it.
//
// testdata/histories/*.txt are conversations like those in testdata, with a
// clock: the n-th command of a chapter runs n seconds after its beginning, and
// t<n> is that moment, in commands and in replies; t<n>ms is one in
// milliseconds, and @t<n> its token. A chapter whose name ends with "in protocol 3" is held in it.
// SWEEP ends what has expired. PASS is COMPACT without its figures: what a
// policy that is set makes the compactor forget at once depends on its haste.
// UPDATE=1 rewrites the replies from ours.

var (
	momentWord  = regexp.MustCompile(`^t(\d+)(ms)?$`)
	tokenShown  = regexp.MustCompile(`@[-\w]{32}`)
	momentShown = regexp.MustCompile(`\b1767323\d{3}(\d{3}){1,2}\b`)
)

// narrator holds the conversations of a chapter.
type narrator struct {
	*ours
	sweeper *keyspace.Sweeper
	clock   *fakeClock
	began   time.Time
}

func newNarrator(t *testing.T, o firn.Options, title string) *narrator {
	t.Helper()
	n := &narrator{clock: newFakeClock()}
	n.began = n.clock.now()
	o.Now, o.Durability = n.clock.now, firn.None
	n.ours = newOurs(t, New(openStore(t, o), Options{Now: n.clock.now}))
	n.sweeper = keyspace.NewSweeper(n.Store)
	if strings.HasSuffix(title, "in protocol 3") {
		n.Run(t, "HELLO 3")
	}
	return n
}

// answer runs the next command of a chapter and renders its reply.
func (n *narrator) answer(t *testing.T, l *line) string {
	t.Helper()
	n.clock.advance(time.Second)
	if string(l.words[0]) == "SWEEP" {
		if err := n.sweeper.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		return "swept"
	}
	if string(l.words[0]) == "PASS" {
		if reply := string(n.tell(t, []byte("COMPACT"))); reply[0] == '-' {
			return reply
		}
		return "passed"
	}
	words := make([][]byte, len(l.words))
	for i, word := range l.words {
		words[i] = word
		token := bytes.HasPrefix(word, []byte("@t"))
		if m := momentWord.FindStringSubmatch(strings.TrimPrefix(string(word), "@")); m != nil {
			seconds, _ := strconv.Atoi(m[1])
			at := n.began.Add(time.Duration(seconds) * time.Second)
			words[i] = strconv.AppendInt(nil, at.UnixMicro(), 10)
			if m[2] != "" {
				words[i] = strconv.AppendInt(nil, at.UnixMilli(), 10)
			}
			if token {
				words[i] = []byte(n.Store.Token(schema.TimestampOf(at)))
			}
		}
	}
	reply := tokenShown.ReplaceAllStringFunc(render(n.tell(t, words...)), func(text string) string {
		token, err := journal.ParseToken(text)
		if err != nil {
			t.Error(err)
		}
		return "@" + n.moment(strconv.FormatInt(int64(token.TS), 10))
	})
	return momentShown.ReplaceAllStringFunc(reply, n.moment)
}

// moment names a number that is one, unless it is odd.
func (n *narrator) moment(text string) string {
	number, _ := strconv.ParseInt(text, 10, 64)
	at, unit := time.UnixMicro(number), ""
	if len(text) < 16 {
		at, unit = time.UnixMilli(number), "ms"
	}
	if past := at.Sub(n.began); past%time.Second == 0 {
		return fmt.Sprintf("t%d%s", past/time.Second, unit)
	} else if rest := past % time.Second; rest < time.Millisecond {
		return fmt.Sprintf("t%d+%d", past/time.Second, rest.Microseconds())
	}
	return text
}

func TestHistoriesAreThoseOfTheFiles(t *testing.T) {
	names, err := filepath.Glob("testdata/histories/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, name := range names {
		chapters := parseConversations(t, name)
		if updating() {
			rewriteHistories(t, name, chapters)
			continue
		}
		for kind, o := range historyOptions() {
			if testing.Short() && kind != "both" {
				continue // the others take the same ways through the code
			}
			for _, s := range chapters {
				t.Run(kind+"/"+filepath.Base(name)+"/"+s.name, func(t *testing.T) {
					n := newNarrator(t, o, s.name)
					for _, l := range s.lines {
						if l.mode == 0 {
							continue
						}
						if got := n.answer(t, &l); got != l.reply {
							t.Errorf("%s\n got %s\nwant %s", l.text, got, l.reply)
						}
					}
				})
			}
		}
	}
}

// historyOptions are what changes no reply: what is in memory, and what is
// merged.
func historyOptions() map[string]firn.Options {
	all := map[string]firn.Options{"hot": {}}
	for kind, o := range coldOptions {
		all[kind] = o
	}
	return all
}

func rewriteHistories(t *testing.T, name string, chapters []chapter) {
	t.Helper()
	var out strings.Builder
	for _, s := range chapters {
		n := newNarrator(t, firn.Options{}, s.name)
		for _, l := range s.lines {
			out.WriteString(l.text + "\n")
			if l.mode != 0 {
				out.WriteString(n.answer(t, &l) + "\n")
			}
		}
	}
	if err := os.WriteFile(name, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
