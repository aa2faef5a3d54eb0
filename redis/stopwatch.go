package redis

import (
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

// How long commands take. Reading the clock twice costs as much as a tenth of
// a small read, so those are timed one in sampleEvery; whatever may be slow is
// timed always, for the slow log has to show it. Of reads and writes that are
// many the statistics take one in sampleEvery, too.
const (
	sampleEvery = 16 // a power of two
	quickArgs   = 16 // a fast command with more arguments may be slow
)

// stopwatch times the commands of one session. Its times are by clock.
type stopwatch struct {
	ended   time.Duration  // when the last timed command ended
	endedIn firn.Timestamp // the last transaction in which one was timed
	sampled bool           // the command that runs counts for the statistics of times
}

// begin counts a call, and returns when it began; 0 if it is not timed. Every
// call is timed if all says so; tx is nil for one that does not write.
func (w *stopwatch) begin(e *command.Entry, args int, tx *firn.Tx, all bool) time.Duration {
	n := e.Calls.Add(1)
	w.sampled = n&(sampleEvery-1) == 1 || e.Flags&command.Fast == 0 && e.Flags&command.Writes == 0
	if !w.sampled && e.Flags&(command.Fast|command.Writes) == command.Fast && args <= quickArgs && !all {
		return 0
	}
	if tx != nil {
		follows := tx.Timestamp() - w.endedIn
		w.endedIn = tx.Timestamp()
		if follows == 0 || follows == 1 {
			return w.ended // the session's own transaction before this one has just ended
		}
	}
	return command.Clock()
}

// end counts how long a call has taken. It is false if the call was not timed.
func (w *stopwatch) end(e *command.Entry, began time.Duration) (took time.Duration, timed bool) {
	if began == 0 {
		return 0, false
	}
	w.ended = command.Clock()
	took = w.ended - began
	if w.sampled {
		e.Timed(took)
	}
	return took, true
}
