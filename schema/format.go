package schema

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"zombiezen.com/go/sqlite"
)

// applicationID marks a store in the database file's header: the ASCII bytes
// "Firn".
const applicationID = 0x4669726e

// FormatVersion is the newest format that this package reads, and the one
// that it writes. The file holds it as its user_version.
const FormatVersion = 4

// Names of the globals that the engine writes itself when it creates a store.
const (
	// GlobalIncarnation is a random id of the store's line of history: a JSON
	// string of 32 hexadecimal digits.
	GlobalIncarnation = "incarnation"

	// GlobalCreated is when the store was created: a JSON number, µs since
	// the Unix epoch. Absent when Options.CreatedAt was 0.
	GlobalCreated = "created"
)

// createDocuments is the log. One row is one version of one document.
//
//	column      type     meaning
//	id          BLOB     the document's key in its table, not empty
//	ts          INTEGER  commit timestamp in microseconds
//	table_id    BLOB     TableID, big endian without leading zero bytes
//	json_value  any      TEXT: JSON text; BLOB: any bytes; NULL: no value
//	deleted     INTEGER  1: a tombstone, the document ends here
//	prev_ts     INTEGER  ts of the version this one replaces; NULL: none
//
// Format version 3 adds the column author.
//
// Rows are inserted, never updated. The primary key begins with ts, so the log
// grows at its right-hand edge only, and a transaction's rows are neighbours.
// It is not STRICT because json_value is TEXT or BLOB, and has no type so that
// neither is converted into the other. The checks make up for it: to SQLite
// every number is less than every TEXT, and every TEXT than every BLOB, so
// one comparison tells the type too. Asking typeof() made appending half as
// fast.
const createDocuments = `
CREATE TABLE documents (
	id         BLOB    NOT NULL CHECK (id > x''),
	ts         INTEGER NOT NULL CHECK (ts BETWEEN 1 AND 9223372036854775807),
	table_id   BLOB    NOT NULL CHECK (table_id > x''),
	json_value         CHECK (json_value >= ''),
	deleted    INTEGER NOT NULL CHECK (deleted IN (0, 1)),
	prev_ts    INTEGER CHECK (prev_ts > 0 AND prev_ts < ts),
	PRIMARY KEY (ts, table_id, id)
) WITHOUT ROWID`

// createIndexes leads from keys to documents.
//
//	column       type     meaning
//	index_id     BLOB     IndexID, big endian without leading zero bytes
//	key          BLOB     order-preserving key; by id: the document's id
//	ts           INTEGER  since when the entry holds
//	deleted      INTEGER  1: from ts on the key leads nowhere
//	table_id     BLOB     NULL: the table is index_id without its last byte
//	document_id  BLOB     the document's id; NULL in an index by id
//
// Format version 2 adds the column more, see packed.go.
//
// The primary key is (index_id, key, ts) because every read asks the same
// question: what was the newest entry of a key at or before ts?
const createIndexes = `
CREATE TABLE indexes (
	index_id    BLOB    NOT NULL,
	key         BLOB    NOT NULL,
	ts          INTEGER NOT NULL CHECK (ts > 0),
	deleted     INTEGER NOT NULL CHECK (deleted IN (0, 1)),
	table_id    BLOB,
	document_id BLOB,
	PRIMARY KEY (index_id, key, ts)
) STRICT, WITHOUT ROWID`

// createGlobals holds named facts about the store, as JSON.
const createGlobals = `
CREATE TABLE globals (
	key        TEXT NOT NULL PRIMARY KEY,
	json_value TEXT NOT NULL CHECK (json_valid(json_value))
) STRICT, WITHOUT ROWID`

// steps lead from one format version to the next; step n makes version n+1.
// Each runs in a transaction of its own that also moves user_version.
//
// Step 0 creates everything, the header included: a crash leaves a whole
// store or an empty file, and never one that nobody owns.
var steps = []func(*sqlite.Conn, Options) error{createVersion1, createVersion2, createVersion3, createVersion4}

func createVersion1(conn *sqlite.Conn, o Options) error {
	script := []string{
		"PRAGMA auto_vacuum = INCREMENTAL", // writes the first page
		fmt.Sprintf("PRAGMA application_id = %d", applicationID),
		createDocuments, createIndexes, createGlobals,
	}
	for _, query := range script {
		if err := execute(conn, query); err != nil {
			return err
		}
	}
	var id [16]byte
	rand.Read(id[:]) // never fails
	facts := [][2]string{{GlobalIncarnation, strconv.Quote(hex.EncodeToString(id[:]))}}
	if o.CreatedAt != 0 {
		facts = append(facts, [2]string{GlobalCreated, strconv.FormatInt(int64(o.CreatedAt), 10)})
	}
	for _, fact := range facts {
		if err := execute(conn, sqlSetGlobal, fact[0], fact[1]); err != nil {
			return err
		}
	}
	return nil
}

