package redis

import (
	"sync/atomic"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// Names of the tables that Redis's types live in.
const (
	databasesTable = "databases"
	keysTable      = "keys"
	elementsTable  = "elements"
	scoresTable    = "scores"
	groupsTable    = "groups"
	lifetimesTable = "lifetimes"
	expiryIndex    = "expiry"
	scoreIndex     = "score"
	endIndex       = "end"
	consumerIndex  = "consumer"
)

// Tables is what a store must declare to be served: pass it as
// firn.Options.Tables.
//
//	table      id                              value
//	databases  (number)                        which keyspace the database shows
//	keys       (keyspace uid, key)             the key document, see keyDoc
//	elements   (collection uid, sub-key)       a hash's field: its value; a set's
//	                                           member: nothing; a list's position:
//	                                           the item; a stream's entry
//	scores     (collection uid, member)        a sorted set's member: its score
//	groups     (collection uid, …)             a stream's groups, consumers, pending
//	lifetimes  (collection uid, field)         when a hash's field expires
//
// A uid is two integers, so a keyspace, and a collection, is the two leading
// elements of an id: it is counted at once and kept whole in memory when hot.
// The index expiry of keys leads from (expires_at_ms, id) to each key that
// has an expiry, and to a hash by its first field's, if that is earlier; score from (collection uid, score, member) to each member of
// a sorted set; end from (collection uid, expires_at_ms, field) to each
// lifetime; consumer of groups from (collection uid, group, consumer, entry)
// to each pending entry.
func Tables() []firn.TableSpec {
	return []firn.TableSpec{
		{Name: databasesTable, Owns: ownedByDatabase, Shared: true},
		{
			Name:    keysTable,
			Prefix:  2,
			Counted: true,
			Indexes: []firn.IndexSpec{{Name: expiryIndex, Keys: expiryKeys}},
			Scope:   keyScope,
			Owns:    ownedByKey,
			Owned:   true,
		},
		{Name: elementsTable, Prefix: 2, Owned: true},
		{Name: scoresTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: scoreIndex, Prefix: 2, Keys: scoreKeys}}},
		{Name: groupsTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: consumerIndex, Prefix: 2, Keys: pendingKeys}}},
		{Name: lifetimesTable, Prefix: 2, Owned: true, Indexes: []firn.IndexSpec{{Name: endIndex, Prefix: 2, Keys: endKeys}}},
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

// defaultMaxBulkBytes is Redis's default of proto-max-bulk-len.
const defaultMaxBulkBytes = 512 << 20

// catalog is what the data commands of all sessions of a server share: the
// tables' handles, the limits that they judge by, and the cursors that they
// gave out. It is safe for concurrent use.
type catalog struct {
	store     *firn.Store
	databases *firn.Table
	keys      *firn.Table
	elements  *firn.Table
	scores    *firn.Table
	groups    *firn.Table
	lifetimes *firn.Table
	expiry    *firn.Index
	byScore   *firn.Index
	byEnd     *firn.Index

	// backdated is the earliest end, in ms, that was written since the sweeper
	// looked and had passed already; 0 is none.
	backdated atomic.Int64

	byConsumer *firn.Index
	byKind     [len(kindNames)][]*firn.Table // see elementTables

	databaseCount int          // how many databases there are, 1 and up
	maxBulkBytes  atomic.Int64 // proto-max-bulk-len: the longest string
	encodings     encodingLimits

	events   atomic.Uint32 // an eventClass: notify-keyspace-events
	trackers atomic.Int64  // clients that track keys

	cursors cursors
	warming warming
}

// newCatalog finds the tables in a store that was opened with Tables.
func newCatalog(store *firn.Store, databaseCount int) *catalog {
	keys := store.Table(keysTable)
	t := &catalog{
		store:         store,
		databases:     store.Table(databasesTable),
		keys:          keys,
		elements:      store.Table(elementsTable),
		scores:        store.Table(scoresTable),
		groups:        store.Table(groupsTable),
		lifetimes:     store.Table(lifetimesTable),
		expiry:        keys.Index(expiryIndex),
		byScore:       store.Table(scoresTable).Index(scoreIndex),
		byEnd:         store.Table(lifetimesTable).Index(endIndex),
		byConsumer:    store.Table(groupsTable).Index(consumerIndex),
		databaseCount: databaseCount,
	}
	for k := range t.byKind {
		for _, name := range elementTableNames(kind(k)) {
			t.byKind[k] = append(t.byKind[k], store.Table(name))
		}
	}
	t.maxBulkBytes.Store(defaultMaxBulkBytes)
	t.encodings.init()
	t.warming.wanted = make(chan coldRange, 1)
	return t
}
