package schema

import (
	"unsafe"

	"zombiezen.com/go/sqlite"
)

// Columns of the row that a statement stands at.

// readString copies a BLOB; NULL is "".
func readString(stmt *sqlite.Stmt, column int) string {
	b := make([]byte, stmt.ColumnLen(column))
	stmt.ColumnBytes(column, b)
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// readInto copies a BLOB into b, or into more room if b is too small.
func readInto(b []byte, stmt *sqlite.Stmt, column int) []byte {
	n := stmt.ColumnLen(column)
	if cap(b) < n {
		b = make([]byte, n, 2*n)
	}
	b = b[:n]
	stmt.ColumnBytes(column, b)
	return b
}

// readValue copies a json_value.
func readValue(stmt *sqlite.Stmt, column int) (json bool, value []byte) {
	switch stmt.ColumnType(column) {
	case sqlite.TypeNull:
		return false, nil
	case sqlite.TypeText:
		json = true
	}
	n := stmt.ColumnLen(column)
	value = make([]byte, n)
	stmt.ColumnBytes(column, value)
	return json, value
}

func readID(stmt *sqlite.Stmt, column int) (uint32, error) {
	var id [5]byte // one more than allowed, to tell when it is too long
	n := stmt.ColumnBytes(column, id[:])
	return parseID(id[:n])
}

// resetAfter lets go of the read transaction. A statement that failed has
// been reset already.
func resetAfter(stmt *sqlite.Stmt, err error) error {
	if err != nil {
		return err
	}
	return stmt.Reset()
}
