package schema

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"zombiezen.com/go/sqlite"

	"github.com/firndb/firn/internal/gathervfs"
)

// An inserter writes many rows of one table with few statements: the fixed
// cost of running a statement is that of writing several rows.
//
// It remembers what each parameter is bound to where that seldom changes (the
// table's id, the deleted flag), because SQLite keeps bindings from run to run.
type inserter struct {
	sizes  []sized
	packer packer
}

// sized is a statement that inserts a fixed number of rows.
type sized struct {
	stmt     *sqlite.Stmt
	own      gathervfs.Statement // the same one, if bytes can be lent to it
	bindings []binding
	large    bool // a copy of a large value is bound
}

// binding is what one row's place in a statement is bound to.
type binding struct {
	bound   bool
	id      uint32
	deleted bool
	null    bool // prev_ts or document_id
	author  int64
	single  bool // more
}

// insertSizes are the numbers of rows that one statement inserts, largest
// first. Running one takes as long as inserting two or three rows: with every
// power of two a group of 3 takes 6 % less than with every second, one of 8
// takes 5 %, and those of 24 and more the same. 256 at once save nothing.
var insertSizes = [...]int{64, 32, 16, 8, 4, 2, 1}

// largeBytes is the size from which a bound value is not kept until the next
// run where it could not be lent.
const largeBytes = 64 << 10

// sqlAppend and sqlMerge are followed by as many tuples as rows.
//
// FAIL and not the usual ABORT: the caller rolls back the whole transaction
// after an error, so SQLite need not keep a journal to undo a statement.
const (
	sqlAppend = `
INSERT OR FAIL INTO documents (id, ts, table_id, json_value, deleted, prev_ts, author)
VALUES `
	sqlMerge = `
INSERT OR REPLACE INTO indexes (index_id, key, ts, deleted, document_id, more)
VALUES `
	rowColumns   = 7
	entryColumns = 6
)

func (in *inserter) prepare(conn *sqlite.Conn, head string, columns int) error {
	for _, n := range insertSizes {
		stmt, err := conn.Prepare(insertSQL(head, columns, n))
		if err != nil {
			return err
		}
		in.sizes = append(in.sizes, sized{stmt: stmt, bindings: make([]binding, n)})
	}
	return nil
}

func insertSQL(head string, columns, rows int) string {
	tuple := "(?" + strings.Repeat(", ?", columns-1) + ")"
	return head + tuple + strings.Repeat(", "+tuple, rows-1)
}

