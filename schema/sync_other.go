//go:build !linux

package schema

import "os"

// syncFile makes the file's content durable.
func syncFile(f *os.File) error { return f.Sync() }
