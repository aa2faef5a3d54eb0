package command

import (
	"bytes"
	"strings"
	"sync/atomic"
)

// OnWorker marks a read that is about the past, or that waits: it never runs
// on a goroutine that others depend on, neither a driver's nor the writer's.
const OnWorker Flags = 1 << 31

// Confirms marks a command whose replies are pushes: CLIENT REPLY OFF does not
// keep them back.
const Confirms Flags = 1 << 30

// ReadsNoKeys marks a read of documents that are no keys: COMMAND INFO and ACL
// categories do not tell that it is one.
const ReadsNoKeys Flags = 1 << 29

// MaxArgs is the most arguments that the command takes after its name;
// negative: any number.
func (c *Command) MaxArgs() int {
	if c.Max == 0 {
		return c.Min
	}
	return c.Max
}

// Entry is a command in a server's table, with what is counted about it.
type Entry struct {
	Command
	Full  string    // lower case, after its container's: "client|id"
	Sub   []*Entry  // sorted by name
	Specs []KeySpec // where its keys are

	number int // in table.numbered
	In     Category

	Calls, Rejected, Failed atomic.Int64
	sampled, sampledNS      atomic.Int64              // calls that were timed, and their time
	Spread                  atomic.Pointer[histogram] // of those; nil: none was
}

// Registry finds commands by name. It is immutable but for the counters.
type Registry struct {
	ByName   map[string]*Entry
	Sorted   []*Entry
	Numbered []*Entry // containers, their subcommands and all others
}

func NewRegistry(commands []Command) *Registry {
	t := &Registry{ByName: make(map[string]*Entry, len(commands))}
	for _, c := range commands {
		e := NewEntry(c, "")
		t.ByName[c.Name] = e
		t.Sorted = append(t.Sorted, e)
		t.enumerate(e)
	}
	return t
}

// enumerate gives a command and its subcommands their numbers.
func (t *Registry) enumerate(e *Entry) {
	e.number = len(t.Numbered)
	t.Numbered = append(t.Numbered, e)
	for _, sub := range e.Sub {
		t.enumerate(sub)
	}
}

func NewEntry(c Command, container string) *Entry {
	e := &Entry{Command: c, Full: container + strings.ToLower(c.Name)}
	if e.Operation == "" {
		e.Operation = c.Name
	}
	for _, sub := range c.Sub {
		if sub.Group == "" {
			sub.Group = c.Group
		}
		if sub.Run == nil {
			sub.Run = helpFor(&c)
		}
		e.Sub = append(e.Sub, NewEntry(sub, e.Full+"|"))
	}
	e.Specs = c.Keys.within(e.depth())
	e.In = e.Category()
	return e
}

// MaxNameBytes is above the longest name in the table.
const MaxNameBytes = 32

// find is the command of a name in any case; nil if there is none.
func (t *Registry) find(name []byte) *Entry {
	var upper [MaxNameBytes]byte
	if len(name) > len(upper) {
		return nil
	}
	for i, c := range name {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	return t.ByName[string(upper[:len(name)])]
}

// findSub is the subcommand of a name in any case; nil if there is none.
func (e *Entry) findSub(name []byte) *Entry {
	for _, sub := range e.Sub {
		if len(name) == len(sub.Name) && bytes.EqualFold(name, []byte(sub.Name)) {
			return sub
		}
	}
	return nil
}

// Each calls fn for every command that can be run, subcommands included.
func (t *Registry) Each(fn func(*Entry)) {
	for _, e := range t.Numbered {
		if e.Run != nil {
			fn(e)
		}
	}
}

// Named is the entry of a name such as "get" or "client|id"; nil if unknown.
func (t *Registry) Named(name []byte) *Entry {
	for i, c := range name {
		if c != '|' {
			continue
		}
		if e := t.find(name[:i]); e != nil {
			return e.findSub(name[i+1:])
		}
	}
	return t.find(name)
}

// lookup finds the command that words name, and its arguments; nil if there
// is none.
func (t *Registry) lookup(words [][]byte) (*Entry, [][]byte) {
	e := t.find(words[0])
	if e == nil || len(e.Sub) == 0 || len(words) == 1 {
		return e, words[1:]
	}
	return e.findSub(words[1]), words[2:]
}

// Resolve is lookup that checks the number of arguments as well. The command
// is returned with an arity error, too.
func (t *Registry) Resolve(words [][]byte) (*Entry, [][]byte, error) {
	e, args := t.lookup(words)
	if e == nil {
		if container := t.find(words[0]); container != nil {
			return nil, nil, unknownSubcommand(container.Name, words[1])
		}
		return nil, nil, unknownCommand(words)
	}
	most := e.MaxArgs()
	if len(args) < e.Min || most >= 0 && len(args) > most || e.Run == nil {
		return e, nil, wrongArity(e.Full)
	}
	return e, args, nil
}

// Arity is Redis's: the number of words, negative if it is the fewest.
func (e *Entry) Arity() int {
	n := e.Min + 1 + e.depth()
	if e.Run == nil {
		return -2
	}
	if e.MaxArgs() != e.Min || len(e.Sub) > 0 {
		return -n
	}
	return n
}

func (e *Entry) ResetCounters() {
	for _, n := range []*atomic.Int64{&e.Calls, &e.Rejected, &e.Failed, &e.sampled, &e.sampledNS} {
		n.Store(0)
	}
	e.Spread.Store(nil)
}

// helpFor answers a container's HELP from its table.
func helpFor(c *Command) func(*Call) error {
	return func(call *Call) error {
		lines := []string{c.Name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
		for _, sub := range c.Sub {
			lines = append(lines, strings.TrimSpace(sub.Name+" "+sub.Args), "    "+sub.Summary)
		}
		return ReplyLines(call, lines)
	}
}

// ReplyLines replies a text.
func ReplyLines(c *Call, lines []string) error {
	c.Reply.Array(len(lines))
	for _, line := range lines {
		c.Reply.Simple(line)
	}
	return nil
}

// HelpWith is Help in words of its own: the lines between the first and those of
// HELP itself. With categories other than 0 these are its ACL categories.
func HelpWith(categories Category, text string) Command {
	c := Help
	c.Categories = categories
	c.Run = func(call *Call) error {
		container, _, _ := strings.Cut(call.Cmd.Full, "|")
		return ReplyLines(call, HelpLines(strings.ToUpper(container), text))
	}
	return c
}

// HelpLines are a container's HELP, with the first line and the last two around
// the text.
func HelpLines(container, text string) []string {
	lines := []string{container + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
	lines = append(lines, strings.Split(strings.Trim(text, "\n"), "\n")...)
	return append(lines, Help.Name, "    "+Help.Summary)
}

// Help is the HELP entry of a container.
var Help = Command{Name: "HELP", Flags: Local | Loading | Stale, Since: "5.0.0", Complexity: "O(1)", Summary: "Prints this help."}
