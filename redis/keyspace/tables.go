package keyspace

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Tables is what a store must declare to be served: pass it as
// firn.Options.Tables.
//
//	table      id                              value
//	databases  (number)                        which keyspace the database shows
//	keys       (keyspace uid, key)             the key document, see KeyDoc
//	elements   (collection uid, sub-key)       a hash's field: its value; a set's
//	                                           member: nothing; a list's position:
//	                                           the item; a stream's entry
//	scores     (collection uid, member)        a sorted set's member: its score
//	groups     (collection uid, …)             a stream's groups, consumers, pending
//	lifetimes  (collection uid, field)         when a hash's field expires
//	functions  (0, library), (1, function)     see libraries.go
//
// A uid is two integers, so a keyspace, and a collection, is the two leading
// elements of an id: it is counted at once and kept whole in memory when hot.
// The index expiry of keys leads from (expires_at_ms, id) to each key that
// has an expiry, and to a hash by its first field's, if that is earlier; score from (collection uid, score, member) to each member of
// a sorted set; end from (collection uid, expires_at_ms, field) to each
// lifetime; consumer of groups from (collection uid, group, consumer, entry)
// to each pending entry.
//
// Functions belong to no database, and a read of any key at any moment may call
// one: they are kept as long as anything is.
func Tables() []firn.TableSpec {
	return []firn.TableSpec{
		{Name: DatabasesTable, Owns: ownedByDatabase, Shared: true},
		{
			Name:    KeysTable,
			Prefix:  2,
			Counted: true,
			Indexes: []firn.IndexSpec{{Name: expiryIndex, Keys: expiryKeys}},
			Scope:   KeyScope,
			Meets:   keyMeets,
			Aspects: keyAspects(),
			Owns:    ownedByKey,
			Owned:   true,
		},
		{Name: ElementsTable, Prefix: 2, Owned: true},
		{Name: ScoresTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: scoreIndex, Prefix: 2, Keys: scoreKeys}}},
		{Name: GroupsTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: consumerIndex, Prefix: 2, Keys: pendingKeys}}},
		{Name: LifetimesTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: EndIndex, Prefix: 2, Keys: endKeys}}},
		{Name: FunctionsTable, Prefix: 1, Counted: true, Shared: true},
	}
}

// expiryKeys finds a key document by the first moment at which it, or a field
// of its hash, ends. A damaged document is in no
// index: reading it is the error.
func expiryKeys(id string, value []byte, add func(key []byte)) {
	expires := keyDocExpiry(value)
	if expires == 0 {
		return
	}
	key := tuple.AppendInt(make([]byte, 0, 9+len(id)), expires)
	add(append(key, id...))
}
