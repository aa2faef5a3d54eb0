package schema

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs fn with the rights of a user who owns nothing. The thread that
// has lost its rights ends with its goroutine.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0)
		}
		fn()
	}()
	<-done
}

// TestReadersWithoutRightsAreTold opens files that cannot be read beside a
// writer: a directory, and a store in a place that the reader may not write.
func TestReadersWithoutRightsAreTold(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: got %v, want that it is no regular file", err)
	}
	path := filepath.Join(dir, "store.db")
	engine, err := Open(path, Options{})
	if err == nil {
		err = engine.Close()
	}
	if err := errors.Join(err, os.Chmod(path, 0o444), os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o755) }) // TempDir removes it
	asNobody(t, func() {
		e, err := Open(path, Options{ReadOnly: true})
		if err == nil {
			e.Close()
		}
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "-shm") {
			t.Errorf("a place that cannot be written: got %v, want ErrPermission and what for", err)
		}
	})
}
