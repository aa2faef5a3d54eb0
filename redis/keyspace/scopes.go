package keyspace

import (
	"strconv"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/pack"
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

// Home is the database that a keyspace was made for.
func (u UID) Home() int64 { return u.N % maxDatabases }

// nextKeyspace names the keyspace that replaces u in a transaction at ts.
func (u UID) nextKeyspace(ts firn.Timestamp) UID {
	if u.TS == ts {
		return UID{ts, u.N + maxDatabases}
	}
	return UID{ts, u.Home()}
}

// Group is the name of a keyspace's group.
func (u UID) Group() string { return strconv.FormatInt(u.Home(), 10) }

// KeyScope is the scope of a key document, or, for a prefix of its id, the
// group.
func KeyScope(id string) firn.Scope {
	ts, rest, err := tuple.TakeInt(id)
	if err != nil {
		return firn.Scope{}
	}
	n, rest, err := tuple.TakeInt(rest)
	if err != nil {
		return firn.Scope{}
	}
	scope := firn.Scope{Group: UID{firn.Timestamp(ts), n}.Group()}
	if key, _, err := tuple.TakeString(rest); err == nil {
		scope.Member = key
	}
	return scope
}

// keyMeets says whether a range of key ids can have a key. A group has a
// keyspace for each time that its database was flushed; a range beyond one of
// them may have any key.
func keyMeets(scope firn.Scope, from, to string) bool {
	n, ok := tuple.PrefixLen(from, 2)
	if !ok || to == "" || to > string(tuple.PrefixEnd([]byte(from[:n]))) {
		return true
	}
	id := string(tuple.AppendString([]byte(from[:n]), scope.Member))
	return from <= id && id < to
}

// ownedByDatabase is the keyspace that a database shows: without a document,
// the one that it was born with.
func ownedByDatabase(id string, value []byte, own func(table string, prefix []byte)) {
	space := UID{}
	if value == nil {
		n, _, err := tuple.TakeInt(id)
		if err != nil {
			return
		}
		space.N = n
	} else {
		d := pack.Decoder{B: value}
		d.Expect(0x93)
		if space = (UID{firn.Timestamp(d.Int()), d.Int()}); d.Bad {
			return
		}
	}
	own(KeysTable, AppendUID(nil, space))
}

// ownedByKey is the documents of a key's collection.
func ownedByKey(_ string, value []byte, own func(table string, prefix []byte)) {
	if value == nil {
		return
	}
	d := pack.Decoder{B: value}
	keyDocHeader(&d)
	form := d.Byte()
	d.Str()
	for range 4 { // version, times, length
		d.Int()
	}
	u := UID{firn.Timestamp(d.Int()), d.Int()}
	if d.Bad || u == (UID{}) {
		return
	}
	prefix := AppendUID(nil, u)
	for _, table := range elementTableNames(Kind(form & 0x0f)) {
		own(table, prefix)
	}
}
