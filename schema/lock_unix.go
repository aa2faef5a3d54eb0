//go:build unix

package schema

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// fileLock is an exclusive lock that the kernel drops when the process ends,
// however it ends. The file it hangs on has no content and stays behind.
type fileLock struct {
	file    *os.File
	created bool
}

// lockFile takes the lock at path without waiting; ErrLocked if another open
// file, in this process or another, holds it.
func lockFile(path string) (*fileLock, error) {
	for {
		l, err := openLock(path)
		if err != nil {
			return nil, err
		}
		err = syscall.Flock(int(l.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EINTR) {
			l.file.Close()
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			l.file.Close()
			return nil, fmt.Errorf("%w: %s is locked", ErrLocked, path)
		}
		if err != nil {
			l.file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if l.current(path) {
			return l, nil
		}
		l.file.Close() // someone removed the file between open and lock
	}
}

func openLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		return &fileLock{file: f, created: true}, nil
	}
	if !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	return &fileLock{file: f}, nil
}

// current reports whether the locked file is still the one at path.
func (l *fileLock) current(path string) bool {
	have, err := l.file.Stat()
	if err != nil {
		return false
	}
	want, err := os.Stat(path)
	return err == nil && os.SameFile(have, want)
}

// discard removes the lock's file if this lock made it, so that refusing a
// foreign file leaves nothing behind. The lock is released all the same.
func (l *fileLock) discard() {
	if l.created {
		os.Remove(l.file.Name())
	}
}

func (l *fileLock) release() error { return l.file.Close() }
