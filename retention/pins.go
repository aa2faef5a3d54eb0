package retention

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/firndb/firn/schema"
)

// Pins are the snapshots that are being read, so that what they see is not
// deleted meanwhile. The zero Pins is ready, and safe for concurrent use.
//
// Whoever reads pins first, then looks at the horizon, then reads. Whoever
// deletes moves the horizon first, then asks for Oldest, then deletes what was
// replaced at or before both. Of the two that come first, one is seen by the
// other: either the reader's pin is asked for, and nothing that it sees is
// deleted; or its look at the horizon comes after that has moved, and it is
// refused. So a reader need not look at the horizon again.
type Pins struct {
	places [pinPlaces]pinPlace

	mu   sync.Mutex
	more map[*pinPlace]struct{} // what found no place; guarded by mu
}

const (
	// pinPlaces is more than there are snapshots at once, mostly: they are as
	// many as goroutines that read.
	pinPlaces = 64

	// pinTries is how many places are looked at before the map, which is slower
	// than a few of them.
	pinTries = 16

	cacheLineBytes = 64
)

// pinPlace has a cache line of its own: those who pin are on many processors.
type pinPlace struct {
	// until is schema.MaxTimestamp less the moment that is pinned, so that 0 is
	// no moment, and the largest is the oldest.
	until atomic.Int64
	ended atomic.Uint32 // pins that were here; it grows before until is 0
	extra bool          // the place is in the map
	_     [cacheLineBytes - 13]byte
}

// Pin is one of the Pins. The zero Pin pins nothing.
type Pin struct {
	pins  *Pins
	place *pinPlace
}

// blocked is the value of a place whose moment is not chosen yet: it could be
// any.
const blocked = int64(schema.MaxTimestamp)

// Pin pins everything, until Set says which moment is read. The caller
// releases it. seat is any number: pins that come with numbers of their own
// are not in each other's way.
func (p *Pins) Pin(seat uint32) Pin {
	for i := range uint32(pinTries) {
		place := &p.places[(seat+i)%pinPlaces]
		if place.until.Load() == 0 && place.until.CompareAndSwap(0, blocked) {
			return Pin{p, place}
		}
	}
	place := &pinPlace{extra: true}
	place.until.Store(blocked)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.more == nil {
		p.more = map[*pinPlace]struct{}{}
	}
	p.more[place] = struct{}{}
	return Pin{p, place}
}

// Block pins everything again, as Pin did.
func (p Pin) Block() {
	if p.place != nil {
		p.place.until.Store(blocked)
	}
}

// Set pins the moments from ts on, and no longer everything.
func (p Pin) Set(ts schema.Timestamp) {
	if p.place != nil {
		p.place.until.Store(max(int64(schema.MaxTimestamp-max(ts, 0)), 1))
	}
}

// Release ends the pin, which must not be used any more.
func (p Pin) Release() {
	switch {
	case p.place == nil:
	case p.place.extra:
		p.pins.mu.Lock()
		delete(p.pins.more, p.place)
		p.pins.mu.Unlock()
		p.place.ended.Add(1)
	default:
		p.place.ended.Add(1)
		p.place.until.Store(0)
	}
}

// Before are the pins that there are now of moments before ts, or of any.
// Whoever moves a horizon to ts and then waits for these to end need not care
// for those that come later: see Pins.
func (p *Pins) Before(ts schema.Timestamp) (now Pinned) {
	look := func(place *pinPlace) {
		ended := place.ended.Load() // first: of a later pin it would say too much
		if until := place.until.Load(); until != 0 && schema.MaxTimestamp-schema.Timestamp(until) < ts {
			now = append(now, pinned{place, ended})
		}
	}
	for i := range p.places {
		look(&p.places[i])
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for place := range p.more {
		look(place)
	}
	return now
}

// Pinned are pins that there were at one time.
type Pinned []pinned

type pinned struct {
	place *pinPlace
	ended uint32
}

// Ended says whether all of them were released.
func (p Pinned) Ended() bool {
	return !slices.ContainsFunc(p, func(pin pinned) bool { return pin.place.ended.Load() == pin.ended })
}

// Oldest is the oldest moment that is pinned: 0 if one is not chosen yet,
// schema.MaxTimestamp if there is none.
func (p *Pins) Oldest() schema.Timestamp {
	var until int64
	for i := range p.places {
		until = max(until, p.places[i].until.Load())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for place := range p.more {
		until = max(until, place.until.Load())
	}
	return schema.MaxTimestamp - schema.Timestamp(until)
}
