package firn

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// A store that is open for reading only is a picture of the file at the moment
// of opening: the tail and the globals are read in one read transaction, and
// its clock stands still. Another process may write meanwhile.
//
//   - What that process merges is in both the tail and the file. That does no
//     harm: it is the same as after a merge that a crash ended.
//   - What it forgets is missing from the file, and nothing else says so. So
//     after each read the horizon is read again, see whole.

var (
	// errReadOnly is what writing to such a store gets.
	errReadOnly = fmt.Errorf("firn: nothing can be written: %w", schema.ErrReadOnly)

	// errRebuilt is what reading it gets once its indexes are gone.
	errRebuilt = errors.New("firn: another process has rebuilt the indexes since the store was opened: open it again")
)

// picture is what a store knows that is open for reading only.
type picture struct {
	asOf      Timestamp        // the newest moment that is read: nothing that is not seen was committed at or before it
	watermark Timestamp        // of the indexes, at the moment of opening
	forgotten retention.Stored // how far each policy had been applied then

	mu      sync.Mutex
	session schema.Session // nil once it is closed; guarded by mu
}

// stopClock makes the moment of opening the newest that can be asked for.
func (o *Options) stopClock() {
	opened := o.Now()
	o.Now = func() time.Time { return opened }
}

// openPicture is called before anything is read through the store.
func openPicture(s *Store) (err error) {
	s.picture.asOf, s.picture.watermark = s.Bounds().Newest, s.tail.Watermark()
	s.picture.session, err = s.engine.Session()
	return err
}

func (p *picture) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return nil
	}
	session := p.session
	p.session = nil
	return session.Close()
}

// whole is the outcome of a read at ts that ended with err: an error of its
// own if some of what there was may have been missing from the file.
func whole(s *Store, ts Timestamp, err error) error {
	if !s.opts.ReadOnly {
		return err
	}
	if gone := unchanged(s, min(ts, s.picture.asOf)); gone != nil {
		return gone
	}
	return err
}

// unchanged refuses moments of which another process has forgotten anything
// since the store was opened.
func unchanged(s *Store, ts Timestamp) error {
	p := &s.picture
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == nil {
		return ErrClosed
	}
	watermark, err := index.ReadWatermark(p.session)
	if err != nil {
		return err
	}
	if watermark < p.watermark {
		return errRebuilt
	}
	now, err := retention.ReadStored(p.session)
	if err != nil {
		return err
	}
	return retention.Bound{Oldest: p.forgotten.Behind(now)}.Admit(ts)
}
