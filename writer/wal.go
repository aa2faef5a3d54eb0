package writer

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// The write-ahead log is checkpointed in two steps. When it has grown by
// checkpointPages, a goroutine moves its pages into the file while commits go
// on, and syncs the file; when few are left, the writer moves those between two
// groups, after which SQLite starts the log from its beginning. So the log
// stays small, and no commit waits for more than finishPages pages.
//
// SQLite cannot start the log afresh while a reader reads from it. Where
// readers follow one another without a gap it would grow for ever, so past
// half of its bound the writer empties it itself: it appends nothing and waits
// for those who read, each time the log has grown by a sixteenth of the bound,
// and the longer the closer the bound is (patience). Whoever begins to read
// meanwhile finds everything in the file and is not in the way.
//
// A reader that never lets go cannot be helped: the log grows past its bound,
// which is counted and logged, and commits go on. The writer then waits only
// now and then, and empties the log once the reader has gone.
const (
	checkpointPages = 8192 // 32 MiB of 4 KiB pages
	finishPages     = 256
	checkpointTries = 4  // rounds beside the writer before it must finish anyway
	watchEvery      = 32 // groups between two looks at the log's length

	// walPageBytes is what a page of 4,096 bytes takes in the log.
	walPageBytes = 4096 + 24

	// Parts of the bound: where checkpoints begin at the latest, what may be
	// written between two looks, where the writer begins to wait for readers,
	// and by how much the log grows before it waits again.
	checkpointPart = 8
	lookPart       = 64
	waitPart       = 2
	againPart      = 16

	// restPages is how much the writer moves itself, at most, while the log is
	// far from its bound: about 20 ms.
	restPages = 4096

	longWait     = time.Second      // the longest that commits wait for readers
	retryPause   = time.Millisecond // between two looks whether readers have let go
	overrunPause = 30 * time.Second // between two long waits once the log is past its bound
)

// wal is the writer's view of the write-ahead log.
type wal struct {
	due    chan struct{} // capacity 1: a checkpoint should begin
	finish chan struct{} // capacity 1: the writer should finish one
	rest   atomic.Int64  // pages that were left to move when finish was signalled

	max    int64 // the bound, in pages
	groups int   // since the last look
	unseen int64 // pages written since the last look, as a guess from above
	pages  int64 // in the log at the last look

	owes    bool      // TryRun or the committer would have had to wait for readers: Run does, with nothing in the air
	again   int64     // the length at which to wait for readers again
	overrun bool      // past the bound
	waited  time.Time // when the last long wait past the bound was
}

func newWAL(maxBytes int64) *wal {
	return &wal{due: make(chan struct{}, 1), finish: make(chan struct{}, 1), max: max(maxBytes/walPageBytes, 1)}
}

// wrote notes a commit of about so many pages.
func (l *wal) wrote(pages int64) {
	l.groups++
	l.unseen += pages
}

// wroteMuch notes a commit of unknown size.
func (l *wal) wroteMuch() { l.wrote(l.max/lookPart + 1) }

// patience is how long the writer waits for readers.
func (l *wal) patience() time.Duration {
	switch {
	case l.pages < l.max/4*3:
		return 5 * time.Millisecond
	case l.pages < l.max/8*7:
		return 50 * time.Millisecond
	case l.pages >= l.max && time.Since(l.waited) < overrunPause:
		return 0
	}
	return longWait
}

// watchWAL looks at the log now and then, and finishes a checkpoint that is
// due, unless an event loop would wait for that: then Run does it. It is called
// between groups.
func watchWAL(w *Writer) {
	l := w.wal
	if l.groups == 0 {
		return
	}
	if !w.inline {
		select {
		case <-l.finish:
			finishCheckpoint(w)
			return
		default:
		}
	}
	if l.groups < watchEvery && l.unseen <= l.max/lookPart {
		return
	}
	l.groups, l.unseen = 0, 0
	pages, err := w.app.WALPages()
	if err != nil {
		w.opts.Logger.Warn("write-ahead log", "error", err)
		return
	}
	sawWAL(w, pages)
	if pages >= min(checkpointPages, l.max/checkpointPart) && len(l.finish) == 0 {
		signal(l.due)
	}
	boundWAL(w)
}

// sawWAL adds what was written since the last look to the statistics. A log
// that has become shorter was started afresh.
func sawWAL(w *Writer, pages int64) {
	grown := pages - w.wal.pages
	if grown < 0 {
		grown = pages
	}
	w.wal.pages = pages
	w.stats.walPages.Add(grown)
}

