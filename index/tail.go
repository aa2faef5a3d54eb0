package index

import (
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// Tail is the index entries that are not merged into the file yet: an active
// run that grows and, while a merge is under way, a frozen one. It may hold
// entries of transactions that are not committed: a reader asks at a
// timestamp of a commit and so never sees them.
//
// One goroutine, the writer, calls Insert, Remove, Freeze and Drop. Any number
// read.
type Tail struct {
	mu     sync.RWMutex
	active *Run
	frozen *Run // nil when no merge is under way
	merged atomic.Int64

	// replayed is the newest timestamp of what was read from the log on open:
	// entries up to it may be in the file, from a merge that did not end.
	replayed atomic.Int64

	// merging is how far merges came that have not ended, as the file says.
	merging []Reached
}

// NewTail makes a tail for a store whose indexes hold everything up to the
// watermark.
func NewTail(watermark schema.Timestamp) *Tail {
	t := &Tail{active: newRun()}
	t.merged.Store(int64(watermark))
	return t
}

// Runs are the tail's runs at one time, newest first. Holding them keeps what
// they contain readable, also after a merge has dropped them from the tail;
// so take them before beginning to read the file.
type Runs struct {
	Active, Frozen *Run // Frozen may be nil
}

// Runs takes the present runs.
func (t *Tail) Runs() Runs {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return Runs{t.active, t.frozen}
}

// Watermark is the timestamp up to which the file's indexes hold everything.
func (t *Tail) Watermark() schema.Timestamp { return schema.Timestamp(t.merged.Load()) }

// Replayed says whether entries that are yet to be merged were read from the
// log, so that the file may have them.
func (t *Tail) Replayed() bool { return t.replayed.Load() > t.merged.Load() }

// Resume says how far merges came that have not ended, by what the file says.
// It belongs to the writer, as Merging does.
func (t *Tail) Resume(merging []Reached) { t.merging = merging }

// Merging is how far merges came that have not ended.
func (t *Tail) Merging() []Reached { return t.merging }

// Insert adds the entries of the newest transaction to the active run.
func (t *Tail) Insert(entries []schema.Entry) { t.active.insert(entries, false) }

// Replace is Insert for entries of which the same transaction may have inserted
// an earlier version, with the same index, key and ts.
func (t *Tail) Replace(entries []schema.Entry) { t.active.insert(entries, true) }

// Remove takes entries back that were inserted since the last Freeze: their
// transaction failed.
func (t *Tail) Remove(entries []schema.Entry) { t.active.remove(entries) }

// Freeze begins a merge: the active run becomes the frozen one. It says false
// and does nothing if there is nothing to merge or a merge is under way.
func (t *Tail) Freeze() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.frozen != nil || t.active.Len() == 0 {
		return false
	}
	t.frozen, t.active = t.active, newRun()
	return true
}

// Drop ends a merge whose entries are all in the file, committed; watermark is
// the newest of their timestamps.
func (t *Tail) Drop(watermark schema.Timestamp) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.merged.Store(int64(watermark))
	t.frozen = nil
}

// Size is the number of entries and the approximate bytes of memory in the
// active run, and in both.
func (t *Tail) Size() (active, total Size) {
	r := t.Runs()
	active = r.Active.Size()
	total = active
	if r.Frozen != nil {
		total.Entries += r.Frozen.Size().Entries
		total.Bytes += r.Frozen.Size().Bytes
	}
	return active, total
}

// Size is how much a run holds.
type Size struct {
	Entries int
	Bytes   int64
}
