package firn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// TableSpec declares a table.
type TableSpec struct {
	// Name is what the table is called in the store, at most 255 bytes.
	Name string

	// Prefix is how many leading elements of an id name an ordered range,
	// when ids are tuples made with tuple.AppendBytes and its siblings. Such
	// a range is kept in memory as a whole once it has been read as a whole.
	// 0 means that the table has no such ranges.
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

	// Owns calls own for each range of another table, ids that begin with
	// prefix, that exists only through this version of the document. Once no
	// document owns a range any more, it is no longer read, and forgotten when
	// that moment passes the horizon. Owned ranges are replaced in the same
	// transaction as the version that stops to name them. It must be a pure
	// function, and is never called for deleted documents. A nil value asks for
	// what belongs to the id before the document's first version.
	Owns func(id string, value []byte, own func(table string, prefix []byte))

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
	retentionTable = internalPrefix + "retention" // (group, member) of a scope: a retention.Record
	holdsTable     = internalPrefix + "holds"     // the name of a hold: what it holds
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
	return append(slices.Clip(specs), TableSpec{Name: retentionTable, Shared: true}, TableSpec{Name: holdsTable, Shared: true}, authorsSpec()), nil
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

// tablesGlobal is the catalog of tables in the file: a JSON object from a
// table's name to its id and the names of its indexes.
const tablesGlobal = "tables"

type catalogEntry struct {
	ID      schema.TableID `json:"id"`
	Counted bool           `json:"counted,omitempty"`
	Prefix  int            `json:"prefix,omitempty"` // elements that are counted by; 0 if not counted
	Indexes []string       `json:"indexes,omitempty"`
}

type catalog map[string]catalogEntry

func readCatalog(s schema.Session) (catalog, error) {
	text, ok, err := s.Global(tablesGlobal)
	if err != nil || !ok {
		return catalog{}, err
	}
	var c catalog
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, tablesGlobal, err)
	}
	return c, nil
}

// store writes the catalog, inside a transaction.
func (c catalog) store(a schema.Appender) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the catalog: %w", err)
	}
	return a.SetGlobal(tablesGlobal, string(text))
}

// declare adds what the specs have that the catalog has not. grown says that
// a known table has new indexes, which must be built; changed that the
// catalog must be stored.
func (c catalog) declare(specs []TableSpec) (tables map[string]*Table, grown, changed bool, err error) {
	tables = map[string]*Table{}
	for _, spec := range specs {
		if tables[spec.Name] != nil {
			return nil, false, false, fmt.Errorf("%w: %q is declared twice", ErrTable, spec.Name)
		}
		known, exists := c[spec.Name]
		if !exists {
			known.ID = c.nextID()
		}
		if len(spec.Indexes) < len(known.Indexes) {
			return nil, false, false, fmt.Errorf("%w: %q has the indexes %q, but only %d are declared", ErrTable, spec.Name, known.Indexes, len(spec.Indexes))
		}
		for i, x := range spec.Indexes {
			if i < len(known.Indexes) && known.Indexes[i] != x.Name {
				return nil, false, false, fmt.Errorf("%w: index %d of %q is called %q, not %q", ErrTable, i+1, spec.Name, known.Indexes[i], x.Name)
			}
		}
		countedBy := 0
		if spec.Counted {
			countedBy = spec.Prefix
		}
		more := len(spec.Indexes) > len(known.Indexes) || spec.Counted && countedBy != known.Prefix
		grown = grown || exists && more
		changed = changed || !exists || more || spec.Counted != known.Counted
		known.Counted, known.Prefix = spec.Counted, countedBy
		if tables[spec.Name], err = newTable(spec, known.ID); err != nil {
			return nil, false, false, err
		}
		for _, x := range spec.Indexes[len(known.Indexes):] {
			known.Indexes = append(known.Indexes, x.Name)
		}
		c[spec.Name] = known
	}
	return tables, grown, changed, nil
}

func (c catalog) nextID() schema.TableID {
	var last schema.TableID
	for _, e := range c {
		last = max(last, e.ID)
	}
	return last + 1
}

func newTable(spec TableSpec, id schema.TableID) (*Table, error) {
	def := &index.Table{ID: id, Name: spec.Name, Prefix: spec.Prefix, Counted: spec.Counted}
	t := &Table{spec: spec, def: def, indexes: map[string]*Index{}}
	t.byID = Index{t, schema.ByID(id)}
	for i, x := range spec.Indexes {
		def.Indexes = append(def.Indexes, index.Spec{Name: x.Name, Prefix: x.Prefix, Keys: x.Keys})
		t.indexes[x.Name] = &Index{t, schema.Index(id, i+1)}
	}
	if err := def.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	return t, nil
}

// undeclared makes definitions for tables that the catalog has and the
// program did not declare: their rows have entries by id alone. A table with
// declared indexes, or with counts, must be declared.
func (c catalog) undeclared(tables map[string]*Table, defs map[schema.TableID]*index.Table) error {
	for name, e := range c {
		if tables[name] != nil {
			continue
		}
		if len(e.Indexes) > 0 {
			return fmt.Errorf("%w: %q has the indexes %q and must be declared", ErrTable, name, e.Indexes)
		}
		if e.Counted {
			return fmt.Errorf("%w: %q is counted and must be declared", ErrTable, name)
		}
		defs[e.ID] = &index.Table{ID: e.ID, Name: name}
	}
	return nil
}