// boundWAL keeps the log, as it was seen last, below its bound.
func boundWAL(w *Writer) {
	l := w.wal
	l.owes = false
	if l.pages < l.max/waitPart {
		belowBound(w)
		return
	}
	if l.pages < l.again {
		return
	}
	wait := l.patience()
	if (w.inline || w.air.busy) && wait > 0 { // what runs beside the committer may read, too
		l.owes = true
		l.wroteMuch() // so that the goroutine looks at once
		return
	}
	l.again = l.pages + l.max/againPart
	if wait < longWait && l.rest.Load() > restPages {
		return // what is beside the writer should move more first
	}
	if emptyWAL(w, wait) {
		belowBound(w)
		return
	}
	if l.pages < l.max {
		return
	}
	if wait > 0 {
		l.waited = time.Now()
	}
	if !l.overrun {
		l.overrun = true
		w.stats.walOverruns.Add(1)
		w.opts.Logger.Warn("the write-ahead log is past its bound: a reader does not let go of it",
			"bytes", l.pages*walPageBytes, "bound", l.max*walPageBytes)
	}
}

// belowBound ends what past the bound has begun.
func belowBound(w *Writer) {
	l := w.wal
	l.again, l.waited = 0, time.Time{}
	if l.overrun {
		l.overrun = false
		w.opts.Logger.Info("the write-ahead log is below its bound again")
	}
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// finishCheckpoint moves the last pages while nothing is appended, so that
// the next commit starts the log afresh.
func finishCheckpoint(w *Writer) {
	l := w.wal
	if l.rest.Load() > restPages && l.pages < l.max/waitPart {
		return // a reader kept them; it is tried again at the next look
	}
	if l.overrun && l.rest.Load() <= finishPages {
		if emptyWAL(w, 0) {
			belowBound(w)
		}
		return
	}
	began := time.Now()
	r, err := w.app.Checkpoint()
	checkpointed(w, began, r, err)
}

// emptyWAL moves everything and empties the log's file. It waits for readers
// at most so long, and says whether it came to its end.
func emptyWAL(w *Writer, wait time.Duration) bool {
	began := time.Now()
	r, err := w.app.Truncate()
	for err == nil && r.Busy && time.Since(began) < wait {
		time.Sleep(retryPause)
		r, err = w.app.Truncate()
	}
	checkpointed(w, began, r, err)
	if err != nil || r.Busy {
		return false
	}
	w.wal.pages = 0
	return true
}

// truncateWAL empties the log's file, when the store idles. It is false if a
// reader was in the way.
func truncateWAL(w *Writer) bool {
	if pages, err := w.app.WALPages(); err != nil || pages == 0 {
		return true
	}
	if emptyWAL(w, 0) {
		belowBound(w)
		return true
	}
	return false
}

// checkpointed notes the end of a checkpoint that began then.
func checkpointed(w *Writer, began time.Time, r schema.CheckpointResult, err error) {
	if err != nil {
		w.opts.Logger.Warn("checkpoint", "error", err)
		return
	}
	w.stats.checkpoints.Add(1)
	w.stats.checkpointTimes.Add(int64(time.Since(began)))
	sawWAL(w, max(r.LogPages, w.wal.pages))
}

// runCheckpoints moves pages beside the writer whenever that is due.
func runCheckpoints(w *Writer, ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wal.due:
		}
		moveBeside(w)
		select {
		case <-w.wal.due: // signalled by who saw the log meanwhile
		default:
		}
		signal(w.wal.finish)
	}
}

// moveBeside moves the log's pages, and then those that were written meanwhile,
// until they are few: as many as a round has moved, about as many it has left.
func moveBeside(w *Writer) {
	moved := int64(0)
	for range checkpointTries {
		began := time.Now()
		r, err := w.opts.Engine.Checkpoint()
		w.stats.checkpointTimes.Add(int64(time.Since(began)))
		if err != nil {
			w.opts.Logger.Warn("checkpoint", "error", err)
			return
		}
		w.wal.rest.Store(r.LogPages - r.MovedPages)
		if r.MovedPages-moved <= finishPages {
			return
		}
		moved = r.MovedPages
	}
}

// runSyncs makes commits durable once a second, or at least looks whether the
// file is still where it was.
func runSyncs(w *Writer, ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			w.sync()
			return
		case <-tick.C:
			w.sync()
		}
	}
}

// sync covers what was committed before it began. It is never tried again
// after an error: the kernel may have dropped what it could not write.
func (w *Writer) sync() {
	if w.failure() != nil || !w.dirty.Swap(false) {
		return
	}
	if w.opts.Durability == None {
		if err := w.opts.Engine.InPlace(); err != nil {
			w.doubt(fmt.Errorf("%w: %w", ErrInDoubt, err))
		}
		return
	}
	began := time.Now()
	err := w.opts.Engine.Sync()
	w.stats.syncTimes.Add(int64(time.Since(began)))
	if err != nil {
		w.doubt(fmt.Errorf("%w: fsync: %w", ErrInDoubt, err))
	}
}
