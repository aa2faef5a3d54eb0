package gathervfs

import (
	"unsafe"

	sqlite3 "modernc.org/sqlite/lib"
)

// FillLeaves makes the statement, whose rows come in the order of their primary
// key, leave full pages behind. It reports whether
// that was possible. The statement does the same without, but the pages are
// two thirds full, and one more changes for each that fills.
//
// It sets the hint that SQLite itself sets for the cursor with which it
// builds an index. Without it, a table WITHOUT ROWID that grows at its
// right-hand edge spreads rows over three neighbours at each split. No SQL
// gives it to an INSERT of rows. Should SQLite plan the statement again, when
// another process has changed the schema, the hint is gone.
func (s Statement) FillLeaves() bool {
	return s.stmt != 0 && hint(at[sqlite3.TVdbe](s.stmt))
}

// hint sets the flag at the only instruction that opens a table for writing.
func hint(program *sqlite3.TVdbe) bool {
	var open *sqlite3.TOp
	for i := range program.FnOp {
		op := at[sqlite3.TOp](program.FaOp + uintptr(i)*unsafe.Sizeof(sqlite3.TOp{}))
		if op.Fopcode != sqlite3.OP_OpenWrite {
			continue
		}
		if open != nil {
			return false
		}
		open = op
	}
	if open == nil {
		return false
	}
	open.Fp5 |= sqlite3.OPFLAG_BULKCSR
	return true
}
