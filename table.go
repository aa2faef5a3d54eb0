package firn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// TableSpec declares a table.
type TableSpec struct {
	// Name is what the table is called in the store, at most 255 bytes.
	Name string

	// Prefix is how many leading elements of an id name an ordered range,
	// when ids are tuples made with tuple.AppendBytes and its siblings. Such
	// a range is kept in memory as a whole once it has been read as a whole.
	// 0 means that the table has no such ranges. Changing it needs Reindex.
	Prefix int

	// Counted makes Count know the number of live documents of a prefix
	// without counting.
	Counted bool

	// Indexes are the table's declared indexes. The store remembers their
	// names and their order; new ones are added at the end.
	Indexes []IndexSpec

	// Scope is whose history a document's is, see Retention: nil means that
	// the table is the group and the id the member. It must be quick. It is
	// also called with the Prefix of a Range, or its From if that is nil, to
	// tell the group that the whole range belongs to: the group "" stands for
	// all, and so does a range that is open at its end.
	Scope func(id string) Scope

	// Meets says whether a document of scope, which is a member, may have an id
	// from from, inclusive, to to, exclusive, where "" is open. It undoes Scope,
	// for walks at earlier moments: those that cannot meet a member whose past is
	// forgotten need not be refused. nil means that any walk in the group may;
	// without Scope it is not needed. It must be a pure function.
	Meets func(scope Scope, from, to string) bool

	// Owns calls own for each range of another table, ids that begin with
	// prefix, that exists only through this version of the document. Once no
	// document owns a range any more, it is no longer read, and forgotten when
	// that moment passes the horizon. Owned ranges are replaced in the same
	// transaction as the version that stops to name them. It must be a pure
	// function, and is never called for deleted documents. A nil value asks for
	// what belongs to the id before the document's first version.
	Owns func(id string, value []byte, own func(table string, prefix []byte))

	// Aspects are what those may ask for who read a part of a document only, see
	// Reader.GetAspect: each makes a fingerprint of a live document, which other
	// versions have as long as that part is the same. They must be pure
	// functions. There are at most journal.MaxAspects.
	Aspects []journal.Aspect

	// Owned says that the documents are owned by documents of other tables,
	// one of which is written in each transaction that writes one of these: they
	// are kept as long as that one.
	Owned bool

	// Shared says that the documents are kept as long as anything in the store
	// is: no policy is for them.
	Shared bool
}

// IndexSpec declares an index of a table.
type IndexSpec struct {
	// Name is what the index is called.
	Name string

	// Prefix is for the index's keys what TableSpec.Prefix is for ids.
	Prefix int

	// Keys calls add for each key under which a document is to be found. It
	// must be a pure function of its arguments and is never called for
	// deleted documents. No two documents may have the same key, so a key
	// mostly ends with the id; and a key has at most 1 MiB, or the document is
	// refused. Changing what Keys computes needs Reindex.
	Keys func(id string, value []byte, add func(key []byte))
}

// Table is a declared table of an open store.
type Table struct {
	spec    TableSpec
	def     *index.Table
	kept    *retention.Table // def, and whose history the documents are
	byID    Index
	indexes map[string]*Index
}

// Index is an index of an open store's table.
type Index struct {
	table *Table
	id    schema.IndexID
}

// Tables that the store keeps about itself. Programs can read them, their
// history too, but not write them. A new one is named here, declared in
// withInternal, and kept in internalTables.
const (
	internalPrefix = "firn."
	holdsTable     = internalPrefix + "holds" // the name of a hold: what it holds
)

type internalTables struct {
	retention *Table
	holds     *Table
}

// withInternal adds the store's own tables behind the program's.
func withInternal(specs []TableSpec) ([]TableSpec, error) {
	for _, spec := range specs {
		if strings.HasPrefix(spec.Name, internalPrefix) {
			return nil, fmt.Errorf("%w: %q: names that begin with %q are the store's own", ErrTable, spec.Name, internalPrefix)
		}
	}
	return append(slices.Clip(specs), TableSpec{Name: retention.RecordsTable, Shared: true}, TableSpec{Name: holdsTable, Shared: true}, authorsSpec()), nil
}

