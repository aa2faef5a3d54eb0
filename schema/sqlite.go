package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"zombiezen.com/go/sqlite"

	"github.com/firndb/firn/internal/gathervfs"
)

// SQLite is the engine on one SQLite file. It has one write connection, one
// for checkpoints, and one for each session.
//
// Beside the file lie those of SQLite, "-wal" and "-shm", and an empty one,
// "-lock": whoever holds its lock may write.
type SQLite struct {
	path string
	opts Options
	lock *fileLock // nil when read only
	app  *appender

	gather *gathervfs.VFS // of the write connection, over opts.VFS; nil when read only

	inode *inode // the database file; nil until it is there
	walID fileID // the write-ahead log's file; zero when read only

	damage WALDamage // of the write-ahead log, when it was opened

	checkpointing sync.Mutex
	checkpointer  *sqlite.Conn // guarded by checkpointing; nil when read only

	syncing sync.Mutex
	wal     *os.File // guarded by syncing; the file that Sync last synced
}

var _ Engine = (*SQLite)(nil)

// Path is the file's resolved path.
func (s *SQLite) Path() string { return s.path }

// Damage is what was lost from the write-ahead log before the store was opened
// for writing: nothing if Commits is 0.
func (s *SQLite) Damage() WALDamage { return s.damage }

// Appender is the engine's one write session. On a read-only engine its Begin
// fails.
func (s *SQLite) Appender() Appender { return s.app }

// Checkpoint implements [Engine]. SQLite syncs the database file only if
// nothing was committed meanwhile. Beside a writer that is hardly ever so, and
// whoever moved the last pages waited until all were on the disk; so the file
// is synced here.
func (s *SQLite) Checkpoint() (CheckpointResult, error) {
	s.checkpointing.Lock()
	defer s.checkpointing.Unlock()
	if s.checkpointer == nil {
		return CheckpointResult{}, ErrReadOnly
	}
	r, err := checkpoint(s.checkpointer, sqlCheckpointPassive)
	if err != nil || r.MovedPages == 0 {
		return r, err
	}
	if err := s.inode.sync(); err != nil {
		return r, fmt.Errorf("checkpoint: %w", err)
	}
	return r, nil
}

// The two checkpoints. PASSIVE does what it can without waiting for anyone.
// TRUNCATE also empties the file, for which every reader must have let go.
const (
	sqlCheckpointPassive  = `PRAGMA wal_checkpoint(PASSIVE)`
	sqlCheckpointTruncate = `PRAGMA wal_checkpoint(TRUNCATE)`
)

func checkpoint(conn *sqlite.Conn, sql string) (r CheckpointResult, err error) {
	err = query(conn, sql, func(stmt *sqlite.Stmt) {
		r.Busy = stmt.ColumnInt64(0) != 0
		r.LogPages = max(stmt.ColumnInt64(1), 0)
		r.MovedPages = max(stmt.ColumnInt64(2), 0)
	})
	if err = mapError(err); errors.Is(err, ErrBusy) {
		return CheckpointResult{Busy: true}, nil
	}
	if err != nil {
		return r, fmt.Errorf("checkpoint: %w", err)
	}
	r.Busy = r.Busy || r.MovedPages < r.LogPages
	return r, nil
}

// Sync implements [Engine]: it syncs the write-ahead log through a file
// descriptor of its own. SQLite holds no locks on that file, so opening it
// twice does no harm.
func (s *SQLite) Sync() error {
	if s.opts.ReadOnly {
		return nil
	}
	if err := s.InPlace(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if s.opts.VFS != "" {
		_, err := s.Checkpoint()
		return err
	}
	s.syncing.Lock()
	defer s.syncing.Unlock()
	if err := s.reopenWAL(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	if s.wal == nil {
		return nil
	}
	if err := syncFile(s.wal); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// reopenWAL makes s.wal the file that is the write-ahead log now; nil if
// nothing has been written.
func (s *SQLite) reopenWAL() error {
	now, err := os.Stat(s.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.wal != nil {
		if was, err := s.wal.Stat(); err == nil && os.SameFile(was, now) {
			return nil
		}
		s.wal.Close()
		s.wal = nil
	}
	s.wal, err = os.OpenFile(s.path+"-wal", os.O_RDWR, 0)
	return err
}

// WALBytes implements [Engine].
func (s *SQLite) WALBytes() int64 {
	info, err := os.Stat(s.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// Close implements [Engine]. Unless another process has the file open, what
// is in the write-ahead log moves to the database file first.
func (s *SQLite) Close() error {
	if err := s.release(); err != nil {
		return fmt.Errorf("close %q: %w", s.path, err)
	}
	return nil
}

// release closes what is open. The lock goes last: until then no one else
// may write.
func (s *SQLite) release() error {
	var errs []error
	if s.displaced() {
		// These connections are left open for good: what they would move, and
		// the files that they would delete, belong to somebody else.
		s.checkpointer, s.app, s.gather = nil, nil, nil
	}
	s.checkpointing.Lock()
	if s.checkpointer != nil {
		errs = append(errs, s.checkpointer.Close())
		s.checkpointer = nil
	}
	s.checkpointing.Unlock()
	closed := true
	if s.app != nil {
		err := s.app.close()
		closed = err == nil
		errs = append(errs, err)
	}
	s.releaseVFS(closed)
	s.syncing.Lock()
	if s.wal != nil {
		errs = append(errs, s.wal.Close())
		s.wal = nil
	}
	s.syncing.Unlock()
	if s.inode != nil {
		errs = append(errs, s.inode.leave(!s.opts.ReadOnly))
		s.inode = nil
	}
	if s.lock != nil {
		errs = append(errs, s.lock.release())
		s.lock = nil
	}
	return errors.Join(errs...)
}

// releaseVFS takes the write connection's file system away, unless that could
// not be closed and still uses it.
func (s *SQLite) releaseVFS(closed bool) {
	if s.gather != nil && closed {
		s.gather.Unregister()
		s.gather = nil
	}
}

func vfsURI(path, vfs string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: url.Values{"vfs": {vfs}}.Encode()}
	return u.String()
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
