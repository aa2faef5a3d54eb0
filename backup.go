package firn

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/firndb/firn/schema"
)

// Backup writes a copy of the store as of at, with all its history, to path;
// 0 is the newest moment. The copy is compact, and continues the same line of
// history: its tokens are those of the store.
//
// Writes go on meanwhile. The copy is made beside path, as path + ".partial",
// then read back and checked, made durable and given its name, so what has
// the name is whole; whatever else happens, nothing is left. A file that
// exists is refused with fs.ErrExist, a moment before which something has been
// forgotten with a *CompactedError, one that has not come with a *FutureError.
// There is one backup of a store at a time.
//
// progress, if not nil, is called now and then with how many bytes of how many
// are written and checked. The total is an estimate until all are written.
func (s *Store) Backup(ctx context.Context, path string, at Timestamp, progress func(done, total int64)) (err error) {
	if s.closed.Load() {
		return ErrClosed
	}
	ctx, end, err := s.copying.begin(ctx)
	if err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	defer end()
	if err := s.backup(ctx, path, at, progress); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	return nil
}

func (s *Store) backup(ctx context.Context, path string, at Timestamp, progress func(done, total int64)) error {
	session, err := s.engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	c := copier{ctx: ctx, from: session, source: s.engine.Path(), at: at, sameLine: true, progress: progress}
	c.now = s.writer.Clock().Now()
	if s.opts.ReadOnly {
		return c.transaction(path, s.copying.target)
	}
	release := s.pinHistory()
	defer release()
	if at == 0 {
		c.at, c.newest = s.head.Newest(), true
	} else if err := s.settle(at); err != nil {
		return err
	}
	return c.copy(path, s.copying.target)
}

// pinHistory keeps everything that is in the file from being forgotten until
// release is called. Where the log is copied page by page, a version that was
// copied would come back to life if the tombstone behind it were gone when the
// copier comes there.
func (s *Store) pinHistory() (release func()) { return s.pins.Pin(0).Release }

// Restore makes a store at out from that at in as of a moment, 0 for the
// newest, with the history up to there. in may be in use. The new store has a
// line of history of its own: tokens of the old one are ErrForked.
//
// Otherwise it is like [Store.Backup]: the same errors, the same check of what
// was written, and nothing under the name out but a whole store.
func Restore(in, out string, at Timestamp, progress func(done, total int64)) error {
	if err := restore(in, out, at, progress, schema.Options{}); err != nil {
		return fmt.Errorf("restore %s to %s: %w", in, out, err)
	}
	return nil
}

func restore(in, out string, at Timestamp, progress func(done, total int64), target schema.Options) (err error) {
	engine, err := schema.Open(in, schema.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	session, err := engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	c := copier{ctx: context.Background(), from: session, source: engine.Path(), at: at, progress: progress}
	c.now = schema.TimestampOf(time.Now())
	return c.transaction(out, target)
}

// transaction copies in one read transaction, so that what the process that
// has the store open forgets meanwhile is still seen.
func (c *copier) transaction(path string, target schema.Options) (err error) {
	if err := c.from.Begin(); err != nil {
		return err
	}
	session := c.from
	defer func() { err = errors.Join(err, session.End()) }()
	c.from = oneState{session}
	if c.at == 0 {
		c.at, c.newest = schema.MaxTimestamp, true
	}
	return c.copy(path, target)
}

// copying is the backup that is under way.
type copying struct {
	target schema.Options // of the copies; zero but in tests

	mu     sync.Mutex
	ended  bool // the store closes
	cancel context.CancelCauseFunc
	done   chan struct{} // closed at the end of the backup; nil: there is none
}

var errCopying = errors.New("another backup is under way")

func (c *copying) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.ended:
		return nil, nil, ErrClosed
	case c.done != nil:
		return nil, nil, errCopying
	}
	ctx, c.cancel = context.WithCancelCause(ctx)
	c.done = make(chan struct{})
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cancel(nil)
		close(c.done)
		c.done = nil
	}, nil
}

// stop ends the backup that is under way, waits for it, and refuses others.
func (c *copying) stop() {
	c.mu.Lock()
	c.ended = true
	done := c.done
	if done != nil {
		c.cancel(ErrClosed)
	}
	c.mu.Unlock()
	if done != nil {
		<-done
	}
}

// fileBytes is the size of a store's files.
func fileBytes(path string) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
