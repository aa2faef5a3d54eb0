package index

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/firndb/firn/internal/invariant"
	"github.com/firndb/firn/schema"
)

// Names of the globals that this package keeps.
const (
	// WatermarkGlobal is the timestamp up to which every row of the log has
	// its entries in the file's indexes, as a decimal number.
	WatermarkGlobal = "indexed_ts"

	// CountsGlobal is the live documents per counted prefix at the watermark:
	// {"<table id>": {"<prefix, hexadecimal>": n}}.
	CountsGlobal = "counts"
)

// Sink takes merged entries: the part of schema.Appender that a merge needs.
type Sink interface {
	Merge([]schema.Entry) error
	Remerge([]schema.Entry) error
	SetGlobal(key, json string) error

	SetFences([]schema.Fence) error
	DropFences(schema.KeyRange) error
	Fences(dst []schema.Fence, r schema.KeyRange, from string, limit int) ([]schema.Fence, error)
	Keys(dst []schema.Entry, r schema.KeyRange, limit int) (entries []schema.Entry, rest schema.KeyRange, done bool, err error)
}

// Merger moves a frozen run into the file. Its position advances only when
// the caller says that a slice was committed, so a slice that failed is
// written again. After a restart entries are written that an interrupted merge
// may have written before: that is slower, and harmless.
//
// With the entries it keeps the fences. What an interrupted merge has written
// is in the fences, too: from the file the tail knows how far that had come.
//
// A Merger belongs to the writer's goroutine.
type Merger struct {
	tail   *Tail
	counts Counts           // as of the frozen run's last timestamp
	rest   *merging         // of the frozen run: what is not in taken
	taken  []schema.Entry   // the next entries, none of which is committed
	slice  []schema.Entry   // those of them that were written last
	newest schema.Timestamp // of what has been committed
	last   bool             // the slice in hand is the run's last

	fences  fencing
	walk    int       // see settleKeys
	before  []Reached // what interrupted merges have written, as of the start
	merging []Reached // what the file says once the slice in hand is in it
}

// NewMerger makes a merger of the tail's runs. tables are those that fences are
// kept for: all that the store has.
func NewMerger(tail *Tail, tables map[schema.TableID]*Table) *Merger {
	return &Merger{tail: tail, fences: fencing{tables: tables}, walk: settleKeys}
}

// Start freezes the tail for a merge; counts are the live documents at this
// moment, and are not kept by reference. False if there is nothing to do.
// Nothing may be staged.
func (m *Merger) Start(counts Counts) bool {
	if !m.tail.Freeze() {
		return false
	}
	m.counts, m.rest, m.newest = counts.clone(), m.tail.Runs().Frozen.merging(), 0
	m.before = slices.Clone(m.tail.Merging())
	return true
}

// Active says whether a merge is under way.
func (m *Merger) Active() bool { return m.tail.Runs().Frozen != nil }

// Write gives the next slice, of at most n entries, to sink, inside the
// transaction that sink has open, and returns its length. The last slice also
// moves the watermark.
func (m *Merger) Write(sink Sink, n int) (int, error) {
	m.taken = m.rest.slice(m.taken, n-len(m.taken))
	m.slice = m.taken[:min(n, len(m.taken))]
	m.last = len(m.slice) < n
	merge := sink.Merge
	if m.tail.Replayed() {
		merge = sink.Remerge
	}
	m.fences.sure = !m.tail.Replayed()
	counted, err := m.fences.count(sink, m.slice, m.there)
	if err != nil {
		return 0, fmt.Errorf("count %d entries: %w", len(m.slice), err)
	}
	if err := merge(m.slice); err != nil {
		return 0, fmt.Errorf("merge %d entries: %w", len(m.slice), err)
	}
	if err := m.fences.settle(sink, m.walk+n); err != nil {
		return 0, fmt.Errorf("count ranges: %w", err)
	}
	if err := m.storeMerging(sink, counted); err != nil {
		return 0, err
	}
	if !m.last {
		return len(m.slice), nil
	}
	if err := StoreWatermark(sink, m.reached(), m.counts); err != nil {
		return 0, err
	}
	return len(m.slice), nil
}

// settleKeys is how many keys a slice may walk, beside as many as it has
// entries, to count what nobody has counted: half a millisecond.
const settleKeys = 1024

// there says whether the file has an entry from a merge that was interrupted.
func (m *Merger) there(e *schema.Entry) bool {
	return slices.ContainsFunc(m.before, func(r Reached) bool { return r.has(e) })
}

