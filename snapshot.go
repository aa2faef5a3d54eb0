package firn

import (
	"math/rand/v2"
	"sync"

	"github.com/firndb/firn/reader"
)

// Snapshot reads the store at one moment. It belongs to one goroutine, and is
// valid inside the function that it was given to.
type Snapshot struct {
	readAt
	own    reader.View // what view points to
	moment Timestamp   // 0: the present
	seat   uint32      // for Pin: it stays with the Snapshot, which is used again by the same processor
}

var _ Reader = (*Snapshot)(nil)

var snapshots = sync.Pool{New: func() any { return &Snapshot{seat: rand.Uint32()} }}

// newSnapshot is a snapshot to be closed. Nothing is pinned yet.
func newSnapshot(s *Store) *Snapshot {
	snap := snapshots.Get().(*Snapshot)
	snap.readAt = readAt{store: s, view: &snap.own, gate: gate{store: s}}
	return snap
}

func (s *Snapshot) close() {
	s.own.Close()
	s.gate.pin.Release()
	*s = Snapshot{seat: s.seat}
	snapshots.Put(s)
}

// Timestamp is the moment that was asked for; in the present, the newest
// commit's.
func (s *Snapshot) Timestamp() Timestamp { return s.own.Timestamp() }

// Moment implements Reader.
func (s *Snapshot) Moment() Timestamp {
	if s.moment != 0 || s.own.Ended() {
		return s.moment
	}
	s.moment = s.store.writer.Clock().Now()
	return s.moment
}

// Partial makes walks leave out documents that are forgotten at the moment.
// Without it a walk is a *CompactedError if one of those may have been among its
// results; the error says whose history that is. Scan, Keys, CountRange and
// Count leave out; Ordered and Warm, which need a range as a whole, and reads of
// one document are refused as before.
func (s *Snapshot) Partial() { s.gate.partial = true }
