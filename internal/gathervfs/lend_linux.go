package gathervfs

import (
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// Statement is a statement that the connection holds. The zero Statement is
// none.
type Statement struct {
	tls  *libc.TLS
	stmt uintptr
}

// Statement finds the held statement of a text.
func (v *VFS) Statement(sql string) Statement {
	if v.main.db == 0 {
		return Statement{}
	}
	for stmt := sqlite3.Xsqlite3_next_stmt(v.tls, v.main.db, 0); stmt != 0; stmt = sqlite3.Xsqlite3_next_stmt(v.tls, v.main.db, stmt) {
		if libc.GoString(sqlite3.Xsqlite3_sql(v.tls, stmt)) == sql {
			return Statement{v.tls, stmt}
		}
	}
	return Statement{}
}

// Lend binds a parameter to bytes on the heap, or to SQLite's own, without a
// copy, and reports whether that was possible. The caller keeps them as they
// are while the statement runs, and binds the parameter anew before it does
// again: SQLite does not look at a binding between two runs, nor when another
// takes its place.
func (s Statement) Lend(param int, value []byte, text bool) bool {
	if s.stmt == 0 || len(value) == 0 {
		return false
	}
	p, n := uintptr(unsafe.Pointer(unsafe.SliceData(value))), int32(len(value))
	if text {
		return sqlite3.Xsqlite3_bind_text(s.tls, s.stmt, int32(param), p, n, sqlite3.SQLITE_STATIC) == sqlite3.SQLITE_OK
	}
	return sqlite3.Xsqlite3_bind_blob(s.tls, s.stmt, int32(param), p, n, sqlite3.SQLITE_STATIC) == sqlite3.SQLITE_OK
}
