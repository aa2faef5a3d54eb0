package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/redis/scripting"
)

// scriptState is what a session has for the script that it runs.
type scriptState struct {
	run     *scripting.Run // nil: none runs
	hurried bool           // on an event loop: the attempt may have to be undone
	db      int            // the database that was selected before
	noted   int            // bytes in the outbox when it began
	times   stopwatch      // of the commands that the script calls

	// What an attempt that is undone takes back.
	calls    []*command.Entry
	failures []*command.Entry
	counted  keyspace.Counted // before it
	later    []func()         // what others hear of, once the attempt is known to be for good

	author scriptAuthor
}

// active says that a script runs. nil is a session that has never run one.
func (st *scriptState) active() bool { return st != nil && st.run != nil }

// undo takes back what an attempt has counted.
func (st *scriptState) undo(work *keyspace.Workspace) {
	for _, e := range st.calls {
		e.Calls.Add(-1)
	}
	for _, e := range st.failures {
		e.Failed.Add(-1)
	}
	work.Counted = st.counted
}

// soon does something that others see: at once, or, of an attempt that may have
// to be undone, when it is known not to be.
func (st *scriptState) soon(do func()) {
	if st.hurried {
		st.later = append(st.later, do)
		return
	}
	do()
}

// scriptAuthor remembers the author of the last script's transaction: making one
// costs more than a small script.
type scriptAuthor struct {
	base   firn.Author
	reason string
	made   firn.Author
}

// of is an author with the script as the reason.
func (a *scriptAuthor) of(base firn.Author, reason string) firn.Author {
	if a.reason != reason || a.base != base {
		a.base, a.reason, a.made = base, reason, base
		if own := base.Reason; own != "" {
			reason = own + " " + reason
		}
		a.made.Reason = authorText(reason, maxReasonBytes)
	}
	return a.made
}
