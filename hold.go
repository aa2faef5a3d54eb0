package firn

import (
	"context"
	"fmt"

	"github.com/firndb/firn/retention"
)

// Hold keeps history from a moment on, whatever the policies say, until a
// time: for a backup, or for somebody who follows slowly. What a policy has
// let go before stays forgotten.
//
//	type Hold struct {
//		Name  string    // at most 255 bytes
//		At    Timestamp // the moment; in Store.Hold, 0 is the newest
//		Until time.Time // to the microsecond; from then on it holds nothing
//	}
//
//	func (h Hold) Validate(now time.Time) error // of what cannot be held
//	func (h Hold) Encode() ([]byte, error)      // as the file has it
type Hold = retention.Hold

// Hold sets a hold, in the place of one of the same name. An At of 0 is the
// newest commit. It ends at most 30 days from now, and there are at most 1,000
// at a time. A moment that nothing can be read at any more is a
// *CompactedError, one that has not come yet a *FutureError.
func (s *Store) Hold(ctx context.Context, h Hold) error {
	if s.closed.Load() {
		return ErrClosed
	}
	h.Until = Timestamp(h.Until.UnixMicro()).Time()
	if err := h.Validate(s.opts.Now()); err != nil {
		return err
	}
	if h.At == 0 {
		h.At = s.Bounds().Newest
	}
	if err := settle(s, h.At); err != nil {
		return err
	}
	return s.state.Change(func() error {
		held := gate{store: s, at: h.At}
		if err := held.anything(); err != nil {
			return err
		}
		if err := s.held.Room(h.Name, s.opts.Now()); err != nil {
			return err
		}
		record, err := h.Encode()
		if err != nil {
			return fmt.Errorf("encode hold %q: %w", h.Name, err)
		}
		if err := writeHolds(s, ctx, h.Name, Document{Value: record, JSON: true}); err != nil {
			return err
		}
		s.held.Put(h)
		return nil
	})
}

// Release ends a hold; false if there is none of that name.
func (s *Store) Release(ctx context.Context, name string) (bool, error) {
	if s.closed.Load() {
		return false, ErrClosed
	}
	found := false
	err := s.state.Change(func() error {
		for _, h := range s.held.All(s.opts.Now()) {
			found = found || h.Name == name
		}
		if !found {
			return nil
		}
		if err := writeHolds(s, ctx, name, Document{Deleted: true}); err != nil {
			return err
		}
		s.held.Remove(name)
		return nil
	})
	return found && err == nil, err
}

// Holds are the holds that have not expired, by name.
func (s *Store) Holds() []Hold { return s.held.All(s.opts.Now()) }

// writeHolds writes one hold's document, and deletes those that have expired.
func writeHolds(s *Store, ctx context.Context, name string, doc Document) error {
	expired := s.held.Expired(s.opts.Now())
	_, err := updateSettings(s, ctx, func(tx *Tx) error {
		for _, old := range expired {
			if err := tx.write(s.internal.holds, []byte(old), Document{Deleted: true}); err != nil {
				return err
			}
		}
		return tx.write(s.internal.holds, []byte(name), doc)
	})
	if err == nil {
		s.held.Remove(expired...)
	}
	return err
}

// loadHolds reads the holds; those that have expired are deleted with the next
// change.
func loadHolds(s *Store, snap *Snapshot) error {
	for item, err := range snap.Scan(Range{Index: s.internal.holds.ByID()}) {
		if err != nil {
			return err
		}
		h, err := retention.DecodeHold(item.Doc.ID, item.Doc.Value)
		if err != nil {
			return err
		}
		s.held.Put(h)
	}
	return nil
}
