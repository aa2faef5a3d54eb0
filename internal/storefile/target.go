package storefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/firndb/firn/schema"
)

// storeSuffixes name the files of a store that is not in use: what SQLite puts
// beside it, and the lock.
var storeSuffixes = []string{"", "-wal", "-shm", "-journal", "-lock"}

// partialSuffix marks a store that is being written.
const partialSuffix = ".partial"

// writeStore makes a new store at path, as fill leaves it. Until that is
// durable it has another name; after an error nothing is left.
func writeStore(path string, o schema.Options, fill func(*schema.SQLite) error) (err error) {
	if err := vacant(path); err != nil {
		return err
	}
	partial := path + partialSuffix
	if err := clearPartial(partial); err != nil {
		return err
	}
	o.Sync = schema.SyncNormal // the end is synced, and nobody trusts what comes before
	engine, err := schema.Open(partial, o)
	if err != nil {
		if !errors.Is(err, schema.ErrLocked) { // nobody else is at work there
			removeStore(partial)
		}
		return err
	}
	defer func() {
		if err != nil {
			engine.Close() // the first error is the one to tell
			removeStore(partial)
		}
	}()
	if err := fill(engine); err != nil {
		return err
	}
	if r, err := engine.Appender().Truncate(); err != nil || r.Busy {
		return errors.Join(err, errors.New("the write-ahead log could not be emptied"))
	}
	if err := engine.Close(); err != nil {
		return err
	}
	return publish(partial, path)
}

// vacant refuses a name that is taken. The write-ahead log of a store that was
// removed would be taken for the new one's.
func vacant(path string) error {
	for _, suffix := range []string{"", "-wal", "-journal"} {
		file, err := os.Lstat(path + suffix)
		switch {
		case err == nil && suffix == "":
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		case err == nil && file.Size() > 0: // an empty one says nothing
			return fmt.Errorf("left over from another store: %w", &fs.PathError{Op: "create", Path: path + suffix, Err: fs.ErrExist})
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	info, err := os.Stat(filepath.Dir(path))
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", filepath.Dir(path))
	}
	return err
}

// clearPartial removes what a process that was killed has left under the name,
// unless one is at work there, or it is something else.
func clearPartial(partial string) error {
	if _, err := os.Lstat(partial); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	engine, err := schema.Open(partial, schema.Options{})
	if err != nil {
		return fmt.Errorf("in the way: %w", err)
	}
	if err := engine.Close(); err != nil {
		return err
	}
	removeStore(partial)
	return nil
}

// removeStore removes a store's files. What is not there is not missed.
func removeStore(path string) {
	for _, suffix := range storeSuffixes {
		os.Remove(path + suffix)
	}
}

// publish makes a closed store durable and gives it its name.
func publish(partial, path string) error {
	if wal, err := os.Stat(partial + "-wal"); err == nil && wal.Size() > 0 {
		return fmt.Errorf("%s-wal: %d bytes were left in the write-ahead log", partial, wal.Size())
	}
	if err := syncPath(partial); err != nil {
		return err
	}
	if err := rename(partial, path); err != nil {
		return err
	}
	removeStore(partial) // the lock
	if err := syncPath(filepath.Dir(path)); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// rename gives a file a name that nothing has. Link refuses where Rename would
// replace; not every file system has it.
func rename(from, to string) error {
	err := os.Link(from, to)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := vacant(to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// FileBytes is the size of a store's files.
func FileBytes(path string) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
