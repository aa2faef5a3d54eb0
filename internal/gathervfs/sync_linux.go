package gathervfs

import (
	"errors"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"
)

// syncer syncs the platform's own files with fdatasync. SQLite as it is built
// here calls fsync, which writes the inode as well: after each commit, because
// writing changes the file's times. A size that has changed is written by
// fdatasync, too.
type syncer struct {
	fdatasync func(fd int) error // nil: the file system below is not the platform's own
}

// platformSyncer is for files of the file system named base.
func platformSyncer(base string) syncer {
	if base != "" {
		return syncer{}
	}
	return syncer{syscall.Fdatasync}
}

// syncContent syncs an open file, unless done is false: then the file system
// below must, because the directory has to be synced as well.
func (s syncer) syncContent(file uintptr) (rc int32, done bool) {
	if s.fdatasync == nil {
		return 0, false
	}
	f := at[sqlite3.TunixFile](file)
	if f.FctrlFlags&sqlite3.UNIXFILE_DIRSYNC != 0 {
		return 0, false
	}
	err := syscall.EINTR
	for err == syscall.EINTR {
		err = 0
		if failed := s.fdatasync(int(f.Fh)); failed != nil && !errors.As(failed, &err) {
			err = syscall.EIO
		}
	}
	if err != 0 {
		f.FlastErrno = int32(err)
		return sqlite3.SQLITE_IOERR_FSYNC, true
	}
	return sqlite3.SQLITE_OK, true
}
