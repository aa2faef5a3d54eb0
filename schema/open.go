package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"
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

// minSQLite is the first version without the WAL-reset bug: in older ones a
// checkpoint that races a commit can corrupt the file.
const minSQLite = 3_051_003

func checkVersion(number int) error {
	if number < minSQLite {
		return fmt.Errorf("schema: SQLite %d.%d.%d can corrupt a store when a checkpoint races a commit, need 3.51.3 or newer",
			number/1_000_000, number/1000%1000, number%1000)
	}
	return nil
}

// Open opens the store at path, and creates it if there is no file or an
// empty one. The caller closes it.
//
// ErrLocked: another engine writes to it. ErrForeign: the file is something
// else, and was left as it is. ErrNewer: a newer Firn wrote it. ErrCorrupt:
// it cannot be read. A file or directory that is missing or not permitted
// matches the errors of io/fs.
func Open(path string, o Options) (*SQLite, error) {
	o = o.withDefaults()
	s, err := open(path, o)
	if err != nil {
		return nil, fmt.Errorf("open %q: %w", path, err)
	}
	return s, nil
}

func open(path string, o Options) (_ *SQLite, err error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := checkVersion(sqlite.VersionNumber); err != nil {
		return nil, err
	}
	s := &SQLite{path: resolve(path), opts: o}
	defer func() {
		if err != nil {
			s.release()
		}
	}()
	if o.ReadOnly {
		if err := regularFile(s.path); err != nil {
			return nil, err
		}
		if s.inode, err = useInode(s.path, false); err != nil {
			return nil, err
		}
		return s, s.openReadOnly()
	}
	if s.lock, err = lockFile(s.path + "-lock"); err != nil {
		return nil, err
	}
	if s.inode, err = openOwn(s.path); err != nil {
		s.lock.discard()
		return nil, err
	}
	if s.opts.VFS == "" {
		if s.damage, err = InspectWAL(s.path); err != nil {
			return nil, err
		}
	}
	return s, s.openWritable()
}

// regularFile refuses what SQLite would call an I/O error.
func regularFile(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return err
}

// resolve follows symbolic links, so that one store has one lock. A path that
// cannot be followed is left to fail where it is opened.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return path
}

// openOwn locks the database file and makes sure that it is empty or ours
// before SQLite may touch it. The lock at "-lock" must be held. It returns nil
// if there is no file.
func openOwn(path string) (_ *inode, err error) {
	n, err := useInode(path, true)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			n.leave(true)
		}
	}()
	var header [headerBytes]byte
	switch got, err := n.file.ReadAt(header[:], 0); {
	case got == 0 && err == io.EOF:
		return n, nil
	case err != nil && err != io.EOF:
		return nil, err
	case interrupted(path, header[:got]):
		return n, nil
	default:
		return n, checkHeader(header[:got])
	}
}

// interrupted reports whether the file is what a crash left of a store that
// was just being created: a journal that undoes it, and no header yet.
func interrupted(path string, header []byte) bool {
	journal, err := os.Stat(path + "-journal")
	return err == nil && journal.Size() > 0 && len(bytes.Trim(header, "\x00")) == 0
}

func (s *SQLite) openWritable() error {
	conn, err := s.connect(writer)
	if err != nil {
		return err
	}
	s.app = newAppender(s, conn)
	if err := migrate(conn, s.opts); err != nil {
		return err
	}
	if err := enterWAL(conn); err != nil {
		return err
	}
	if err := s.app.prepare(); err != nil {
		return err
	}
	if s.checkpointer, err = s.connect(checkpointer); err != nil {
		return err
	}
	return s.settle()
}

// settle remembers which files the store is in, and what they hold.
func (s *SQLite) settle() (err error) {
	if s.inode == nil { // it is new
		if s.inode, err = useInode(s.path, true); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if s.walID, err = fileIDOf(s.path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.damage.Commits > 0 { // told once: what is left of it goes
		if _, err := s.app.Truncate(); err != nil {
			return err
		}
	}
	return s.app.watch()
}

func (s *SQLite) openReadOnly() error {
	conn, err := s.connect(reader)
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultOK:
	case sqlite.ResultNotADB:
		return fmt.Errorf("%w: not a database", ErrForeign)
	case sqlite.ResultReadOnly, sqlite.ResultCantOpen:
		return fmt.Errorf("%w: readers must be able to write %s-shm: copy the file to a directory of yours (%v)", fs.ErrPermission, s.path, err)
	default:
		return err
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	s.app = newAppender(s, nil)
	return checkReadable(conn)
}