// declaredTables makes the tables of the declarations and the store's own, in
// their order. They have no ids yet, see identify.
func declaredTables(specs []TableSpec) ([]*Table, error) {
	all, err := withInternal(specs)
	if err != nil {
		return nil, err
	}
	var tables []*Table
	named := map[string]*Table{}
	for _, spec := range all {
		if named[spec.Name] != nil {
			return nil, fmt.Errorf("%w: %q is declared twice", ErrTable, spec.Name)
		}
		t, err := newTable(spec, named)
		if err != nil {
			return nil, err
		}
		named[spec.Name] = t
		tables = append(tables, t)
	}
	return tables, nil
}

// definitions are what the layers below must know of tables.
func definitions(tables []*Table) []*retention.Table {
	var defs []*retention.Table
	for _, t := range tables {
		defs = append(defs, t.kept)
	}
	return defs
}

// newTable makes a table; named has those that it may own documents of.
func newTable(spec TableSpec, named map[string]*Table) (*Table, error) {
	def := &index.Table{Name: spec.Name, Prefix: spec.Prefix, Counted: spec.Counted}
	for _, x := range spec.Indexes {
		def.Indexes = append(def.Indexes, index.Spec{Name: x.Name, Prefix: x.Prefix, Keys: x.Keys})
	}
	if err := def.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	if len(spec.Aspects) > journal.MaxAspects {
		return nil, fmt.Errorf("%w: table %q: %d aspects, at most %d", ErrTable, spec.Name, len(spec.Aspects), journal.MaxAspects)
	}
	kept := &retention.Table{Table: def, Scope: spec.Scope, Owned: spec.Owned, Shared: spec.Shared}
	if spec.Owns != nil {
		kept.Owns = func(id string, value []byte, own func(schema.TableID, string)) {
			spec.Owns(id, value, func(table string, prefix []byte) {
				if other := named[table]; other != nil {
					own(other.def.ID, string(prefix))
				}
			})
		}
	}
	return &Table{spec: spec, def: def, kept: kept}, nil
}

// undeclaredTable is a table of the file that the program has not declared. If
// whose history its documents are was for a program to say, they are taken for
// everybody's.
func undeclaredTable(def *retention.Table) *Table {
	return &Table{spec: TableSpec{Name: def.Name, Scope: def.Scope}, def: def.Table, kept: def}
}

// identify makes the handles of the indexes, once the table has its id.
func (t *Table) identify() {
	t.byID, t.indexes = Index{t, schema.ByID(t.def.ID)}, map[string]*Index{}
	for i, x := range t.spec.Indexes {
		t.indexes[x.Name] = &Index{t, schema.Index(t.def.ID, i+1)}
	}
}

// internal says that the table is the store's own.
func (t *Table) internal() bool {
	return t != nil && strings.HasPrefix(t.spec.Name, internalPrefix)
}

// follows says that the documents have no scopes of their own: they are kept
// as long as an owner is, or as anything is.
func (t *Table) follows() bool { return t.spec.Owned && t.spec.Scope == nil || t.spec.Shared }

// scope is whose history a document's is.
func (t *Table) scope(id string) Scope {
	if t.spec.Scope != nil {
		return t.spec.Scope(id)
	}
	return Scope{Group: t.spec.Name, Member: id}
}

// meets says whether a range of ids may have a document of a member.
func (t *Table) meets(scope Scope, from, to string) bool {
	switch {
	case t.spec.Meets != nil:
		return t.spec.Meets(scope, from, to)
	case t.spec.Scope != nil:
		return true
	}
	return from <= scope.Member && (to == "" || scope.Member < to)
}

// Name is the table's name.
func (t *Table) Name() string { return t.def.Name }

// ByID is the index by id, which every table has; nil if t is.
func (t *Table) ByID() *Index {
	if t == nil {
		return nil
	}
	return &t.byID
}

// Index is a declared index; nil if there is none of that name, or t is nil.
func (t *Table) Index(name string) *Index {
	if t == nil {
		return nil
	}
	return t.indexes[name]
}
