package retention

import (
	"context"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
)

// Table is what a Compactor must know of a table.
type Table struct {
	*index.Table

	// Scope names whose history a document has part in; nil: its own, by the
	// table's name and the document's id.
	Scope func(id string) Scope

	// Owns calls own for each range of documents that exist only through this
	// one; nil: none.
	Owns func(id string, value []byte, own func(t schema.TableID, prefix string))

	// Owned is set for documents that exist only through others, which own the
	// ranges that they are in. Their history is their owners', unless Scope says
	// whose it is.
	Owned bool

	// Shared is set for documents that are kept as long as any policy keeps
	// anything.
	Shared bool
}

// scope is whose history a document's is that no other document owns.
func (t *Table) scope(id string) Scope {
	if t.Scope != nil {
		return t.Scope(id)
	}
	return Scope{Group: t.Name, Member: id}
}

// Executor runs fn in a transaction of its own on the write session.
type Executor interface {
	Exec(ctx context.Context, fn func(schema.Appender) error) error
}
