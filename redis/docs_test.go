package redis

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firndb/firn/redis/command"
)

// docs/commands.md is made from the command table: UPDATE=1 writes it.

const commandsPage = "../docs/commands.md"

func TestCommandsPageFollowsFromTheTable(t *testing.T) {
	want := markdown(Commands())
	if updating() {
		if err := os.WriteFile(commandsPage, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatalf("%v: run the tests with UPDATE=1", err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the command table says: run the tests with UPDATE=1", commandsPage)
	}
}

// markdown is the command table as a page.
func markdown(commands []command.Command) string {
	groups := []struct{ name, title string }{
		{"history", "History: Firn's own"}, {"string", "Strings"}, {"bitmap", "Bitmaps"}, {"hyperloglog", "HyperLogLog"},
		{"hash", "Hashes"}, {"list", "Lists"}, {"set", "Sets"}, {"sorted-set", "Sorted sets"}, {"geo", "Geo"}, {"stream", "Streams"}, {"generic", "Keys"},
		{"pubsub", "Publish and subscribe"}, {"transactions", "Transactions"}, {"scripting", "Scripting"}, {"connection", "Connection"}, {"server", "Server"}, {"cluster", "Cluster"},
	}
	var page strings.Builder
	page.WriteString("# Commands\n\nWhat Firn understands, made from its command table. Where nothing else is said a command\n" +
		"does what it does in Redis 7.0, to the byte of its reply; `AT` runs any command that is\nmarked *read* as of a moment of the past. *Since* is the version of Redis that brought a\n" +
		"command, and of Firn for its own; *cost* is what it takes here. What all commands have in common, and\n" +
		"what Redis has and Firn has not, is in [compatibility.md](compatibility.md).\n")
	for _, g := range groups {
		fmt.Fprintf(&page, "\n## %s\n\n| command | | since | what it does | cost |\n|---|---|---|---|---|\n", g.title)
		for i := range commands {
			if commands[i].Group == g.name {
				writeRows(&page, "", &commands[i])
			}
		}
	}
	return page.String()
}

func writeRows(page *strings.Builder, container string, c *command.Command) {
	subs := slices.Clone(c.Sub)
	slices.SortFunc(subs, func(a, b command.Command) int { return cmp.Compare(a.Name, b.Name) })
	if c.Run != nil {
		kind := "read"
		switch {
		case c.Flags&command.Writes != 0:
			kind = "write"
		case c.Flags&(command.Local|command.NoQueue|command.OnWorker) != 0:
			kind = ""
		}
		text := c.Summary
		if c.Differs != "" {
			text += " *Differs:* " + c.Differs
		}
		syntax := strings.TrimSpace(container + c.Name + " " + c.Args)
		fmt.Fprintf(page, "| `%s` | %s | %s | %s | %s |\n", tableCell(syntax), kind, c.Since, tableCell(text), tableCell(c.Complexity))
	}
	for i := range subs {
		writeRows(page, c.Name+" ", &subs[i])
	}
}

// tableCell is a text inside a table.
func tableCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// otherDialect is how Redis writes costs: O(N) where N is the number of them.
var otherDialect = regexp.MustCompile(`O\([^)]*[A-Z]|where|number of`)

// TestTheTableIsWhole: what follows from an entry needs the entry.
func TestTheTableIsWhole(t *testing.T) {
	var check func(container string, c *command.Command)
	check = func(container string, c *command.Command) {
		name := container + c.Name
		if c.Name != strings.ToUpper(c.Name) || len(c.Name) > command.MaxNameBytes {
			t.Errorf("%s: the name is not upper case, or too long", name)
		}
		if c.Summary == "" || !strings.HasSuffix(c.Summary, ".") || c.Since == "" || c.Run != nil && c.Complexity == "" || container == "" && c.Group == "" {
			t.Errorf("%s: summary %q, since %q, complexity %q, group %q: none may be empty, and a summary is a sentence",
				name, c.Summary, c.Since, c.Complexity, c.Group)
		}
		if otherDialect.MatchString(c.Complexity) {
			t.Errorf("%s: complexity %q: want it like O(n), n the elements", name, c.Complexity)
		}
		if c.Run == nil && len(c.Sub) == 0 && c.Name != "HELP" {
			t.Errorf("%s: nothing runs it", name)
		}
		if c.MaxArgs() >= 0 && c.MaxArgs() < c.Min {
			t.Errorf("%s: between %d and %d arguments", name, c.Min, c.MaxArgs())
		}
		if c.Flags&command.Local != 0 && c.Flags&command.Writes != 0 {
			t.Errorf("%s: local and a write", name)
		}
		for i := range c.Sub {
			check(c.Name+" ", &c.Sub[i])
		}
	}
	commands := Commands()
	for i := range commands {
		check("", &commands[i])
		if i > 0 && commands[i].Name == commands[i-1].Name {
			t.Errorf("%s is there twice", commands[i].Name)
		}
	}
	page := markdown(commands)
	for i := range commands {
		if commands[i].Run != nil && !strings.Contains(page, "`"+commands[i].Name) {
			t.Errorf("%s: its group %q is not on the page", commands[i].Name, commands[i].Group)
		}
	}
}

func TestEveryCommandHasArgumentsToTell(t *testing.T) {
	var look func(name string, c *command.Command)
	look = func(name string, c *command.Command) {
		if n := len(command.ParseArguments(c.Args)); (n == 0) != (c.Args == "") {
			t.Errorf("%s: %d arguments in %q", name, n, c.Args)
		}
		for i := range c.Sub {
			look(name+" "+c.Sub[i].Name, &c.Sub[i])
		}
	}
	commands := Commands()
	for i := range commands {
		look(commands[i].Name, &commands[i])
	}
}
