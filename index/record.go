package index

import (
	"cmp"
	"strings"

	"github.com/firndb/firn/schema"
)

// record is an entry as a run keeps it, without pointers: its key and, behind
// that, its id are in the run's slab.
type record struct {
	ts    schema.Timestamp
	index schema.IndexID
	at    place
	key   uint32 // bytes
	rest  uint32 // bytes of the id; flags above them
}

const (
	recordBytes = 24
	idBits      = 24 // schema.MaxIDBytes fits
	idMask      = 1<<idBits - 1
)

// Flags of a record.
const (
	deletedFlag uint32 = 1 << (idBits + iota)
	changesFlag
	goneFlag // about to be removed
)

// entryBytes is what an entry takes of a run's memory.
func entryBytes(e schema.Entry) int64 { return recordOverhead + int64(slabBytes(len(e.Key)+len(e.ID))) }

// recordOverhead is a record in slices that have some room left.
const recordOverhead = recordBytes + recordBytes/4

// record keeps an entry's bytes in the slab.
func (s *slab) record(e *schema.Entry) record {
	r := record{ts: e.TS, index: e.Index, at: s.put(e.Key, e.ID), key: uint32(len(e.Key)), rest: uint32(len(e.ID))}
	r.set(deletedFlag, e.Deleted)
	r.set(changesFlag, e.Changes)
	return r
}

func (r *record) is(flag uint32) bool { return r.rest&flag != 0 }

func (r *record) set(flag uint32, to bool) {
	r.rest &^= flag
	if to {
		r.rest |= flag
	}
}

func (s *slab) keyOf(r *record) string { return s.text(r.at, 0, r.key) }

func (s *slab) idOf(r *record) string { return s.text(r.at, r.key, r.rest&idMask) }

// entry is a record as an entry whose strings are the slab's.
func (s *slab) entry(r *record) schema.Entry {
	return schema.Entry{Index: r.index, Deleted: r.is(deletedFlag), Changes: r.is(changesFlag), TS: r.ts, Key: s.keyOf(r), ID: s.idOf(r)}
}

// entryOf is a record as an entry of its own: who keeps its strings keeps no
// chunk. key is the record's key, as the caller has it.
func (s *slab) entryOf(r *record, key string) schema.Entry {
	e := s.entry(r)
	e.Key, e.ID = key, strings.Clone(e.ID)
	return e
}

// compareTo orders a record and an entry by index, key and ts.
func (s *slab) compareTo(r *record, e *schema.Entry) int {
	if r.index != e.Index {
		return cmp.Compare(r.index, e.Index)
	}
	if c := strings.Compare(s.keyOf(r), e.Key); c != 0 {
		return c
	}
	return cmp.Compare(r.ts, e.TS)
}

// has says whether a record is one of a key.
func (s *slab) has(r *record, x schema.IndexID, key string) bool {
	return r.index == x && int(r.key) == len(key) && s.keyOf(r) == key
}

// part is sorted records. No two parts of a run have an equal one.
type part []record

// after is the position of the first record greater than e.
func (s *slab) after(p part, e *schema.Entry) int {
	from, to := 0, len(p)
	for from < to {
		if middle := int(uint(from+to) >> 1); s.compareTo(&p[middle], e) <= 0 {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from
}

// newest is the newest record of a key at or before at, nil if there is none.
func (s *slab) newest(p part, x schema.IndexID, key string, at schema.Timestamp) *record {
	i := s.after(p, &schema.Entry{Index: x, Key: key, TS: at})
	if i == 0 || !s.has(&p[i-1], x, key) {
		return nil
	}
	return &p[i-1]
}
