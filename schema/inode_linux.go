package schema

import (
	"os"
	"syscall"
)

// lockInode locks the file itself, without waiting.
func lockInode(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func unlockInode(f *os.File) error { return flock(f, syscall.LOCK_UN) }

func flock(f *os.File, how int) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), how); err {
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return ErrLocked
		default:
			return err
		}
	}
}
