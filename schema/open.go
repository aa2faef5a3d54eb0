package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"zombiezen.com/go/sqlite"

	"github.com/firndb/firn/internal/gathervfs"
)

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

func (s *SQLite) openWritable() (err error) {
	if s.gather, err = gathervfs.Over(s.opts.VFS); err != nil {
		return err
	}
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
