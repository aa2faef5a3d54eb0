package journal

import (
	"hash/maphash"

	"github.com/firndb/firn/schema"
)

// Reads is what the answer of a query depends on: the documents and intervals
// that it read of a snapshot, and the moment from which time alone changes it.
// A [Recorder] makes it, and a [Matcher] tells when it is stale. It does not
// change.
//
// What it says is never too little, and may be too much: a document is kept as
// a hash of its id, and a query that reads very much has its documents and
// intervals joined, see maxPoints and maxSpans.
type Reads struct {
	TS    schema.Timestamp // the snapshot's
	Until schema.Timestamp // the earliest moment at which time alone changes the answer; 0: never

	points   []point
	spans    []span
	counters *counters // nil: nobody counts
}

// point is a document that was read, present or not.
type point struct {
	hash   uint64 // of table and id
	print  uint64 // of the aspect that was read; of no meaning for Whole
	table  schema.TableID
	aspect uint8 // Whole, or the number of an aspect
}

// span is an interval of an index that was read: from from, inclusive, to to,
// exclusive; "" is open.
type span struct {
	index    schema.IndexID
	entries  bool // an update of a value inside does not matter
	from, to string
}

// Whole is the aspect of a document that every version changes. The others
// count from 1, in the order in which the table declares them.
const Whole = 0

// MaxAspects is how many a table may declare: a point keeps the number in a byte.
const MaxAspects = 255

// Aspect is a projection of a live document to a fingerprint. Who reads only
// what it is made of is not concerned by versions that have the same. It must
// be a pure function.
type Aspect func(doc *schema.Row) uint64

// gonePrint is the fingerprint of a document that is not there.
const gonePrint = 0

// printOf is an aspect's fingerprint of a version; row may be nil.
func printOf(aspects []Aspect, number uint8, row *schema.Row) uint64 {
	if row == nil || row.Deleted {
		return gonePrint
	}
	if p := aspects[number-1](row); p != gonePrint {
		return p
	}
	return 1
}

// hashSeed is this process's: what is hashed never leaves it.
var hashSeed = maphash.MakeSeed()

// hashOf names a document. Two that have the same name wake each other's
// readers for nothing, which happens to nobody.
func hashOf(table schema.TableID, id string) uint64 {
	return maphash.String(hashSeed, id) ^ uint64(table)*0x9e3779b97f4a7c15
}

// Bytes is about how much memory it takes.
func (r *Reads) Bytes() int {
	n := readsBytes + len(r.points)*pointBytes + len(r.spans)*spanBytes
	for i := range r.spans {
		n += len(r.spans[i].from) + len(r.spans[i].to)
	}
	return n
}

// Sizes of the parts, on a machine of 64 bits.
const (
	readsBytes = 72
	pointBytes = 24
	spanBytes  = 40
)

// Same counts a false wake: after the query had been told to be stale, its
// answer was the same. r is what it read then.
func (r *Reads) Same() {
	if r.counters != nil {
		r.counters.falseWakes.Add(1)
	}
}
