// Package schema defines what a store's file holds and the only code that
// touches it.
//
// A store is four tables. The log, documents, has one row per version of a
// document, clustered by commit timestamp, and is the truth. The index,
// indexes, has order-preserving keys that lead to documents; it is derived
// from the log and may lag behind it. The third, fences, counts the keys of
// large ranges of the index, and is derived from it. The fourth, globals, holds
// a few named facts about the store. FORMAT.md beside this file gives every
// byte.
//
// The package has three parts: the row types and [Timestamp]; order-preserving
// keys ([AppendBytes], [AppendInt], [AppendFloat] and their readers); and the
// engine interface ([Engine], [Appender], [Session]) with its implementation
// on SQLite. Every SQL statement of the project is here, and nothing above
// this package knows that there is any.
//
// Nothing here starts a goroutine, reads a clock or decides a timestamp.
package schema

import "time"

// Timestamp orders commits. The unit is the microsecond since the Unix epoch,
// exact in an IEEE double until the year 2255. Within one store timestamps
// strictly increase from transaction to transaction and are never reused.
//
// The zero Timestamp comes before every commit.
type Timestamp int64

// MaxTimestamp comes after every commit: a read at MaxTimestamp sees the
// newest version of everything.
const MaxTimestamp Timestamp = 1<<63 - 1

// TimestampOf converts t, rounding down to the microsecond.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMicro()) }

// Time converts ts to a time in UTC.
func (ts Timestamp) Time() time.Time { return time.UnixMicro(int64(ts)).UTC() }

// Millis is ts in milliseconds since the Unix epoch, rounded down: the unit
// of every expiry.
func (ts Timestamp) Millis() int64 { return int64(ts) / 1000 }

// TableID names a table within one store: 1 and up, given out once, in the
// order in which tables were first declared. It is stored as a BLOB, big
// endian without leading zero bytes.
type TableID uint32

// MaxTables bounds TableID so that every IndexID fits in 32 bits.
const MaxTables = 1<<24 - 1

// IndexID names an index within one store: the table's id times 256 plus the
// index's number in its table. Number 0 is the index by id that every table
// has; declared indexes count from 1 to 255. Stored like a TableID.
type IndexID uint32

// ByID is the id of the built-in index by id of a table.
func ByID(t TableID) IndexID { return IndexID(t) << 8 }

// Index is the id of a table's n-th declared index, n from 1 to 255.
func Index(t TableID, n int) IndexID { return IndexID(t)<<8 | IndexID(n) }

// Table is the table that the index belongs to.
func (x IndexID) Table() TableID { return TableID(x >> 8) }

// Number is the index's number in its table; 0 is the index by id.
func (x IndexID) Number() int { return int(x & 0xff) }

// Behind is the least id that the file has behind all that belongs to x: ids
// are in the order of their bytes. more is false if there can be none.
func (x IndexID) Behind() (next IndexID, more bool) {
	if x < 1<<24 {
		return x << 8, true // x and a zero byte
	}
	return x + 1, x+1 != 0
}

// Row is one version of one document: one row of the log.
//
// A Row is immutable once it has been handed over, Value included: the same
// Row is shared by the log's writer, the head and every reader.
//
//   - TS > 0, and TS is unique for (Table, ID).
//   - Prev is the TS of the version that this one replaces, 0 if there is
//     none; so Prev < TS, and following Prev visits every older version once,
//     newest first, as far back as history reaches.
type Row struct {
	TS    Timestamp
	Prev  Timestamp
	Table TableID

	// Deleted marks a tombstone: the document ends here. Value may then hold
	// a note on what ended it, and is nil otherwise.
	Deleted bool

	// JSON says that Value is JSON text (stored as TEXT), and not a BLOB.
	JSON bool

	// Author is who wrote this version: a number that the store gives a
	// meaning to, not negative; 0 is not said.
	Author int64

	// ID is the document's key in its table; any bytes, and not empty.
	ID string

	// Value is the document's state, at most MaxValueBytes. nil and empty are
	// different: NULL and an empty BLOB.
	Value []byte
}

// Entry is one row of an index: from TS on, until a newer entry of the same
// key, Key leads to the document ID in the index's table, or, when Deleted,
// to nothing. In an index by id, Key is the document's id, there is an entry
// for each version, and ID is empty because it would repeat Key.
type Entry struct {
	Index   IndexID
	Deleted bool

	// Changes says that the key led nowhere just before and does now, or, when
	// Deleted, that it did and does not any more. The file does not keep it:
	// an entry that was read from there never says so.
	Changes bool

	TS  Timestamp
	Key string
	ID  string
}

// Delta is the change in the number of keys that lead somewhere: -1, 0 or 1.
func (e *Entry) Delta() int64 {
	switch {
	case !e.Changes:
		return 0
	case e.Deleted:
		return -1
	default:
		return 1
	}
}

// Document is the id of the document that the entry leads to.
func (e Entry) Document() string {
	if e.Index.Number() == 0 {
		return e.Key
	}
	return e.ID
}

// Fence is one interval of an ordered range of an index: from Key, inclusive,
// to the Key of the range's next fence, or the range's end. The first fence of
// a range has the range's prefix as its Key, so the fences of a range are
// those that begin with the Key of the first.
type Fence struct {
	Index IndexID
	Key   string

	// Live is how many keys of the interval lead to a document, by the entries
	// that are in the file; Uncounted if nobody has counted them yet.
	Live int64

	// TS is the newest timestamp of an entry in the file by which a key of the
	// interval began or ceased to lead to a document, or a later one.
	TS Timestamp
}

// Uncounted is the Live of a fence whose interval was not counted yet.
const Uncounted = -1

// Limits of one row. SQLite refuses rows near 1 GB; these leave room for the
// row's other columns.
const (
	MaxIDBytes    = 1 << 20   // an id or an index key
	MaxValueBytes = 768 << 20 // a value; above Redis's 512 MiB strings
)
