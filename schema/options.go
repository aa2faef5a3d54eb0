package schema

import (
	"errors"
	"fmt"
	"time"
)

// ErrLocked means that another engine, of this process or another, has the
// store open for writing. Nothing was read or written.
var ErrLocked = errors.New("schema: store is open in another process")

// Sync says when a commit is made durable.
type Sync int

const (
	// SyncFull makes Commit wait for fsync. A power cut loses nothing that
	// was committed.
	SyncFull Sync = iota

	// SyncNormal leaves the fsync to [Engine.Sync]. A power cut may lose the
	// newest commits, a crash of the process loses none, and neither damages
	// the file.
	SyncNormal
)

// Options of an engine on SQLite. The zero value is ready for production.
type Options struct {
	// Sync says when a commit is made durable.
	Sync Sync

	// ReadOnly opens an existing store beside whoever else has it open: no
	// lock is taken and the appender refuses. Beside the file SQLite may
	// leave a "-shm" and an empty "-wal".
	ReadOnly bool

	// BusyTimeout is how long a call waits for another process, the sqlite3
	// shell for one, to let go of the file. 0 means 5 s; negative means that
	// it does not wait.
	BusyTimeout time.Duration

	// WriterCacheBytes and ReaderCacheBytes bound the page cache of the
	// write connection and of each read session, which live outside the Go
	// heap. 0 means 16 MiB and 2 MiB: the writer descends into the right-hand
	// edge of the log and merges runs of neighbours, a session mostly shares
	// what the operating system caches.
	WriterCacheBytes int
	ReaderCacheBytes int

	// PageSize of a new store in bytes: a power of two from 512 to 65536.
	// 0 means 4096, the page size of most file systems.
	PageSize int

	// MaxPages bounds the size of the database file in pages; more is
	// ErrFull. 0 leaves it to the disk.
	MaxPages int

	// CreatedAt is noted in a new store as its date of birth, unless 0.
	CreatedAt Timestamp

	// VFS names the SQLite virtual file system; empty is the platform's own.
	// With another one, Engine.Sync works by a checkpoint, because only
	// SQLite can reach the files then.
	VFS string
}

func (o Options) withDefaults() Options {
	if o.BusyTimeout == 0 {
		o.BusyTimeout = 5 * time.Second
	}
	if o.WriterCacheBytes == 0 {
		o.WriterCacheBytes = 16 << 20
	}
	if o.ReaderCacheBytes == 0 {
		o.ReaderCacheBytes = 2 << 20
	}
	if o.PageSize == 0 {
		o.PageSize = 4096
	}
	return o
}

func (o Options) validate() error {
	if o.Sync != SyncFull && o.Sync != SyncNormal {
		return fmt.Errorf("schema: sync mode %d is unknown", o.Sync)
	}
	if o.PageSize < 512 || o.PageSize > 65536 || o.PageSize&(o.PageSize-1) != 0 {
		return fmt.Errorf("schema: page size %d is not a power of two from 512 to 65536", o.PageSize)
	}
	if o.WriterCacheBytes < 0 || o.ReaderCacheBytes < 0 || o.MaxPages < 0 || o.CreatedAt < 0 {
		return errors.New("schema: options must not be negative")
	}
	return nil
}

// ErrReadOnly means that the engine was opened with Options.ReadOnly.
var ErrReadOnly = errors.New("schema: store is open read only")
