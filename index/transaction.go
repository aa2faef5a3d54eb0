package index

import "github.com/firndb/firn/schema"

// transaction finds the entries of the newest transaction, those in recent,
// where they are neighbours. The zero transaction is ready, and whoever takes
// entries out of recent sets it to that.
type transaction struct {
	ts    schema.Timestamp
	from  int              // where it begins in recent
	until int              // what of it seen has
	seen  map[uint64]int32 // by the hash of the key; severalSeen: of more than one
}

const (
	fewInserted = 16 // are compared one by one
	severalSeen = -1
	muchSeen    = 1 << 10 // emptying a map takes time for all the room that it has
)

// find is the record in recent that equals e; nil if there is none.
func (t *transaction) find(r *Run, e *schema.Entry) *record {
	t.begin(r, e.TS)
	if len(r.recent)-t.from <= fewInserted {
		return t.search(r, e)
	}
	for ; t.until < len(r.recent); t.until++ {
		t.note(&r.slab, &r.recent[t.until])
	}
	switch at, ok := t.seen[hashKey(e.Index, e.Key)]; {
	case !ok:
		return nil
	case at == severalSeen:
		return t.search(r, e)
	case r.slab.compareTo(&r.recent[at], e) == 0:
		return &r.recent[at]
	}
	return nil
}

// begin makes t the transaction of a timestamp.
func (t *transaction) begin(r *Run, ts schema.Timestamp) {
	if t.ts == ts {
		return
	}
	from := len(r.recent)
	for from > 0 && r.recent[from-1].ts == ts {
		from--
	}
	seen := t.seen
	if len(seen) > muchSeen {
		seen = nil
	}
	clear(seen)
	*t = transaction{ts: ts, from: from, until: from, seen: seen}
}

func (t *transaction) note(s *slab, r *record) {
	if t.seen == nil {
		t.seen = map[uint64]int32{}
	}
	hash := hashKey(r.index, s.keyOf(r))
	if _, taken := t.seen[hash]; taken {
		t.seen[hash] = severalSeen
	} else {
		t.seen[hash] = int32(t.until)
	}
}

// search looks at all of them, the last first.
func (t *transaction) search(r *Run, e *schema.Entry) *record {
	for i := len(r.recent) - 1; i >= t.from; i-- {
		if r.slab.compareTo(&r.recent[i], e) == 0 {
			return &r.recent[i]
		}
	}
	return nil
}
