package firn

import (
	"errors"

	"github.com/firndb/firn/internal/inside"
	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// The proofs of internal/proof come in here, see package inside.
var _ = inside.Admit(openInside, partsOf)

func openInside(path string, e schema.Options, options any) (any, error) {
	o, ok := options.(Options)
	if !ok {
		return nil, errors.New("firn: these are not Options")
	}
	return openOn(path, e, o)
}

func partsOf(store any) inside.Parts {
	s, ok := store.(*Store)
	invariant.Check(ok, "a %T is not a Store", store)
	return inside.Parts{
		Engine: s.engine, Writer: s.writer, Head: s.head, Tail: s.tail, State: &s.state, Compactor: s.compactor,
		Held: &s.held, Pins: &s.pins, UsedBytes: func() (int64, error) { return usedBytes(s) },
		Copies: &s.copying.target, CopiesEnded: s.copying.stopped,
		Table: func(name string) *retention.Table { return s.tables[name].kept },
	}
}
