package keyspace

import (
	"sync/atomic"

	"github.com/firndb/firn"
)

// Names of the tables that Redis's types live in.
const (
	DatabasesTable = "databases"
	KeysTable      = "keys"
	ElementsTable  = "elements"
	ScoresTable    = "scores"
	GroupsTable    = "groups"
	LifetimesTable = "lifetimes"
	FunctionsTable = "functions"
	expiryIndex    = "expiry"
	scoreIndex     = "score"
	EndIndex       = "end"
	consumerIndex  = "consumer"
)

// defaultMaxBulkBytes is Redis's default of proto-max-bulk-len.
const defaultMaxBulkBytes = 512 << 20

// Catalog is what the data commands of all sessions of a server share: the
// tables' handles, the limits that they judge by, and the cursors that they
// gave out. It is safe for concurrent use.
type Catalog struct {
	Store     *firn.Store
	Databases *firn.Table
	Keys      *firn.Table
	Elements  *firn.Table
	Scores    *firn.Table
	Groups    *firn.Table
	Functions *firn.Table
	lifetimes *firn.Table
	Expiry    *firn.Index
	byScore   *firn.Index
	ByEnd     *firn.Index

	// backdated is the earliest end, in ms, that was written since the sweeper
	// looked and had passed already; 0 is none.
	backdated atomic.Int64

	byConsumer *firn.Index
	byKind     [len(kindNames)][]*firn.Table // see elementTables

	DatabaseCount int          // how many databases there are, 1 and up
	MaxBulkBytes  atomic.Int64 // proto-max-bulk-len: the longest string
	Encodings     EncodingLimits

	Events   atomic.Uint32 // an EventClass: notify-keyspace-events
	Trackers atomic.Int64  // clients that track keys

	Cursors cursors
	Warming warming
}

// NewCatalog finds the tables in a store that was opened with Tables.
func NewCatalog(store *firn.Store, databaseCount int) *Catalog {
	keys := store.Table(KeysTable)
	t := &Catalog{
		Store:         store,
		Databases:     store.Table(DatabasesTable),
		Keys:          keys,
		Elements:      store.Table(ElementsTable),
		Scores:        store.Table(ScoresTable),
		Groups:        store.Table(GroupsTable),
		Functions:     store.Table(FunctionsTable),
		lifetimes:     store.Table(LifetimesTable),
		Expiry:        keys.Index(expiryIndex),
		byScore:       store.Table(ScoresTable).Index(scoreIndex),
		ByEnd:         store.Table(LifetimesTable).Index(EndIndex),
		byConsumer:    store.Table(GroupsTable).Index(consumerIndex),
		DatabaseCount: databaseCount,
	}
	for k := range t.byKind {
		for _, name := range elementTableNames(Kind(k)) {
			t.byKind[k] = append(t.byKind[k], store.Table(name))
		}
	}
	t.MaxBulkBytes.Store(defaultMaxBulkBytes)
	t.Encodings.init()
	t.Warming.Wanted = make(chan coldRange, 1)
	return t
}

// ElementTables are the tables of elementTableNames.
func (t *Catalog) ElementTables(k Kind) []*firn.Table {
	if int(k) >= len(t.byKind) {
		return nil
	}
	return t.byKind[k]
}

// elementTableNames are the tables that have documents of a collection of a
// kind. Their ids begin with its uid.
func elementTableNames(k Kind) []string {
	switch k {
	case KindHash:
		return []string{ElementsTable, LifetimesTable}
	case KindList, KindSet:
		return []string{ElementsTable}
	case KindZSet:
		return []string{ScoresTable}
	case KindStream:
		return []string{ElementsTable, GroupsTable}
	}
	return nil
}

// SparseBytes is how long a HyperLogLog may become before it is dense.
func (t *Catalog) SparseBytes() int { return int(t.Encodings.SparseBytes.Load()) }
