package redis

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/firndb/firn/redis/command"
)

// The section of docs/live.md on what wakes a query is made from the command
// table: UPDATE=1 writes it.

const (
	livePage    = "../docs/live.md"
	liveHeading = "## What wakes a query\n"
)

func TestWhatWakesAQueryFollowsFromTheTable(t *testing.T) {
	page, err := os.ReadFile(livePage)
	if err != nil {
		t.Fatal(err)
	}
	before, section, found := strings.Cut(string(page), liveHeading)
	section, after, more := strings.Cut(section, "\n## ")
	if more {
		after = "\n## " + after
	}
	want := wakesSection(command.NewRegistry(Commands()))
	if updating() {
		if !found {
			before = strings.TrimRight(before, "\n") + "\n\n"
		}
		if err := os.WriteFile(livePage, []byte(before+liveHeading+want+after), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !found || section != want {
		t.Errorf("%s is not what the command table says: run the tests with UPDATE=1", livePage)
	}
}

const wakesIntroduction = `
A query is run again when a commit has changed something that it has read, and pushed if its reply is another one. What it has read
is known more or less exactly. It may be run for nothing, which nobody sees but ` + "`live_false_wakes`" + ` of INFO; it is never forgotten.

- Every key that a command names is read, or that it is not there: the first write that makes it wakes.
- A key that ends, and a hash's field that does, wakes at that moment, as a write would. So does whatever makes that later or earlier.
- FLUSHDB, FLUSHALL and SWAPDB wake all queries of their databases, in whatever key.
- Of a transaction (` + "`LIVE id MULTI`" + `) each command wakes all of it.

These commands know what they depend on. Other elements of the same key do not wake them.

| command | what wakes it, beside the key's coming, going, ending and becoming another one |
|---|---|
`

// wakesSection is the section below its heading.
func wakesSection(commands *command.Registry) string {
	var text, exact strings.Builder
	var whole []string
	refused := map[string][]string{}
	commands.Each(func(e *command.Entry) {
		name := "`" + strings.ToUpper(strings.ReplaceAll(e.Full, "|", " ")) + "`"
		switch {
		case e.ReadsKeys() && e.Live.Refused != "":
			refused[e.Live.Refused] = append(refused[e.Live.Refused], name)
		case e.MayLive() != nil:
		case e.Live.What != "":
			fmt.Fprintf(&exact, "| %s | %s |\n", name, e.Live.What)
		default:
			whole = append(whole, name)
		}
	})
	text.WriteString(wakesIntroduction)
	text.WriteString(exact.String())
	text.WriteString("\nThese are woken by any write to their keys:\n" + wrapped(whole))
	text.WriteString("\nThese are refused, for no commit says when their replies change:\n")
	for _, why := range []string{command.LiveChance, command.LiveCursors, command.LiveClock} {
		text.WriteString("\n- " + why + ":\n" + wrapped(refused[why]))
	}
	text.WriteString("\nWho wants to know when a key ends follows `PEXPIRETIME`, which tells the moment, or `EXISTS`.\n")
	return text.String()
}

// wrapped is names in lines of at most 120 bytes.
func wrapped(names []string) string {
	var text strings.Builder
	line := ""
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if len(line)+len(name) > 120 {
			text.WriteString(strings.TrimRight(line, " ") + "\n")
			line = ""
		}
		line += name + " "
	}
	text.WriteString(strings.TrimRight(line, " ") + ".\n")
	return text.String()
}
