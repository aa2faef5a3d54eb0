package storefile

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// ErrTable means that a table or index is not declared, or is declared in a way
// that cannot work.
var ErrTable = errors.New("firn: invalid table")

// tablesGlobal is the catalog of tables in the file: a JSON object from a
// table's name to its id and the names of its indexes.
const tablesGlobal = "tables"

// Catalog is what a file says about its tables, by their names.
type Catalog map[string]Entry

// Entry is one table of a Catalog.
type Entry struct {
	ID      schema.TableID `json:"id"`
	Counted bool           `json:"counted,omitempty"`
	Prefix  int            `json:"prefix,omitempty"` // elements that are counted by; 0 if not counted
	Indexes []string       `json:"indexes,omitempty"`
	Scoped  bool           `json:"scoped,omitempty"` // only the program can tell the scope of a document
}

// Definitions are what is known of the tables of a file, by their ids.
type Definitions map[schema.TableID]*retention.Table

// Indexes are the definitions as package index knows them.
func (d Definitions) Indexes() map[schema.TableID]*index.Table {
	tables := map[schema.TableID]*index.Table{}
	for id, t := range d {
		tables[id] = t.Table
	}
	return tables
}

// ReadCatalog reads the catalog of a file.
func ReadCatalog(s schema.Session) (Catalog, error) {
	text, ok, err := s.Global(tablesGlobal)
	if err != nil || !ok {
		return Catalog{}, err
	}
	var c Catalog
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, tablesGlobal, err)
	}
	return c, nil
}

// Store writes the catalog, inside a transaction.
func (c Catalog) Store(a schema.Appender) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("encode the catalog: %w", err)
	}
	return a.SetGlobal(tablesGlobal, string(text))
}

// Names are the names of the tables by their ids.
func (c Catalog) Names() map[schema.TableID]string {
	names := map[schema.TableID]string{}
	for name, e := range c {
		names[e.ID] = name
	}
	return names
}

// Declare gives each declared table its id, and adds to the catalog what it
// lacks. grown says that a known table has new indexes, which must be built;
// changed that the catalog must be stored. A declaration that contradicts the
// catalog is ErrTable.
func (c Catalog) Declare(tables []*retention.Table) (grown, changed bool, err error) {
	for _, t := range tables {
		known, exists := c[t.Name]
		if !exists {
			known.ID = c.nextID()
		}
		if err := known.agrees(t); err != nil {
			return false, false, err
		}
		countedBy := 0
		if t.Counted {
			countedBy = t.Prefix
		}
		more := len(t.Indexes) > len(known.Indexes) || t.Counted && countedBy != known.Prefix
		grown = grown || exists && more
		scoped := t.Scope != nil || t.Owned && !t.Shared
		changed = changed || !exists || more || t.Counted != known.Counted || scoped != known.Scoped
		known.Counted, known.Prefix, known.Scoped = t.Counted, countedBy, scoped
		for _, x := range t.Indexes[len(known.Indexes):] {
			known.Indexes = append(known.Indexes, x.Name)
		}
		t.ID, c[t.Name] = known.ID, known
	}
	return grown, changed, nil
}

// agrees refuses a declaration that lacks indexes, or has them in another
// order.
func (e Entry) agrees(t *retention.Table) error {
	if len(t.Indexes) < len(e.Indexes) {
		return fmt.Errorf("%w: %q has the indexes %q, but only %d are declared", ErrTable, t.Name, e.Indexes, len(t.Indexes))
	}
	for i, name := range e.Indexes {
		if t.Indexes[i].Name != name {
			return fmt.Errorf("%w: index %d of %q is called %q, not %q", ErrTable, i+1, t.Name, name, t.Indexes[i].Name)
		}
	}
	return nil
}

func (c Catalog) nextID() schema.TableID {
	var last schema.TableID
	for _, e := range c {
		last = max(last, e.ID)
	}
	return last + 1
}

// Readable are definitions of all tables that the file has, for whoever only
// reads: the declared ones, and others, which can be read by id alone.
func (c Catalog) Readable(declared []*retention.Table) Definitions {
	defs := Definitions{}
	for _, t := range declared {
		defs[t.ID] = t
	}
	for name, e := range c {
		if defs[e.ID] == nil {
			defs[e.ID] = e.undeclared(name)
		}
	}
	return defs
}

// undeclared is what is known of a table that is not declared. Whose history a
// document is, if only the program can tell, may be anybody's.
func (e Entry) undeclared(name string) *retention.Table {
	t := &retention.Table{Table: &index.Table{ID: e.ID, Name: name}}
	if e.Scoped {
		t.Scope = func(string) retention.Scope { return retention.Scope{} }
	}
	return t
}

// Writable are definitions of all tables that the file has, for whoever writes:
// the declared ones, and others, whose rows have entries by id alone. A table
// with declared indexes, or with counts, must be declared.
func (c Catalog) Writable(declared []*retention.Table) (Definitions, error) {
	known := map[schema.TableID]bool{}
	for _, t := range declared {
		known[t.ID] = true
	}
	for name, e := range c {
		if known[e.ID] {
			continue
		}
		if len(e.Indexes) > 0 {
			return nil, fmt.Errorf("%w: %q has the indexes %q and must be declared", ErrTable, name, e.Indexes)
		}
		if e.Counted {
			return nil, fmt.Errorf("%w: %q is counted and must be declared", ErrTable, name)
		}
	}
	return c.Readable(declared), nil
}
