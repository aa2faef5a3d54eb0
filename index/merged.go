package index

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/schema"
)

// MergingGlobal is how far merges came that have not ended, see [Reached]. It
// is written with a slice that changes how many keys lead somewhere.
const MergingGlobal = "merging"

// Reached is how far a merge came: of its entries, those up to At in the order
// of the index are in the file. It is of the merge of the entries behind the
// watermark up to UpTo.
type Reached struct {
	UpTo schema.Timestamp
	At   schema.Entry // Index, Key and TS
}

func (r *Reached) has(e *schema.Entry) bool { return e.TS <= r.UpTo && inOrder(e, &r.At) <= 0 }

// inOrder compares entries by index, key and ts.
func inOrder(a, b *schema.Entry) int {
	return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Key, b.Key), cmp.Compare(a.TS, b.TS))
}

// covers says that what other has reached is part of what r has.
func (r *Reached) covers(other *Reached) bool {
	return r.UpTo >= other.UpTo && inOrder(&r.At, &other.At) >= 0
}

// Merged tells which entries are in the file, and so in the counts of its
// fences. Merging has more than one element if a merge was interrupted, and the
// merge after it, too: what either has written is there.
//
// An entry that Has does not know may be in the file all the same if it does
// not change whether its key leads anywhere.
type Merged struct {
	Watermark schema.Timestamp
	Merging   []Reached
}

// Has says whether the file has an entry.
func (m *Merged) Has(e *schema.Entry) bool {
	return e.TS <= m.Watermark || slices.ContainsFunc(m.Merging, func(r Reached) bool { return r.has(e) })
}

// UpTo is the newest timestamp that an entry in the file may have. No later
// transaction may be as old.
func (m *Merged) UpTo() schema.Timestamp {
	upTo := m.Watermark
	for _, r := range m.Merging {
		upTo = max(upTo, r.UpTo)
	}
	return upTo
}

// ReadMerged reads what the file says of itself; in a read transaction it is
// true for all that is read there.
func ReadMerged(s schema.Session) (m Merged, err error) {
	if m.Watermark, err = ReadWatermark(s); err != nil {
		return m, err
	}
	text, ok, err := s.Global(MergingGlobal)
	if err != nil || !ok {
		return m, err
	}
	var shown []shownReached
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return m, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, MergingGlobal, err)
	}
	for _, r := range shown {
		key, err := hex.DecodeString(r.Key)
		if err != nil {
			return m, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, MergingGlobal, err)
		}
		m.Merging = append(m.Merging, Reached{r.UpTo, schema.Entry{Index: r.Index, Key: string(key), TS: r.TS}})
	}
	return m, nil
}

// shownReached is a Reached as the global has it.
type shownReached struct {
	UpTo  schema.Timestamp `json:"up_to"`
	Index schema.IndexID   `json:"index"`
	Key   string           `json:"key"`
	TS    schema.Timestamp `json:"ts"`
}

func encodeMerging(merging []Reached) string {
	shown := make([]shownReached, len(merging))
	for i, r := range merging {
		shown[i] = shownReached{r.UpTo, r.At.Index, hex.EncodeToString([]byte(r.At.Key)), r.At.TS}
	}
	text, err := json.Marshal(shown)
	invariant.Check(err == nil, "numbers and strings can always be encoded: %v", err)
	return string(text)
}
