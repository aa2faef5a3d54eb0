package firn

import (
	"errors"
	"fmt"

	"github.com/firndb/firn/internal/storefile"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/writer"
)

// Errors of a store. Callers test them with errors.Is.
var (
	// ErrNotFound means that the document had no live version at the moment
	// that was read. It is returned bare.
	ErrNotFound = reader.ErrNotFound

	// ErrCold means that Peek would have had to read the file. It is returned
	// bare.
	ErrCold = reader.ErrCold

	// ErrCompacted means that the moment is before the horizon, so that no
	// answer can be given. The error is a *CompactedError.
	ErrCompacted = retention.ErrCompacted

	// ErrFuture means that the moment has not come yet. The error is a
	// *FutureError.
	ErrFuture = retention.ErrFuture

	// ErrForked means that a token belongs to another line of history.
	ErrForked = journal.ErrForked

	// ErrMoment means that a text does not name a moment. If it is a number
	// that lacks its unit the error is a *MomentError.
	ErrMoment = errors.New("firn: invalid moment")

	// ErrClosed means that the store is closed, or closing; nothing was
	// written. Long work that had begun by then is retention.ErrUnfinished.
	ErrClosed = writer.ErrClosed

	// ErrBusy means that too many writes are waiting, or that another process
	// has held the file's write lock for longer than Options.LockWait, as the
	// text says; nothing was written.
	ErrBusy = writer.ErrBusy

	// ErrInDoubt means that the outcome of a write is not known: its context
	// ended while it was under way, or a commit or fsync failed, or the file was
	// deleted, replaced (schema.ErrReplaced) or changed by another process
	// (schema.ErrChanged). In the latter
	// case nothing more can be written, and opening the store again decides.
	ErrInDoubt = writer.ErrInDoubt

	// ErrFull means that the disk is full; nothing was written. The store goes
	// on and writes again when there is room.
	ErrFull = schema.ErrFull

	// ErrLocked means that the store is open already, here or in another
	// process.
	ErrLocked = schema.ErrLocked

	// ErrTable means that a table or index is not declared, or is declared in
	// a way that cannot work.
	ErrTable = storefile.ErrTable
)

// lockedError is the engine's word for busy, and matches ErrBusy.
type lockedError struct{ error }

func (e lockedError) Unwrap() error        { return e.error }
func (e lockedError) Is(target error) bool { return target == ErrBusy }

// CompactedError says how far back history reaches, and what is in the way. It
// matches ErrCompacted.
//
//	type CompactedError struct {
//		Asked  Timestamp // the moment that was asked for
//		Oldest Timestamp // the oldest that can be read
//		Began  Timestamp // when the store was made; 0: not known
//		Scope  Scope     // the member, or the group, in the way of a walk; of other reads zero
//		Policy Retention // what holds for it; unlimited if its history was forgotten on purpose
//	}
//
//	func (e *CompactedError) Unborn() bool // Asked is before Began: nothing was forgotten
//	func (e *CompactedError) Kept() string // what Scope keeps, in words
type CompactedError = retention.CompactedError

// FutureError says how far forward history reaches. It matches ErrFuture.
//
//	type FutureError struct {
//		Asked  Timestamp // the moment that was asked for, later than now
//		Newest Timestamp // of the last commit
//	}
type FutureError = retention.FutureError

// MomentError says what to write for a number that can only be Unix time in
// another unit. It matches ErrMoment.
type MomentError struct {
	Number Timestamp // what was given: as a timestamp, a moment of 1970
	Meant  string    // with the unit that it lacks, like 1763683200s
}

func (e *MomentError) Error() string {
	return fmt.Sprintf("firn: invalid moment: %d microseconds are a moment of 1970: write %s for Unix time", e.Number, e.Meant)
}

// Is makes the error match ErrMoment.
func (e *MomentError) Is(target error) bool { return target == ErrMoment }
