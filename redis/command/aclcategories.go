package command

import (
	"slices"
	"strings"
)

// Category is a set of ACL categories, one bit each.
type Category uint32

// The categories, in the order in which ACL CAT shows them.
const (
	catKeyspace Category = 1 << iota
	catRead
	catWrite
	catSet
	catSortedSet
	catList
	catHash
	catString
	catBitmap
	catHyperLogLog
	catGeo
	catStream
	catPubSub
	catAdmin
	catFast
	catSlow
	catBlocking
	catDangerous
	catConnection
	catTransaction
	catScripting
	catHistory // Firn's own
)

var CategoryNames = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
	"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "history",
}

// CategoryNamed is the category of a name in any case; 0 if there is none.
func CategoryNamed(name string) Category {
	for i, n := range CategoryNames {
		if strings.EqualFold(n, name) {
			return 1 << i
		}
	}
	return 0
}

// groupCategories are the categories that follow from a command's group.
var groupCategories = map[string]Category{
	"generic": catKeyspace, "set": catSet, "sorted-set": catSortedSet, "list": catList, "hash": catHash, "string": catString,
	"bitmap": catBitmap, "hyperloglog": catHyperLogLog, "geo": catGeo, "stream": catStream, "pubsub": catPubSub,
	"connection": catConnection, "transactions": catTransaction, "scripting": catScripting, "history": catHistory,
}

// outOfGroup are commands that have not the category of their group.
const outOfGroup = "sort sort_ro wait waitaof pubsub|help"

// moreCategories are the categories that commands have beside those which
// follow from their flags and group.
var moreCategories = []factList{
	{"connection", "command command|* command|help wait"},
	{"keyspace", "dbsize flushall flushdb swapdb"},
	{"dangerous", "flushall flushdb info keys lastsave restore role sort sort_ro swapdb"},
	{"admin", "lastsave role"},
	{"set", "sort sort_ro"},
	{"sortedset", "sort sort_ro"},
	{"list", "sort sort_ro"},
}

// Category is the set of categories that a command is in. A container that
// cannot be run itself is slow, and no more.
func (e *Entry) Category() Category {
	if e.Run == nil {
		return catSlow
	}
	var all Category
	if !slices.Contains(strings.Fields(outOfGroup), e.Full) {
		all = groupCategories[e.Group]
	}
	for _, c := range []struct {
		on bool
		in Category
	}{
		{e.Flags&Writes != 0, catWrite},
		{e.reads(), catRead},
		{e.Flags&Admin != 0, catAdmin | catDangerous},
		{e.Flags&Fast != 0, catFast},
		{e.Flags&Fast == 0, catSlow},
		{e.Flags&Blocks != 0, catBlocking},
	} {
		if c.on {
			all |= c.in
		}
	}
	for _, name := range categoryFacts().Of(e) {
		all |= CategoryNamed(name)
	}
	return all
}

// Names are the categories as COMMAND INFO shows them.
func (c Category) Names() []string {
	var names []string
	for i, name := range CategoryNames {
		if c>>i&1 != 0 {
			names = append(names, "@"+name)
		}
	}
	return names
}

// CommandSet is a set of commands, a bit for each by its number in the table.
type CommandSet []uint64

func NewCommandSet(n int) CommandSet { return make(CommandSet, (n+63)/64) }

func (s CommandSet) Has(e *Entry) bool { return s[e.number/64]>>(e.number%64)&1 != 0 }

// Put adds a command, or takes it out, with all its subcommands.
func (s CommandSet) Put(e *Entry, in bool) {
	if in {
		s[e.number/64] |= 1 << (e.number % 64)
	} else {
		s[e.number/64] &^= 1 << (e.number % 64)
	}
	for _, sub := range e.Sub {
		s.Put(sub, in)
	}
}

func (s CommandSet) Clone() CommandSet { return append(CommandSet(nil), s...) }

// PutCategory adds or takes out all commands of a category.
func (t *Table) PutCategory(s CommandSet, c Category, in bool) {
	for _, e := range t.Numbered {
		if e.In&c != 0 {
			s.Put(e, in)
		}
	}
}
