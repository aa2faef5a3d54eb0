package firn

import (
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
)

// newWatching makes what tells who has read something that it is stale. The
// store's journal is there.
func newWatching(s *Store) (*journal.Matcher, *journal.Watching[*Snapshot]) {
	aspects := map[schema.TableID][]journal.Aspect{}
	for _, t := range s.tables {
		if len(t.spec.Aspects) > 0 {
			aspects[t.def.ID] = t.spec.Aspects
		}
	}
	m := journal.NewMatcher(s.journal, aspects)
	return m, journal.NewWatching(m, &s.workers, func(at Timestamp, rec *journal.Recorder, fn func(*Snapshot) error) (ts Timestamp, err error) {
		recorded := func(snap *Snapshot) error {
			snap.rec, ts = rec, snap.Timestamp()
			return fn(snap)
		}
		if at == 0 {
			err = s.View(recorded)
		} else {
			err = s.At(at, recorded)
		}
		return ts, err
	})
}
