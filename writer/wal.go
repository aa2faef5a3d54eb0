package writer

import (
	"context"
	"fmt"
	"time"

	"github.com/firndb/firn/schema"
)

// The write-ahead log is checkpointed in two steps. When it has grown by
// checkpointPages, a goroutine moves its pages into the file while commits go
// on; when few are left, the writer moves those between two groups, after
// which SQLite starts the log from its beginning. So the log's size is
// bounded, and no commit waits for more than finishPages pages.
const (
	checkpointPages = 8192 // 32 MiB of 4 KiB pages
	finishPages     = 256
	checkpointTries = 4  // rounds beside the writer before it must finish anyway
	watchEvery      = 32 // groups between two looks at the log's length
)

// wal is the writer's view of the write-ahead log.
type wal struct {
	due    chan struct{} // capacity 1: a checkpoint should begin
	finish chan struct{} // capacity 1: the writer should finish one
	groups int           // since the last look
	pages  int64         // in the log at the last look
}

func newWAL() wal {
	return wal{due: make(chan struct{}, 1), finish: make(chan struct{}, 1)}
}

// watchWAL looks at the log now and then, and finishes a checkpoint that is
// due. It is called between groups.
func (w *Writer) watchWAL(jobs int) {
	if jobs == 0 {
		return
	}
	select {
	case <-w.wal.finish:
		w.finishCheckpoint()
		return
	default:
	}
	if w.wal.groups++; w.wal.groups < watchEvery {
		return
	}
	w.wal.groups = 0
	pages, err := w.app.WALPages()
	if err != nil {
		w.opts.Logger.Warn("write-ahead log", "error", err)
		return
	}
	w.sawWAL(pages)
	if pages >= checkpointPages {
		signal(w.wal.due)
	}
}

// sawWAL adds what was written since the last look to the statistics. A log
// that has become shorter was started afresh.
func (w *Writer) sawWAL(pages int64) {
	grown := pages - w.wal.pages
	if grown < 0 {
		grown = pages
	}
	w.wal.pages = pages
	w.stats.walPages.Add(grown)
}

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// finishCheckpoint moves the last pages while nothing is appended, so that
// the next commit starts the log afresh.
func (w *Writer) finishCheckpoint() {
	r, err := w.app.Checkpoint()
	w.checkpointed(r, err)
}

// truncate empties the log's file, when the store idles.
func (w *Writer) truncate() {
	if pages, err := w.app.WALPages(); err != nil || pages == 0 {
		return
	}
	r, err := w.app.Truncate()
	w.checkpointed(r, err)
	if err == nil && !r.Busy {
		w.wal.pages = 0
	}
}

func (w *Writer) checkpointed(r schema.CheckpointResult, err error) {
	if err != nil {
		w.opts.Logger.Warn("checkpoint", "error", err)
		return
	}
	w.stats.checkpoints.Add(1)
	w.sawWAL(max(r.LogPages, w.wal.pages))
}

// runCheckpoints moves pages beside the writer whenever that is due.
func (w *Writer) runCheckpoints(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wal.due:
		}
		for range checkpointTries {
			r, err := w.opts.Engine.Checkpoint()
			if err != nil {
				w.opts.Logger.Warn("checkpoint", "error", err)
				break
			}
			if r.LogPages-r.MovedPages <= finishPages {
				break
			}
		}
		signal(w.wal.finish)
	}
}

// runSyncs makes commits durable once a second.
func (w *Writer) runSyncs(ctx context.Context) {
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
	if err := w.opts.Engine.Sync(); err != nil {
		w.doubt(fmt.Errorf("%w: fsync: %w", ErrInDoubt, err))
	}
}
