package index

import (
	"strings"

	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// Limits of fences. A reader walks at most an interval or two for a rank, and
// half a millisecond is little enough; smaller ones would make more rows for a
// merge to touch.
const (
	fencedKeys   = 512 // a range of more live keys has fences
	intervalKeys = 256 // of an interval that is made
	maxInterval  = 512 // an interval of more is split
	minInterval  = 64  // one of fewer is joined with the next
	unfencedKeys = 128 // a range that shrinks to fewer loses its fences

	// fenceWindow is how many fences are read at once. It is small because the
	// keys of a slice may be far apart, and at least 2: the end of the last is
	// not known.
	fenceWindow = 8

	// probeGain is how many keys a range without fences gains in a slice for
	// its keys to be counted; one in probeOne others is, too. So a range that
	// grows slowly is found when it has some hundred keys too many, and small
	// ranges cost a tenth of a microsecond a key.
	probeGain, probeOne = 64, 128

	// stepKeys is how many keys are walked at once.
	stepKeys = 512
)

// A fencing keeps the fences of the file true to its entries, within the
// transactions that merge. What a slice does to an interval is the sum of the
// Delta of its entries, so nothing is looked up for it. Intervals are walked
// only to be split, and ranges that have no fences yet to be counted: a bounded
// number of keys for each slice.
type fencing struct {
	tables map[schema.TableID]*Table

	// sure says that no entry of the run is in the file but those that are
	// known to be. Otherwise a process that kept no fences may have merged
	// some, and ranges without any get none.
	sure bool

	window  []schema.Fence
	dirty   []bool           // of the window
	came    [][]schema.Entry // of the window: what changes in each interval
	changes []schema.Entry
	keys    []schema.Entry

	large   []interval                 // of the slice in hand: to be split
	probes  []schema.KeyRange          // of the slice in hand: may be large enough for fences
	unbuilt map[schema.KeyRange]string // ranges with intervals that nobody has counted, and from which key on they have
	made    []schema.Fence             // scratch
}

// interval is a fence and where its interval ends.
type interval struct {
	schema.Fence
	whole schema.KeyRange // the range that it is of
	to    string
}

// rangeOf is the ordered range that an entry's key belongs to, if any.
func (f *fencing) rangeOf(e *schema.Entry) (r schema.KeyRange, ok bool) {
	t := f.tables[e.Index.Table()]
	if t == nil || e.Index.Number() > len(t.Indexes) {
		return r, false
	}
	elements := t.PrefixOf(e.Index)
	if elements == 0 {
		return r, false
	}
	n, ok := tuple.PrefixLen(e.Key, elements)
	if !ok {
		return r, false
	}
	return PrefixRange(e.Index, e.Key[:n]), true
}

// PrefixRange is all keys of an index with a prefix.
func PrefixRange(x schema.IndexID, prefix string) schema.KeyRange {
	return schema.KeyRange{Index: x, From: prefix, To: string(tuple.PrefixEnd([]byte(prefix)))}
}

// count brings the fences up to date with a slice that is about to be merged.
// there tells of an entry whether the file has it already. changed says that
// the slice changes what fences count, whether there are any or not.
func (f *fencing) count(sink Sink, slice []schema.Entry, there func(*schema.Entry) bool) (changed bool, err error) {
	f.large, f.probes = f.large[:0], f.probes[:0]
	for len(slice) > 0 {
		n := 1
		if slice[0].Changes {
			if r, ok := f.rangeOf(&slice[0]); ok {
				changed = true
				f.changes = f.changes[:0]
				for n = 0; n < len(slice) && slice[n].Index == r.Index && strings.HasPrefix(slice[n].Key, r.From); n++ {
					if slice[n].Changes && !there(&slice[n]) {
						f.changes = append(f.changes, slice[n])
					}
				}
				if err := f.countRange(sink, r, f.changes); err != nil {
					return changed, err
				}
			}
		}
		slice = slice[n:]
	}
	return changed, nil
}

// countRange applies the changes of one range to its fences.
func (f *fencing) countRange(sink Sink, r schema.KeyRange, changes []schema.Entry) (err error) {
	all := changes
	for len(changes) > 0 {
		if f.window, err = sink.Fences(f.window[:0], r, changes[0].Key, fenceWindow); err != nil {
			return err
		}
		if len(f.window) == 0 {
			f.suspect(r, all)
			return nil
		}
		changes = f.apply(r, changes)
		if err := f.write(sink, r); err != nil {
			return err
		}
	}
	return nil
}

// apply adds the changes to the window's fences, and returns those behind it.
func (f *fencing) apply(r schema.KeyRange, changes []schema.Entry) []schema.Entry {
	f.dirty = append(f.dirty[:0], make([]bool, len(f.window))...)
	f.came = append(f.came[:0], make([][]schema.Entry, len(f.window))...)
	known := f.known()
	for i := range known {
		fence := &f.window[i]
		to, first := f.end(i, r), changes
		for len(changes) > 0 && (to == "" || changes[0].Key < to) {
			if fence.Live == schema.Uncounted {
				f.build(r, fence.Key)
			} else {
				fence.Live += changes[0].Delta()
				fence.TS = max(fence.TS, changes[0].TS)
				f.dirty[i] = true
			}
			changes = changes[1:]
		}
		f.came[i] = first[:len(first)-len(changes)]
		if fence.Live < 0 && fence.Live != schema.Uncounted {
			fence.Live = schema.Uncounted // a number that cannot be is not kept
			f.build(r, fence.Key)
		}
	}
	return changes
}

// known is how many fences of the window have a known end.
func (f *fencing) known() int {
	if len(f.window) < fenceWindow {
		return len(f.window)
	}
	return fenceWindow - 1
}

// end is where the i-th interval of the window ends.
func (f *fencing) end(i int, r schema.KeyRange) string {
	if i+1 < len(f.window) {
		return f.window[i+1].Key
	}
	return r.To
}

// write joins what has become small, and writes the window's fences that have
// changed.
func (f *fencing) write(sink Sink, r schema.KeyRange) error {
	whole := len(f.window) < fenceWindow
	for i := 0; i+1 < len(f.window); i++ {
		if fence, next := &f.window[i], f.window[i+1]; f.dirty[i] && joins(fence, &next) {
			fence.Live += next.Live
			fence.TS = max(fence.TS, next.TS)
			gone := schema.KeyRange{Index: r.Index, From: next.Key, To: next.Key + "\x00"}
			if err := sink.DropFences(gone); err != nil {
				return err
			}
			f.window = append(f.window[:i+1], f.window[i+2:]...)
			f.dirty = append(f.dirty[:i+1], f.dirty[i+2:]...)
			f.came = append(f.came[:i+1], f.came[i+2:]...)
			i--
		}
	}
	if first := &f.window[0]; whole && len(f.window) == 1 && first.Key == r.From && first.Live != schema.Uncounted && first.Live < unfencedKeys {
		return sink.DropFences(r)
	}
	f.made = f.made[:0]
	for i, fence := range f.window {
		if !f.dirty[i] {
			continue
		}
		if fence.Live > maxInterval {
			in := interval{fence, r, f.end(i, r)}
			cut, err := f.cutNew(sink, in, f.came[i])
			if err != nil {
				return err
			}
			if cut {
				continue
			}
			f.large = append(f.large, in)
		}
		f.made = append(f.made, fence)
	}
	return sink.SetFences(f.made)
}

// joins says that an interval should be one with the next.
func joins(fence, next *schema.Fence) bool {
	return fence.Live != schema.Uncounted && next.Live != schema.Uncounted &&
		fence.Live < minInterval && fence.Live+next.Live <= intervalKeys
}

// suspect notes that a range without fences may have become large.
func (f *fencing) suspect(r schema.KeyRange, changes []schema.Entry) {
	if !f.sure {
		return
	}
	gain, drawn := int64(0), false
	for i := range changes {
		gain += changes[i].Delta()
		drawn = drawn || hashKey(r.Index, changes[i].Key)%probeOne == 0
	}
	if gain >= probeGain || gain > 0 && drawn {
		f.probes = append(f.probes, r)
	}
}

// build notes that a range has an interval that nobody has counted.
func (f *fencing) build(r schema.KeyRange, key string) {
	if f.unbuilt == nil {
		f.unbuilt = map[schema.KeyRange]string{}
	}
	from, ok := f.unbuilt[r]
	if !ok {
		r.From = strings.Clone(r.From) // of a run that will be dropped
	}
	if !ok || key < from {
		f.unbuilt[r] = strings.Clone(key)
	}
}

// settle splits what the slice has made large, and counts what nobody has
// counted yet, up to about so many keys. The slice is in the file.
func (f *fencing) settle(sink Sink, keys int) error {
	for _, in := range f.large {
		if err := f.split(sink, in); err != nil {
			return err
		}
	}
	for _, r := range f.probes {
		large, err := f.probe(sink, r)
		if err != nil {
			return err
		}
		if !large {
			continue
		}
		if err := sink.SetFences([]schema.Fence{{Index: r.Index, Key: r.From, Live: schema.Uncounted}}); err != nil {
			return err
		}
		f.build(r, r.From)
	}
	for r := range f.unbuilt {
		if keys <= 0 {
			return nil
		}
		walked, err := f.countUncounted(sink, r, keys)
		if err != nil {
			return err
		}
		keys -= max(walked, 1)
	}
	return nil
}

// probe says whether a range without fences has enough live keys for some. A
// range of many dead ones is looked at for as long as a large one.
func (f *fencing) probe(sink Sink, r schema.KeyRange) (large bool, err error) {
	live, done := 0, false
	for walked := 0; !done && walked < 2*fencedKeys; walked += len(f.keys) {
		if f.keys, r, done, err = sink.Keys(f.keys[:0], r, stepKeys); err != nil {
			return false, err
		}
		for i := range f.keys {
			if !f.keys[i].Deleted {
				live++
			}
		}
	}
	return live > fencedKeys, nil
}
