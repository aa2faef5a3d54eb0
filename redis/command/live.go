package command

import "github.com/firndb/firn/resp"

// Clocked marks a read whose reply does not follow from the snapshot alone: it
// tells of the clock, or hands out a cursor that the server remembers.
const Clocked Flags = 1 << 29

// MayLive says why LIVE refuses a command; nil: it does not. What it runs has
// to follow from a snapshot, or nobody could tell when the reply changes.
func (e *Entry) MayLive() error {
	switch {
	case e.Flags&Blocks != 0:
		return resp.Error("ERR '" + e.Full + "' may wait for a key: LIVE runs reads that answer at once")
	case !e.ReadsKeys() || e.Flags&Admin != 0:
		return resp.Error("ERR '" + e.Full + "' is not a read of keys: LIVE runs nothing else")
	case e.Flags&(Random|Clocked) != 0:
		return resp.Error("ERR the reply of '" + e.Full + "' depends on chance, a cursor or the clock: LIVE could not tell when it changes")
	}
	return nil
}
