package redis

import "strings"

// category is a set of ACL categories, one bit each.
type category uint32

// The categories, in the order in which ACL CAT shows them.
const (
	catKeyspace category = 1 << iota
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

var categoryNames = [...]string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream",
	"pubsub", "admin", "fast", "slow", "blocking", "dangerous", "connection", "transaction", "scripting", "history",
}

// categoryNamed is the category of a name in any case; 0 if there is none.
func categoryNamed(name string) category {
	for i, n := range categoryNames {
		if strings.EqualFold(n, name) {
			return 1 << i
		}
	}
	return 0
}

// groupCategories are the categories that follow from a command's group.
var groupCategories = map[string]category{
	"generic": catKeyspace, "set": catSet, "sorted-set": catSortedSet, "list": catList, "hash": catHash, "string": catString,
	"bitmap": catBitmap, "hyperloglog": catHyperLogLog, "geo": catGeo, "stream": catStream, "pubsub": catPubSub,
	"connection": catConnection, "transactions": catTransaction, "scripting": catScripting, "history": catHistory,
}

// Commands whose categories do not follow from their flags and group alone.
// The names are containers or whole commands.
const (
	alsoKeyspace   = " dbsize flushall flushdb swapdb "
	alsoConnection = " command wait "
	alsoDangerous  = " flushall flushdb info keys restore role sort sort_ro swapdb latency replicaof slaveof "
	notKeyspace    = " sort sort_ro touch|help wait waitaof "
	sortsData      = " sort sort_ro "
)

func listed(list, name string) bool { return strings.Contains(list, " "+name+" ") }

// category is the set of categories that a command is in.
func (e *entry) category() category {
	if e.Run == nil {
		return catSlow // a container: its subcommands have their own
	}
	container, _, _ := strings.Cut(e.full, "|")
	all := groupCategories[e.Group]
	switch {
	case listed(sortsData, e.full):
		all = catSet | catSortedSet | catList
	case listed(notKeyspace, e.full):
		all = 0
	}
	if listed(alsoKeyspace, container) {
		all |= catKeyspace
	}
	if listed(alsoConnection, container) {
		all |= catConnection
	}
	if e.Name != "HELP" {
		all |= e.accessCategory()
	}
	if e.Flags&Admin != 0 {
		all |= catAdmin | catDangerous
	}
	if listed(alsoDangerous, container) && e.Name != "HELP" {
		all |= catDangerous
	}
	if e.Flags&Blocks != 0 {
		all |= catBlocking
	}
	if e.Flags&Fast != 0 {
		return all | catFast
	}
	return all | catSlow
}

// accessCategory tells readers of data from writers. A command is one of them
// if it gets data.
func (e *entry) accessCategory() category {
	switch {
	case e.Flags&Writes != 0:
		return catWrite
	case e.Flags&(Local|Admin) == 0 && e.Group != "transactions":
		return catRead
	}
	return 0
}

// commandSet is a set of commands, a bit for each by its number in the table.
type commandSet []uint64

func newCommandSet(n int) commandSet { return make(commandSet, (n+63)/64) }

func (s commandSet) has(e *entry) bool { return s[e.number/64]>>(e.number%64)&1 != 0 }

// put adds a command, or takes it out, with all its subcommands.
func (s commandSet) put(e *entry, in bool) {
	if in {
		s[e.number/64] |= 1 << (e.number % 64)
	} else {
		s[e.number/64] &^= 1 << (e.number % 64)
	}
	for _, sub := range e.sub {
		s.put(sub, in)
	}
}

func (s commandSet) clone() commandSet { return append(commandSet(nil), s...) }

// putCategory adds or takes out all commands of a category.
func (t *table) putCategory(s commandSet, c category, in bool) {
	for _, e := range t.numbered {
		if e.in&c != 0 {
			s.put(e, in)
		}
	}
}
