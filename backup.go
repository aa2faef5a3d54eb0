package firn

import (
	"context"
	"fmt"

	"github.com/firndb/firn/internal/storefile"
)

// Backup writes a copy of the store as of at, with all its history, to path;
// 0 is the newest moment. The copy is compact, and continues the same line of
// history: its tokens are those of the store.
//
// Writes go on meanwhile. The copy is made beside path, as path + ".partial",
// then read back and checked, made durable and given its name, so what has
// the name is whole; whatever else happens, nothing is left. A file that
// exists is refused with fs.ErrExist, a moment before the store's horizon with
// a *CompactedError, one that has not come with a *FutureError. There is one
// backup of a store at a time.
//
// A scope with a policy of its own may have let go of a moment that is within
// the store's horizon. leftOut is called, before anything is written, with each
// such scope and the moment from which on it can be read: its documents are
// left out of the copy, which has the policies of now to say so. An error from
// leftOut ends the backup. If leftOut is nil, such a moment is a
// *CompactedError.
//
// progress, if not nil, is called now and then with how many bytes of how many
// are written and checked. The total is an estimate until all are written.
func (s *Store) Backup(ctx context.Context, path string, at Timestamp, progress func(done, total int64), leftOut func(scope Scope, from Timestamp) error) (err error) {
	if s.closed.Load() {
		return ErrClosed
	}
	c := storefile.Copy{At: at, SameLine: true, Progress: progress, LeftOut: leftOut}
	if err := copyFile(s, ctx, path, c); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

// Restore makes a store at path from this one as of a moment, 0 for the newest,
// with the history up to there. The new store has a line of history of its own:
// tokens of the old one are ErrForked.
//
// Otherwise it is like Backup: the same errors, the same check of what was
// written, the same that is left out, and nothing under the name but a whole
// store.
func (s *Store) Restore(ctx context.Context, path string, at Timestamp, progress func(done, total int64), leftOut func(scope Scope, from Timestamp) error) error {
	if s.closed.Load() {
		return ErrClosed
	}
	c := storefile.Copy{At: at, Progress: progress, LeftOut: leftOut}
	if err := copyFile(s, ctx, path, c); err != nil {
		return fmt.Errorf("restore to %s: %w", path, err)
	}
	return nil
}

// copyFile fills in what a copy is of, and makes it.
func copyFile(s *Store, ctx context.Context, path string, c storefile.Copy) error {
	ctx, end, err := s.copying.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	session, err := s.engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	c.From, c.Source, c.Now, c.Target = session, s.engine.Path(), s.writer.Clock().Now(), s.copying.target
	for _, t := range s.tables {
		c.Tables = append(c.Tables, t.kept)
	}
	if s.opts.ReadOnly {
		return c.WriteInOneState(ctx, path)
	}
	release := pinHistory(s)
	defer release()
	if c.At == 0 {
		c.At, c.Newest = s.head.Newest(), true
	} else if err := settle(s, c.At); err != nil {
		return err
	}
	return c.Write(ctx, path)
}

// pinHistory keeps everything that is in the file from being forgotten until
// release is called. Where the log is copied page by page, a version that was
// copied would come back to life if the tombstone behind it were gone when the
// copier comes there.
func pinHistory(s *Store) (release func()) {
	pin := s.pins.Pin(0)            // no pass begins a chunk from here
	resume := s.compactor.Suspend() // and the one under way stops
	return func() {
		pin.Release()
		resume()
	}
}

// Check examines the store at path, which may be in use: the file's own
// integrity, every entry of an index against the log, the chain of versions
// of every document, that the log has no row that the indexes lack, and that
// the author of each version is there. Each problem is reported as one line;
// their number is returned. The error is for a store that cannot be examined.
func Check(path string, report func(problem string)) (problems int, err error) {
	return storefile.Check(path, report)
}

// Reindex rebuilds all indexes of the store at path from its log. The store
// must not be open. tables are the declarations of all tables that have
// declared indexes or are counted. progress, if not nil, is called now and then
// with the timestamp that has been reached and the last one.
func Reindex(path string, tables []TableSpec, progress func(at, last Timestamp)) (err error) {
	declared, err := declaredTables(tables)
	if err != nil {
		return err
	}
	return storefile.Reindex(path, definitions(declared), progress)
}
