package command

import "strings"

// Category is a set of ACL categories, one bit each.
type Category uint32

// The categories, in the order in which ACL CAT shows them.
const (
	CatKeyspace Category = 1 << iota
	CatRead
	CatWrite
	CatSet
	CatSortedSet
	CatList
	CatHash
	CatString
	CatBitmap
	CatHyperLogLog
	CatGeo
	CatStream
	CatPubSub
	CatAdmin
	CatFast
	CatSlow
	CatBlocking
	CatDangerous
	CatConnection
	CatTransaction
	CatScripting
	CatHistory // Firn's own
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
	"generic": CatKeyspace, "set": CatSet, "sorted-set": CatSortedSet, "list": CatList, "hash": CatHash, "string": CatString,
	"bitmap": CatBitmap, "hyperloglog": CatHyperLogLog, "geo": CatGeo, "stream": CatStream, "pubsub": CatPubSub,
	"connection": CatConnection, "transactions": CatTransaction, "scripting": CatScripting, "history": CatHistory,
}

// Category is the set of categories that a command is in. A container that
// cannot be run itself is slow, and no more.
func (e *Entry) Category() Category {
	if e.Run == nil {
		return CatSlow
	}
	all := e.Categories
	if all == 0 {
		all = groupCategories[e.Group]
	}
	for _, c := range []struct {
		on bool
		in Category
	}{
		{e.Flags&(Writes|RunsScript) == Writes, CatWrite},
		{e.reads() && e.Flags&(RunsScript|ReadsNoKeys) == 0, CatRead},
		{e.Flags&Admin != 0, CatAdmin | CatDangerous},
		{e.Flags&Fast != 0, CatFast},
		{e.Flags&Fast == 0, CatSlow},
		{e.Flags&Blocks != 0, CatBlocking},
	} {
		if c.on {
			all |= c.in
		}
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
func (t *Registry) PutCategory(s CommandSet, c Category, in bool) {
	for _, e := range t.Numbered {
		if e.In&c != 0 {
			s.Put(e, in)
		}
	}
}
