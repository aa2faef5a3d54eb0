package retention

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firndb/firn/schema"
)

// Hold keeps history from At on, whatever the policies say, until a time: for
// a backup, or for somebody who follows slowly.
type Hold struct {
	Name  string // at most 255 bytes
	At    schema.Timestamp
	Until time.Time // to the microsecond; from then on it holds nothing
}

// Limits of holds: one that is forgotten must not keep everything for ever.
const (
	maxHold      = 30 * 24 * time.Hour
	maxHolds     = 1000
	maxNameBytes = 255
)

// ErrHold means that a hold has no proper name, ends too soon or too late, or
// is one too many.
var ErrHold = errors.New("firn: invalid hold")

// Validate refuses what no hold may be at a time with ErrHold.
func (h Hold) Validate(now time.Time) error {
	switch {
	case h.Name == "" || len(h.Name) > maxNameBytes:
		return fmt.Errorf("%w: name %q must have 1 to %d bytes", ErrHold, h.Name, maxNameBytes)
	case !h.Until.After(now):
		return fmt.Errorf("%w: %q ends at %s, and it is %s", ErrHold, h.Name, shown(h.Until), shown(now))
	case h.Until.Sub(now) > maxHold:
		return fmt.Errorf("%w: %q ends at %s, later than %s from now", ErrHold, h.Name, shown(h.Until), maxHold)
	}
	return nil
}

func shown(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// heldRecord is a Hold in the file, under its name.
type heldRecord struct {
	At    schema.Timestamp `json:"at"`
	Until schema.Timestamp `json:"until"`
}

// Encode is the hold's record in the file.
func (h Hold) Encode() ([]byte, error) {
	return json.Marshal(heldRecord{h.At, schema.TimestampOf(h.Until)})
}

// DecodeHold undoes Encode. What is no record is schema.ErrCorrupt.
func DecodeHold(name string, record []byte) (Hold, error) {
	var r heldRecord
	if err := json.Unmarshal(record, &r); err != nil {
		return Hold{}, fmt.Errorf("%w: hold %q: %v", schema.ErrCorrupt, name, err)
	}
	return Hold{Name: name, At: r.At, Until: r.Until.Time()}, nil
}

// Holds are the holds of a store by name. The zero Holds is ready, and safe
// for concurrent use.
type Holds struct {
	mu    sync.RWMutex
	named map[string]Hold // expired ones too, until they are removed
}

// Put sets a hold, in the place of one of the same name.
func (h *Holds) Put(hold Hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.named == nil {
		h.named = map[string]Hold{}
	}
	h.named[hold.Name] = hold
}

// Room refuses one hold more than there may be with ErrHold.
func (h *Holds) Room(name string, now time.Time) error {
	all := h.All(now)
	if len(all) < maxHolds || slices.ContainsFunc(all, func(h Hold) bool { return h.Name == name }) {
		return nil
	}
	return fmt.Errorf("%w: there are %d, and may not be more", ErrHold, maxHolds)
}

// Remove forgets holds by name.
func (h *Holds) Remove(names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, name := range names {
		delete(h.named, name)
	}
}

// All are the holds that have not expired, by name.
func (h *Holds) All(now time.Time) []Hold {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := slices.Collect(maps.Values(h.named))
	all = slices.DeleteFunc(all, func(h Hold) bool { return !h.Until.After(now) })
	slices.SortFunc(all, func(a, b Hold) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Expired are the names of the holds that have expired and were not removed.
func (h *Holds) Expired(now time.Time) []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var names []string
	for name, hold := range h.named {
		if !hold.Until.After(now) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Oldest is the oldest moment that is held; schema.MaxTimestamp if none is.
func (h *Holds) Oldest(now time.Time) schema.Timestamp {
	h.mu.RLock()
	defer h.mu.RUnlock()
	oldest := schema.MaxTimestamp
	for _, hold := range h.named {
		if hold.Until.After(now) {
			oldest = min(oldest, hold.At)
		}
	}
	return oldest
}
