package schema

import (
	"os"
	"syscall"
)

// syncFile makes the file's content durable. The size counts as content, the
// times do not.
func syncFile(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if err != syscall.EINTR {
			return err
		}
	}
}
