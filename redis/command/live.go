package command

import (
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Live is what makes a read command's reply stale. The zero value is always
// right: every write to a key that it names, or meets, and the end of one.
type Live struct {
	// On is what the command needs to know of the documents of its keys, beside
	// the elements that it reads. A command that has one reads whatever its reply
	// is made of, see keyspace.Aspect.
	On keyspace.Aspect

	// What says what wakes it, where that is not any write to its keys.
	What string

	// Refused says why LIVE refuses it: its reply depends on what no commit
	// changes.
	Refused string
}

// Why commands are refused.
const (
	LiveChance  = "its reply depends on chance"
	LiveClock   = "its reply changes as time goes by"
	LiveCursors = "its cursors are drawn at random"
)

// MayLive says why LIVE refuses a command; nil: it does not. What it runs has
// to follow from a snapshot, or nobody could tell when the reply changes.
func (e *Entry) MayLive() error {
	switch {
	case e.Flags&Blocks != 0:
		return resp.Error("ERR '" + e.Full + "' may wait for a key: LIVE runs reads that answer at once")
	case !e.ReadsKeys() || e.Flags&Admin != 0:
		return resp.Error("ERR '" + e.Full + "' is not a read of keys: LIVE runs nothing else")
	case e.Live.Refused != "":
		return resp.Error("ERR the reply of '" + e.Full + "' depends on chance, a cursor or the clock: LIVE could not tell when it changes")
	}
	return nil
}
