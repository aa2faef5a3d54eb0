package redis

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync/atomic"
)

// onWorker marks a read that is about the past, or that waits: it never runs
// on a goroutine that others depend on, neither a driver's nor the writer's.
const onWorker Flags = 1 << 31

// confirms marks a command whose replies are pushes: CLIENT REPLY OFF does not
// keep them back.
const confirms Flags = 1 << 30

// Commands is the table of all commands, sorted by name.
func Commands() []Command {
	all := slices.Concat(
		stringCommands, keyCommands, expiryCommands, scanCommands, hashCommands, databaseCommands,
		connectionCommands, clientCommands, transactionCommands, watchCommands,
		serverCommands, configCommands, commandCommands,
		atCommands, historyCommands, compactCommands, holdCommands, backupCommands,
		bitmapCommands, hyperLogLogCommands, lcsCommands,
		listCommands, setCommands, zsetCommands, geoCommands, streamCommands,
		lifetimeCommands, sortCommands, dumpCommands,
		pubsubCommands, monitorCommands,
		aclCommands, slowlogCommands, latencyCommands, memoryCommands, debugCommands, saveCommands, maintenanceCommands,
	)
	slices.SortFunc(all, func(a, b Command) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// MaxArgs is the most arguments that the command takes after its name;
// negative: any number.
func (c *Command) MaxArgs() int {
	if c.Max == 0 {
		return c.Min
	}
	return c.Max
}

// entry is a command in a server's table, with what is counted about it.
type entry struct {
	Command
	full  string    // lower case, after its container's: "client|id"
	sub   []*entry  // sorted by name
	specs []keySpec // where its keys are

	number int      // in table.numbered
	in     category // what category says

	calls, rejected, failed atomic.Int64
	sampled, sampledNS      atomic.Int64              // calls that were timed, and their time
	spread                  atomic.Pointer[histogram] // of those; nil: none was
}

// table finds commands by name. It is immutable but for the counters.
type table struct {
	byName   map[string]*entry
	sorted   []*entry
	numbered []*entry // containers, their subcommands and all others
}

func newTable(commands []Command) *table {
	t := &table{byName: make(map[string]*entry, len(commands))}
	for _, c := range commands {
		e := newEntry(c, "")
		t.byName[c.Name] = e
		t.sorted = append(t.sorted, e)
		t.enumerate(e)
	}
	return t
}

// enumerate gives a command and its subcommands their numbers.
func (t *table) enumerate(e *entry) {
	e.number, e.in = len(t.numbered), e.category()
	t.numbered = append(t.numbered, e)
	for _, sub := range e.sub {
		t.enumerate(sub)
	}
}

func newEntry(c Command, container string) *entry {
	e := &entry{Command: c, full: container + strings.ToLower(c.Name)}
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
		e.sub = append(e.sub, newEntry(sub, e.full+"|"))
	}
	e.specs = keySpecsOf(e)
	return e
}

// maxNameBytes is above the longest name in the table.
const maxNameBytes = 32

// find is the command of a name in any case; nil if there is none.
func (t *table) find(name []byte) *entry {
	var upper [maxNameBytes]byte
	if len(name) > len(upper) {
		return nil
	}
	for i, c := range name {
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		upper[i] = c
	}
	return t.byName[string(upper[:len(name)])]
}

// findSub is the subcommand of a name in any case; nil if there is none.
func (e *entry) findSub(name []byte) *entry {
	for _, sub := range e.sub {
		if len(name) == len(sub.Name) && bytes.EqualFold(name, []byte(sub.Name)) {
			return sub
		}
	}
	return nil
}

// lookup finds the command that words name, and its arguments; nil if there
// is none.
func (t *table) lookup(words [][]byte) (*entry, [][]byte) {
	e := t.find(words[0])
	if e == nil || len(e.sub) == 0 || len(words) == 1 {
		return e, words[1:]
	}
	return e.findSub(words[1]), words[2:]
}

// resolve is lookup that checks the number of arguments as well. The command
// is returned with an arity error, too.
func (t *table) resolve(words [][]byte) (*entry, [][]byte, error) {
	e, args := t.lookup(words)
	if e == nil {
		if container := t.find(words[0]); container != nil {
			return nil, nil, unknownSubcommand(container.Name, words[1])
		}
		return nil, nil, unknownCommand(words)
	}
	most := e.MaxArgs()
	if len(args) < e.Min || most >= 0 && len(args) > most || e.Run == nil {
		return e, nil, wrongArity(e.full)
	}
	return e, args, nil
}

func (e *entry) resetCounters() {
	for _, n := range []*atomic.Int64{&e.calls, &e.rejected, &e.failed, &e.sampled, &e.sampledNS} {
		n.Store(0)
	}
	e.spread.Store(nil)
}

// helpFor answers a container's HELP from its table.
func helpFor(c *Command) func(*Call) error {
	return func(call *Call) error {
		lines := []string{c.Name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"}
		for _, sub := range c.Sub {
			lines = append(lines, strings.TrimSpace(sub.Name+" "+sub.Args), "    "+sub.Summary)
		}
		return replyLines(call, lines)
	}
}

// replyLines replies a text.
func replyLines(c *Call, lines []string) error {
	c.Reply.Array(len(lines))
	for _, line := range lines {
		c.Reply.Simple(line)
	}
	return nil
}

// help is the HELP entry of a container.
var help = Command{Name: "HELP", Flags: Local, Since: "5.0.0", Complexity: "O(1)", Summary: "Prints this help."}
