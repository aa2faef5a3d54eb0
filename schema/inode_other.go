//go:build unix && !linux

package schema

import "os"

// lockInode does nothing: flock(2) might meet SQLite's own locks.
func lockInode(*os.File) error { return nil }

func unlockInode(*os.File) error { return nil }
