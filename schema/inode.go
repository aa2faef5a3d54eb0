//go:build unix

package schema

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

// ErrReplaced means that the database file, or its write-ahead log, was
// deleted or replaced while it was open: what is written no longer reaches
// what the path names.
var ErrReplaced = errors.New("schema: the file was deleted or replaced while it was open")

// fileID names a file whatever its path: hard links have the same.
type fileID struct{ device, inode uint64 }

func fileIDOf(path string) (fileID, error) {
	var st syscall.Stat_t
	for {
		switch err := syscall.Stat(path, &st); err {
		case nil:
			return fileID{uint64(st.Dev), uint64(st.Ino)}, nil
		case syscall.EINTR:
		default:
			return fileID{}, &os.PathError{Op: "stat", Path: path, Err: err}
		}
	}
}

// inode is a database file that engines of this process have open.
//
// The file's own inode is locked beside the "-lock" file, which somebody may
// remove, and which a second hard link does not share. The lock is flock(2):
// on Linux it and the fcntl(2) byte ranges that SQLite locks do not see one
// another. Elsewhere they may, so only "-lock" is locked there.
//
// Closing any descriptor of a file drops all fcntl locks that the process has
// on it, those of SQLite among them. So a file is opened here once, however
// many engines use it, and closed by the last of them; one that is open for
// writing already is refused without being opened.
type inode struct {
	id    fileID
	users int
	file  *os.File // nil until an engine writes
	taken bool     // an engine writes
}

// inodes are those that this process has open.
var inodes = struct {
	sync.Mutex
	open map[fileID]*inode
}{open: map[fileID]*inode{}}

// useInode notes that an engine has the file at path open, and for writing
// takes its lock: ErrLocked if another engine has it.
func useInode(path string, writing bool) (*inode, error) {
	inodes.Lock()
	defer inodes.Unlock()
	id, err := fileIDOf(path)
	if err != nil {
		return nil, err
	}
	n := inodes.open[id]
	if n == nil {
		n = &inode{id: id}
	}
	if writing {
		if err := n.take(path); err != nil {
			return nil, err
		}
	}
	n.users++
	inodes.open[id] = n
	return n, nil
}

// take locks the file for an engine that writes.
func (n *inode) take(path string) error {
	if n.taken {
		return fmt.Errorf("%w: %s is open in this process", ErrLocked, path)
	}
	f := n.file
	if f == nil {
		var err error
		if f, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
			return err
		}
	}
	if err := lockInode(f); err != nil {
		if n.users == 0 {
			f.Close() // no engine of this process has locks to lose
		} else {
			n.file = f
		}
		return fmt.Errorf("lock %s: %w", path, err)
	}
	n.file, n.taken = f, true
	return nil
}

// sync makes durable what the file has. SQLite does so itself before it relies
// on it, and is told of what fails here: Linux tells each descriptor.
func (n *inode) sync() error {
	if n == nil || n.file == nil {
		return nil
	}
	return syncFile(n.file)
}

// leave ends what useInode began.
func (n *inode) leave(writing bool) error {
	inodes.Lock()
	defer inodes.Unlock()
	if n.users--; n.users > 0 {
		if !writing {
			return nil
		}
		n.taken = false
		return unlockInode(n.file)
	}
	delete(inodes.open, n.id)
	if n.file == nil {
		return nil
	}
	return n.file.Close()
}

// InPlace implements [Engine].
func (s *SQLite) InPlace() error {
	if s.inode == nil || s.opts.ReadOnly {
		return nil
	}
	if id, err := fileIDOf(s.path); err != nil || id != s.inode.id {
		return fmt.Errorf("%w: %s", ErrReplaced, s.path)
	}
	if s.walID == (fileID{}) {
		return nil
	}
	if id, err := fileIDOf(s.path + "-wal"); err != nil || id != s.walID {
		return fmt.Errorf("%w: %s-wal", ErrReplaced, s.path)
	}
	return nil
}

// displaced says that other files have the names of ours. The last connection
// that closes would delete "-wal" and "-shm" by name.
func (s *SQLite) displaced() bool {
	if s.inode == nil || s.opts.ReadOnly {
		return false
	}
	main, err := fileIDOf(s.path)
	if err == nil && main != s.inode.id {
		return true
	}
	wal, err := fileIDOf(s.path + "-wal")
	return err == nil && s.walID != (fileID{}) && wal != s.walID
}
