package redis

import (
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Whose history a document's is: a key is a member, its database the group.
// What a key owns goes with it, and what shows a keyspace is kept as long as
// any key that was in it.
//
// The group is the database that the keyspace was made for, which its uid
// tells: FLUSHDB keeps it, and SWAPDB takes the policies of a database along
// with its keys.

// maxDatabases bounds the number of a database.
const maxDatabases = 1 << 20

// home is the database that a keyspace was made for.
func (u uid) home() int64 { return u.N % maxDatabases }

// nextKeyspace names the keyspace that replaces u in a transaction at ts.
func (u uid) nextKeyspace(ts firn.Timestamp) uid {
	if u.TS == ts {
		return uid{ts, u.N + maxDatabases}
	}
	return uid{ts, u.home()}
}

// group is the name of a keyspace's group.
func (u uid) group() string { return strconv.FormatInt(u.home(), 10) }

// keyScope is the scope of a key document, or, for a prefix of its id, the
// group.
func keyScope(id string) firn.Scope {
	ts, rest, err := tuple.TakeInt(id)
	if err != nil {
		return firn.Scope{}
	}
	n, rest, err := tuple.TakeInt(rest)
	if err != nil {
		return firn.Scope{}
	}
	scope := firn.Scope{Group: uid{firn.Timestamp(ts), n}.group()}
	if key, _, err := tuple.TakeString(rest); err == nil {
		scope.Member = key
	}
	return scope
}

// ownedByDatabase is the keyspace that a database shows: without a document,
// the one that it was born with.
func ownedByDatabase(id string, value []byte, own func(table string, prefix []byte)) {
	space := uid{}
	if value == nil {
		n, _, err := tuple.TakeInt(id)
		if err != nil {
			return
		}
		space.N = n
	} else {
		d := decoder{b: value}
		d.expect(0x93)
		if space = (uid{firn.Timestamp(d.int()), d.int()}); d.bad {
			return
		}
	}
	own(keysTable, appendUID(nil, space))
}

// ownedByKey is the documents of a key's collection.
func ownedByKey(_ string, value []byte, own func(table string, prefix []byte)) {
	if value == nil {
		return
	}
	d := decoder{b: value}
	d.expect(0x90 | keyDocElements)
	form := d.byte()
	d.str()
	for range 4 { // version, times, length
		d.int()
	}
	u := uid{firn.Timestamp(d.int()), d.int()}
	if d.bad || u == (uid{}) {
		return
	}
	prefix := appendUID(nil, u)
	for _, table := range elementTableNames(kind(form & 0x0f)) {
		own(table, prefix)
	}
}

// elementTables are the tables of elementTableNames.
func (t *catalog) elementTables(k kind) []*firn.Table {
	if int(k) >= len(t.byKind) {
		return nil
	}
	return t.byKind[k]
}

// elementTableNames are the tables that have documents of a collection of a
// kind. Their ids begin with its uid.
func elementTableNames(k kind) []string {
	switch k {
	case kindHash:
		return []string{elementsTable, lifetimesTable}
	case kindList, kindSet:
		return []string{elementsTable}
	case kindZSet:
		return []string{scoresTable}
	case kindStream:
		return []string{elementsTable, groupsTable}
	}
	return nil
}