func (in *inserter) rows(rows []*Row) error {
	for i := range in.sizes {
		s := &in.sizes[i]
		for n := len(s.bindings); len(rows) >= n; rows = rows[n:] {
			for j, r := range rows[:n] {
				if err := s.bindRow(j, r); err != nil {
					return err
				}
			}
			err := s.run()
			runtime.KeepAlive(rows) // whose ids and values were lent
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *inserter) entries(entries []Entry) error {
	rows, err := in.packer.pack(entries)
	if err != nil {
		return err
	}
	for i := range in.sizes {
		s := &in.sizes[i]
		for n := len(s.bindings); len(rows) >= n; rows = rows[n:] {
			for j := range rows[:n] {
				s.bindEntry(j, &rows[j])
			}
			err := s.run()
			runtime.KeepAlive(rows) // whose keys were lent
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrBounds means that a row or an entry breaks the rules of its type: a ts
// that is not positive, an id that is empty or too long, a prev that is not
// older, an author that is negative. The transaction must be rolled back.
var ErrBounds = errors.New("schema: row out of bounds")

func checkRow(r *Row) error {
	if r.TS <= 0 || r.Prev < 0 || r.Prev >= r.TS || r.Table == 0 || r.Table > MaxTables || r.Author < 0 ||
		len(r.ID) == 0 || len(r.ID) > MaxIDBytes || len(r.Value) > MaxValueBytes {
		return fmt.Errorf("%w: %d/%.40q at %d behind %d by %d, id of %d bytes, value of %d bytes",
			ErrBounds, r.Table, r.ID, r.TS, r.Prev, r.Author, len(r.ID), len(r.Value))
	}
	return nil
}

func checkEntry(e *Entry) error {
	if e.TS <= 0 || e.Index.Table() == 0 || len(e.Key) > MaxIDBytes || len(e.ID) > MaxIDBytes {
		return fmt.Errorf("%w: entry %d/%.40q at %d, key of %d bytes, id of %d bytes",
			ErrBounds, e.Index, e.Key, e.TS, len(e.Key), len(e.ID))
	}
	return nil
}

func (s *sized) bindRow(i int, r *Row) error {
	if err := checkRow(r); err != nil {
		return err
	}
	p := i*rowColumns + 1
	s.bindBytes(p, bytesOf(r.ID))
	s.stmt.BindInt64(p+1, int64(r.TS))
	s.bindValue(p+3, r)
	at := &s.bindings[i]
	if !at.bound || at.id != uint32(r.Table) {
		var id [4]byte
		s.stmt.BindBytes(p+2, appendID(id[:0], uint32(r.Table)))
	}
	if !at.bound || at.deleted != r.Deleted {
		s.stmt.BindBool(p+4, r.Deleted)
	}
	if r.Prev != 0 {
		s.stmt.BindInt64(p+5, int64(r.Prev))
	} else if !at.bound || !at.null {
		s.stmt.BindNull(p + 5)
	}
	if !at.bound || at.author != r.Author {
		if r.Author != 0 {
			s.stmt.BindInt64(p+6, r.Author)
		} else {
			s.stmt.BindNull(p + 6)
		}
	}
	*at = binding{bound: true, id: uint32(r.Table), deleted: r.Deleted, null: r.Prev == 0, author: r.Author}
	return nil
}

// bindBytes lends bytes to the statement where it can: SQLite makes the row of
// them, which is a copy, and needs no other. What was lent must stay as it is
// until the statement has run, and is bound anew before it runs again: what is
// not bound anew each time is not lent.
func (s *sized) bindBytes(p int, b []byte) {
	if !s.own.Lend(p, b, false) {
		s.stmt.BindBytes(p, b)
	}
}

func (s *sized) bindValue(p int, r *Row) {
	switch {
	case r.Value == nil:
		s.stmt.BindNull(p)
		return
	case s.own.Lend(p, r.Value, r.JSON):
		return
	case r.JSON:
		s.stmt.BindText(p, unsafe.String(unsafe.SliceData(r.Value), len(r.Value)))
	default:
		s.stmt.BindBytes(p, r.Value)
	}
	s.large = s.large || len(r.Value) > largeBytes
}

func (s *sized) bindEntry(i int, e *packedEntry) {
	p := i*entryColumns + 1
	at := &s.bindings[i]
	if !at.bound || at.id != uint32(e.Index) {
		var id [4]byte
		s.stmt.BindBytes(p, appendID(id[:0], uint32(e.Index)))
	}
	s.bindBytes(p+1, bytesOf(e.Key))
	s.stmt.BindInt64(p+2, int64(e.TS))
	if !at.bound || at.deleted != e.Deleted {
		s.stmt.BindBool(p+3, e.Deleted)
	}
	null := e.ID == "" || e.Index.Number() == 0
	if !null {
		s.stmt.BindBytes(p+4, bytesOf(e.ID))
	} else if !at.bound || !at.null {
		s.stmt.BindNull(p + 4)
	}
	if len(e.more) > 0 {
		s.bindBytes(p+5, e.more)
	} else if !at.bound || !at.single {
		s.stmt.BindNull(p + 5)
	}
	*at = binding{bound: true, id: uint32(e.Index), deleted: e.Deleted, null: null, single: len(e.more) == 0}
}

func (s *sized) run() error {
	err := run(s.stmt)
	if err != nil || s.large {
		clear(s.bindings)
		s.large = false
		if e := s.stmt.ClearBindings(); err == nil {
			err = e
		}
	}
	return err
}
