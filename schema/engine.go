package schema

import "errors"

// Errors of an engine. Callers test them with errors.Is.
var (
	// ErrBusy means another process holds the file's write lock and did not
	// let go in time. Nothing was written.
	ErrBusy = errors.New("schema: file is locked by another process")

	// ErrFull means the disk, or the file's allowed size, is used up. The open
	// transaction is lost as a whole.
	ErrFull = errors.New("schema: disk full")

	// ErrForeign means the file is not a Firn store.
	ErrForeign = errors.New("schema: not a firn store")

	// ErrNewer means the file was written by a newer Firn, in a format that
	// this one does not know.
	ErrNewer = errors.New("schema: store has a newer format")

	// ErrOlder means the file has an older format, and was opened in a way
	// that does not allow to convert it.
	ErrOlder = errors.New("schema: store has an older format")

	// ErrCorrupt means the file contradicts itself.
	ErrCorrupt = errors.New("schema: store is corrupt")

	// ErrSize means an id, an index key or a value is larger than MaxIDBytes or
	// MaxValueBytes.
	ErrSize = errors.New("schema: too large")

	// ErrDuplicate means a version with the same (ts, table, id) exists.
	ErrDuplicate = errors.New("schema: version exists")
)

// Engine is one open store. It is safe for concurrent use; what it hands out
// is not.
type Engine interface {
	// Appender is the engine's one write session. It belongs to one goroutine.
	Appender() Appender

	// Session opens a read session. It belongs to one goroutine at a time, and
	// the caller closes it.
	Session() (Session, error)

	// Sync makes everything committed so far durable (fsync of what Commit has
	// written). After an error the outcome of earlier commits is unknown; it
	// must not be called again.
	Sync() error

	// InPlace makes sure that the file is still the one that its path names;
	// ErrReplaced. Sync does so too, and Commit when it waits for the disk.
	InPlace() error

	// Checkpoint moves committed pages from the write-ahead log into the
	// database file without waiting for readers or holding up the Appender.
	// It may run beside the Appender, on one goroutine at a time.
	Checkpoint() (CheckpointResult, error)

	// WALBytes is the present size of the write-ahead log's file.
	WALBytes() int64

	// Close releases everything. Sessions must have been closed before.
	Close() error
}

// CheckpointResult says how far a checkpoint came. Pages count from the start
// of the write-ahead log.
type CheckpointResult struct {
	Busy       bool  // a reader or writer kept it from finishing
	LogPages   int64 // pages in the write-ahead log
	MovedPages int64 // of those, pages that are in the database file now
}

// Appender writes. All calls but the checkpoints and Vacuum happen between
// Begin and Commit or Rollback.
//
// After any error but ErrBusy from Begin, the caller calls Rollback, and
// nothing of the transaction is kept. An error from Commit that matches
// neither ErrBusy nor ErrFull leaves the outcome unknown.
type Appender interface {
	// Begin starts the one write transaction, waiting up to the busy timeout
	// for another process; then ErrBusy. ErrChanged means that somebody else
	// has written to the file since the engine was opened.
	Begin() error

	// TryBegin is Begin without waiting.
	TryBegin() error

	// Append adds rows to the log. Rows come in any order of (Table, ID)
	// within a TS; ErrDuplicate if a version exists already. Rows may be shared
	// with readers and are not changed.
	Append(rows []*Row) error

	// Merge adds entries to indexes. They are newer than any of their key
	// that is there. Sorted by (index, key, ts) it is fast, and the entries of
	// a key take little room.
	Merge(entries []Entry) error

	// Remerge is Merge for entries of which some may be there already (same
	// index, key and ts), or newer ones of their keys: those that are there are
	// replaced. It is slower.
	Remerge(entries []Entry) error

	// DeleteRows and DeleteEntries forget versions. What is not there is
	// passed over. Of a Row only (TS, Table, ID) are used, of an Entry only
	// (Index, Key, TS). Rows in the order of the log go fastest. Entries come
	// in any order; those of one key are forgotten together, so that the more
	// of a key's history a call forgets, the less each entry costs.
	DeleteRows(rows []*Row) error
	DeleteEntries(entries []Entry) error

	// Forget forgets what led to a document up to a moment: of each entry's
	// key, the entries with the same ID and a TS up to its own, the deleted
	// ones that name the document included. Those that lead to other documents
	// stay, and so do later ones. It reads all rows of the key up to TS.
	Forget(entries []Entry) error

	// DropIndexes removes all entries of all indexes, to rebuild them, and with
	// them all fences.
	DropIndexes() error

	// SetFences makes fences, or replaces those with the same keys.
	SetFences(fences []Fence) error

	// DropFences removes the fences whose keys are in a range: all of an ordered
	// range, which is then counted by walking it, or those of intervals that are
	// joined with the one before.
	DropFences(r KeyRange) error

	// Fences is Session.Fences, and sees what the transaction wrote.
	Fences(dst []Fence, r KeyRange, from string, limit int) ([]Fence, error)

	// Keys is Session.Scan at MaxTimestamp, and sees what the transaction wrote;
	// but a key that leads nowhere counts, too, and comes with its newest entry,
	// which is deleted.
	Keys(dst []Entry, r KeyRange, limit int) (entries []Entry, rest KeyRange, done bool, err error)

	// SetGlobal stores a named JSON value.
	SetGlobal(key, json string) error

	// Commit ends the transaction.
	Commit() error

	// Rollback undoes it; also when the engine has already done so. Calling it
	// without a transaction is a no-op.
	Rollback() error

	// Checkpoint is Engine.Checkpoint on the write connection: it finishes
	// what a concurrent one could not, because nothing is appended meanwhile.
	Checkpoint() (CheckpointResult, error)

	// Truncate checkpoints everything and empties the write-ahead log's file.
	// It does not wait for readers: Busy says that one was in the way.
	Truncate() (CheckpointResult, error)

	// WALPages is the length of the write-ahead log in pages: what has been
	// committed since it was last started afresh.
	WALPages() (int64, error)

	// Pages is the size of the file in pages, as of the last commit, and how
	// many of them are free.
	Pages() (total, free int64, err error)

	// Vacuum takes up to pages free pages off the database's end, moving what
	// lies there to free pages further in front, and says how many free pages
	// are left. It is a transaction of its own; ErrBusy and ErrFull as from
	// Commit. The file itself becomes shorter when a checkpoint next moves
	// everything: Truncate, or one that is not Busy. Vacuum(0) only counts.
	Vacuum(pages int) (left int64, err error)
}

