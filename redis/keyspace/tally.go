package keyspace

import (
	"slices"

	"github.com/firndb/firn"
)

// How much history a key has is told by the numbers of its versions, whose
// first and last are found at once, however many there are.

const (
	// walkedVersions is up to how many versions in a row are looked at one by
	// one: as many as cost no more than samples do.
	walkedVersions = 32

	// samples is how many of more than that are looked at for their bytes.
	samples = 12
)

// Tally is how much history a key has.
type Tally struct {
	Events         int
	Oldest, Newest firn.Timestamp // of the events
	Bytes          int            // of the versions; an estimate if there are many
	Live           bool           // the key is there
}

// Tally counts what happened to a key.
func (h *Chronicle) Tally(key []byte) (t Tally, err error) {
	q := HistoryQuery{Limit: 1}
	err = h.Each(key, &q, func(e *Event) bool {
		t.Oldest = e.TS
		return true
	})
	if err != nil || t.Oldest == 0 {
		return t, err
	}
	last, err := h.Newest(key, 0)
	if err != nil {
		return t, err
	}
	t.Newest, t.Live = last.TS, !last.Deleted && !last.Key.Ended(h.V.Now())
	for i := range h.All {
		began, err := h.began(key, i)
		if err != nil {
			return t, err
		}
		if began != nil {
			t.Events++
		}
		if err := h.tallyReign(key, &h.All[i], &t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// tallyReign adds the versions of a key in a reign.
func (h *Chronicle) tallyReign(key []byte, g *reign, t *Tally) error {
	id, span := AppendKeyID(nil, g.Space, key), firn.VersionRange{From: g.From, To: g.To}
	first, err := h.edge(id, span)
	if err != nil {
		return err
	}
	newest := span
	newest.Newest = true
	last, err := h.edge(id, newest)
	if err != nil {
		return err
	}
	if first == nil || last == nil || last.Key.Version-first.Key.Version < walkedVersions {
		_, err := h.versions(id, span, func(e *Event) bool {
			t.Events++
			t.Bytes += e.Bytes
			return true
		})
		return err
	}
	t.Events += int(last.Key.Version - first.Key.Version + 1)
	before, after, err := h.around(id, span)
	if err != nil {
		return err
	}
	if before != nil {
		if e := lapse(before, first); e != nil && e.TS >= g.From {
			t.Events++
		}
	}
	if after != nil {
		if e := lapse(last, after); e != nil && e.TS <= g.To {
			t.Events++
		}
	}
	n, err := h.estimate(id, first, last)
	t.Bytes += n
	return err
}

// estimate is about how many bytes the versions from first to last have. It
// halves the time between those neighbours that most versions lie between, and
// takes all between two that were looked at for as large as these on average.
func (h *Chronicle) estimate(id []byte, first, last *Event) (int, error) {
	seen := []*Event{first, last}
	for range samples {
		widest := 0
		for i := range seen[1:] {
			if versionsBetween(seen[i:]) > versionsBetween(seen[widest:]) {
				widest = i
			}
		}
		a, b := seen[widest], seen[widest+1]
		middle := a.TS + (b.TS-a.TS)/2
		e, err := h.edge(id, firn.VersionRange{From: middle, To: b.TS - 1})
		if err == nil && e == nil {
			e, err = h.edge(id, firn.VersionRange{From: a.TS + 1, To: middle, Newest: true})
		}
		if err != nil {
			return 0, err
		}
		if e == nil || e.TS == a.TS {
			break // one lapse and no version is between them
		}
		seen = slices.Insert(seen, widest+1, e)
	}
	bytes := first.Bytes
	for i, a := range seen[:len(seen)-1] {
		b := seen[i+1]
		bytes += b.Bytes + int(versionsBetween(seen[i:])-1)*(a.Bytes+b.Bytes)/2
	}
	return bytes, nil
}

// versionsBetween is how much the second of some events has the greater number.
func versionsBetween(seen []*Event) int64 { return seen[1].Key.Version - seen[0].Key.Version }

// VersionsOf is how many versions of a key are kept, of which k is the newest.
func (v *View) VersionsOf(id []byte, k *KeyDoc) (int, error) {
	for doc, err := range v.R.Versions(v.Keys, id, firn.VersionRange{Limit: 1}) {
		if err != nil {
			return 0, err
		}
		first, err := ParseKeyDoc(doc)
		return int(k.Version - first.Version + 1), err
	}
	return 0, nil
}