// createVersion2 makes room for entries that share a row.
func createVersion2(conn *sqlite.Conn, _ Options) error {
	return execute(conn, "ALTER TABLE indexes ADD COLUMN more BLOB")
}

// createVersion3 makes room for who wrote a version; NULL: nobody said. The
// column has no CHECK, because SQLite would read the whole log to apply it.
func createVersion3(conn *sqlite.Conn, _ Options) error {
	return execute(conn, "ALTER TABLE documents ADD COLUMN author INTEGER")
}

// createVersion4 makes room for fences. There are none at first: merges make
// them as they come by.
func createVersion4(conn *sqlite.Conn, _ Options) error {
	return execute(conn, createFences)
}

// migrate brings the file to FormatVersion. A new store is created in
// SQLite's rollback-journal mode, so that the mark in its header is in the
// database file itself from its first commit on.
func migrate(conn *sqlite.Conn, o Options) error {
	version, err := fileVersion(conn)
	if err != nil {
		return err
	}
	if version == 0 {
		// Both can be chosen only while the file is empty, and write nothing.
		for _, query := range []string{fmt.Sprintf("PRAGMA page_size = %d", o.PageSize), "PRAGMA encoding = 'UTF-8'"} {
			if err := execute(conn, query); err != nil {
				return mapError(err)
			}
		}
	}
	for ; version < len(steps); version++ {
		if err := migrateStep(conn, version, o); err != nil {
			return fmt.Errorf("make format version %d: %w", version+1, mapError(err))
		}
	}
	return nil
}

func migrateStep(conn *sqlite.Conn, version int, o Options) error {
	// Not IMMEDIATE: that would write the first page before auto_vacuum is set.
	if err := execute(conn, "BEGIN"); err != nil {
		return err
	}
	err := steps[version](conn, o)
	if err == nil {
		err = execute(conn, fmt.Sprintf("PRAGMA user_version = %d", version+1))
	}
	if err == nil {
		err = execute(conn, "COMMIT")
	}
	if err != nil && !conn.AutocommitEnabled() {
		execute(conn, "ROLLBACK") // the first error is the one to tell
	}
	return err
}

// fileVersion is the file's format version, 0 if it is empty.
func fileVersion(conn *sqlite.Conn) (int, error) {
	id, err := queryInt(conn, "PRAGMA application_id")
	if err != nil {
		return 0, mapError(err)
	}
	version, err := queryInt(conn, "PRAGMA user_version")
	if err != nil {
		return 0, mapError(err)
	}
	pages, err := queryInt(conn, "PRAGMA page_count")
	if err != nil {
		return 0, mapError(err)
	}
	if pages == 0 {
		return 0, nil
	}
	return int(version), checkMarks(uint32(id), uint32(version))
}

// checkReadable refuses a file that is not a store in the present format.
func checkReadable(conn *sqlite.Conn) error {
	version, err := fileVersion(conn)
	switch {
	case err != nil:
		return err
	case version == 0:
		return fmt.Errorf("%w: the file is empty", ErrForeign)
	case version < FormatVersion:
		return fmt.Errorf("%w: format version %d, this program reads %d; opening the store for writing once converts it", ErrOlder, version, FormatVersion)
	}
	return nil
}

// Offsets in the header of every SQLite database file.
const (
	headerBytes         = 100
	headerUserVersion   = 60
	headerApplicationID = 68
)

var sqliteMagic = []byte("SQLite format 3\x00")

// checkHeader judges a file that is not empty by its first bytes.
func checkHeader(header []byte) error {
	if len(header) < headerBytes || !bytes.HasPrefix(header, sqliteMagic) {
		return fmt.Errorf("%w: not a database", ErrForeign)
	}
	return checkMarks(
		binary.BigEndian.Uint32(header[headerApplicationID:]),
		binary.BigEndian.Uint32(header[headerUserVersion:]))
}

func checkMarks(id, version uint32) error {
	if id != applicationID {
		return fmt.Errorf("%w: a database with application id %#x, not %#x", ErrForeign, id, applicationID)
	}
	if version > FormatVersion {
		return fmt.Errorf("%w: version %d, this program knows up to %d", ErrNewer, version, FormatVersion)
	}
	if version == 0 {
		return fmt.Errorf("%w: format version 0", ErrCorrupt)
	}
	return nil
}