// Session reads. Between Begin and End all reads share one read transaction,
// which is faster and sees one state of the file; without Begin each call
// has its own. Timestamps make both equally consistent, as long as what is
// asked for was committed before the read.
type Session interface {
	Begin() error
	End() error

	// Get is the newest version of a document at or before at, tombstones
	// included; nil if there is none. It looks only at merged entries of the
	// index by id. An entry without its row is ErrCorrupt.
	Get(table TableID, id string, at Timestamp) (*Row, error)

	// Row is the version of a document at exactly ts; nil if there is none.
	Row(table TableID, id string, ts Timestamp) (*Row, error)

	// Entry is the newest entry of a key at or before at, deleted ones
	// included; ok is false if there is none.
	Entry(index IndexID, key string, at Timestamp) (e Entry, ok bool, err error)

	// Scan appends to dst the live entries of a range as of at, in key order
	// (from the end when r.Reverse), at most limit of them. A key whose newest
	// entry at or before at is deleted, or that has none, is passed over and
	// does not count, but one call walks a bounded number of keys, and of bytes
	// of them, so entries may be fewer than limit, or none, before the end. rest is what is still
	// to scan; done says that nothing is.
	Scan(dst []Entry, r KeyRange, at Timestamp, limit int) (entries []Entry, rest KeyRange, done bool, err error)

	// Versions appends the entries of one key with from < ts <= to, oldest
	// first, or newest first when asked; deleted ones included, at
	// most limit (0: all).
	Versions(dst []Entry, index IndexID, key string, from, to Timestamp, newestFirst bool, limit int) ([]Entry, error)

	// Peek visits the version of a document at exactly ts, as Walk does; found
	// is false if there is none. visit may be nil. It may be called within a
	// walk, not within a peek.
	Peek(table TableID, id string, ts Timestamp, visit func(*Visit) error) (found bool, err error)

	// Walk visits rows of the log in (ts, table, id) order: those behind the
	// cursor and with ts <= to, at most limit of them (0: all). Tables, as
	// indexes in Entries, come in the order of their stored ids, byte by byte:
	// 256 before 2. It reads no value that its visitor does not ask for, and
	// holds one at a time.
	//
	// visit ends the walk with more false, and next is where it goes on: with
	// the row that visit was shown last and did not want. done says that nothing
	// is behind next. There is no walk within a walk.
	Walk(after Cursor, to Timestamp, limit int, visit func(*Visit) (more bool, err error)) (next Cursor, done bool, err error)

	// Log appends the rows that Walk visits, with their values: at most limit,
	// and fewer where they are large, see PageBytes; none only if nothing is
	// behind the cursor.
	Log(dst []*Row, after Cursor, to Timestamp, limit int) ([]*Row, error)

	// Entries appends raw index rows in (index, key, ts) order, all versions:
	// those behind after (exclusive; the zero Entry is before all), at most
	// limit, and fewer where keys are large, see PageBytes; none only at the
	// end. For checks and rebuilds.
	//
	// No entry has the TS 0: behind Entry{Index: x, Key: k} is whatever in
	// index x has the key k or a later one, so that a walk of a prefix begins
	// behind the prefix, and ends at the first entry without it.
	Entries(dst []Entry, after Entry, limit int) ([]Entry, error)

	// Fences appends the fences of an ordered range in key order, from the one
	// that from lies behind on (from the first if from is ""), at most limit
	// (0: all). r is the whole range, from its prefix to the prefix's end; if it
	// has any fence the first is the prefix itself.
	Fences(dst []Fence, r KeyRange, from string, limit int) ([]Fence, error)

	// Tally adds to the Live of fences that follow one another, up to the key to,
	// how many keys of their intervals lead somewhere as of at, by the entries
	// that are in the file.
	Tally(fences []Fence, to string, at Timestamp) error

	// Last is the timestamp of the newest row of the log; 0 if the log is empty.
	Last() (Timestamp, error)

	// Global is a named JSON value; ok is false if it was never set.
	Global(key string) (json string, ok bool, err error)

	// Space is how large the store is, and how much of it is free.
	Space() (Space, error)

	// Check asks the file's own integrity check; nil if it is sound.
	Check() error

	Close() error
}

// Space is the size of a store's database in pages. What has not been
// checkpointed yet counts, so the file may be longer or shorter.
type Space struct {
	PageBytes int64
	Pages     int64 // all, free ones included
	FreePages int64 // what forgotten rows have left; new rows go there first
}

// Cursor is a position in the log, behind one row. The zero Cursor is before
// the first.
type Cursor struct {
	TS    Timestamp
	Table TableID
	ID    string
}

// Behind is the position behind a row.
func Behind(r *Row) Cursor { return Cursor{TS: r.TS, Table: r.Table, ID: r.ID} }

// KeyRange is the keys of an index from From, inclusive, to To, exclusive; an
// empty To is the index's end. Reverse walks it from the end.
type KeyRange struct {
	Index    IndexID
	From, To string
	Reverse  bool
}