// storeMerging notes how far the merge is with the slice in hand. counted says
// that this matters to who reads fences.
func (m *Merger) storeMerging(sink Sink, counted bool) error {
	stored := m.tail.Merging()
	m.merging = stored
	switch {
	case m.last:
		reached := m.reached()
		m.merging = slices.DeleteFunc(slices.Clone(m.before), func(r Reached) bool { return r.UpTo <= reached })
		if len(stored) == 0 {
			return nil
		}
	case !counted:
		return nil
	default:
		end := m.slice[len(m.slice)-1]
		at := schema.Entry{Index: end.Index, Key: strings.Clone(end.Key), TS: end.TS}
		now := Reached{m.tail.Runs().Frozen.Newest(), at}
		m.merging = slices.DeleteFunc(slices.Clone(m.before), func(r Reached) bool { return now.covers(&r) })
		m.merging = append(m.merging, now)
	}
	if err := sink.SetGlobal(MergingGlobal, encodeMerging(m.merging)); err != nil {
		return fmt.Errorf("store how far the merge is: %w", err)
	}
	return nil
}

// StoreWatermark notes that sink has every entry up to the watermark, and the
// live documents there.
func StoreWatermark(sink Sink, watermark schema.Timestamp, counts Counts) error {
	if err := sink.SetGlobal(CountsGlobal, counts.encode()); err != nil {
		return fmt.Errorf("store counts: %w", err)
	}
	if err := sink.SetGlobal(WatermarkGlobal, strconv.FormatInt(int64(watermark), 10)); err != nil {
		return fmt.Errorf("store watermark: %w", err)
	}
	return nil
}

// reached is the newest timestamp in the file once the slice in hand is. It is
// that of a commit: entries that were taken back do not count.
func (m *Merger) reached() schema.Timestamp {
	newest := m.newest
	for i := range m.slice {
		newest = max(newest, m.slice[i].TS)
	}
	return newest
}

// Committed says that the slice of the last Write is in the file.
func (m *Merger) Committed() {
	m.newest = m.reached()
	m.tail.Resume(m.merging)
	if m.last {
		m.tail.Drop(m.newest)
		m.rest, m.taken, m.slice, m.last, m.before = nil, nil, nil, false, nil
		return
	}
	m.taken = m.taken[:copy(m.taken, m.taken[len(m.slice):])]
	m.slice = nil
}

// ReadWatermark reads the file's watermark; 0 if no merge has ended yet.
func ReadWatermark(s schema.Session) (schema.Timestamp, error) {
	text, ok, err := s.Global(WatermarkGlobal)
	if err != nil || !ok {
		return 0, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: global %s is %q", schema.ErrCorrupt, WatermarkGlobal, text)
	}
	return schema.Timestamp(n), nil
}

// Counts is the number of live documents per table and prefix.
type Counts map[schema.TableID]map[string]int64

// Add changes the count of one prefix.
func (c Counts) Add(t schema.TableID, prefix string, delta int64) {
	byPrefix := c[t]
	if byPrefix == nil {
		byPrefix = map[string]int64{}
		c[t] = byPrefix
	}
	if byPrefix[prefix] += delta; byPrefix[prefix] == 0 {
		delete(byPrefix, prefix)
	}
}

func (c Counts) clone() Counts {
	copied := Counts{}
	for t, byPrefix := range c {
		copied[t] = maps.Clone(byPrefix)
	}
	return copied
}

func (c Counts) encode() string {
	shown := map[schema.TableID]map[string]int64{}
	for t, byPrefix := range c {
		shown[t] = map[string]int64{}
		for prefix, n := range byPrefix {
			shown[t][hex.EncodeToString([]byte(prefix))] = n
		}
	}
	text, err := json.Marshal(shown)
	invariant.Check(err == nil, "maps of integers can always be encoded: %v", err)
	return string(text)
}

// ReadCounts reads the counts at the watermark.
func ReadCounts(s schema.Session) (Counts, error) {
	text, ok, err := s.Global(CountsGlobal)
	if err != nil || !ok {
		return Counts{}, err
	}
	var shown map[schema.TableID]map[string]int64
	if err := json.Unmarshal([]byte(text), &shown); err != nil {
		return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, CountsGlobal, err)
	}
	counts := Counts{}
	for t, byPrefix := range shown {
		for prefix, n := range byPrefix {
			raw, err := hex.DecodeString(prefix)
			if err != nil {
				return nil, fmt.Errorf("%w: global %s: %v", schema.ErrCorrupt, CountsGlobal, err)
			}
			counts.Add(t, string(raw), n)
		}
	}
	return counts, nil
}
