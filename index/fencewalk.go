package index

import (
	"slices"

	"github.com/firndb/firn/schema"
)

// cutNew cuts an interval that has become large because new keys come behind all
// that it had, or before all of them, as in lists and logs: where they are to
// be cut the slice tells, so they are not walked. The slice is not in the file
// yet. It appends to made.
func (f *fencing) cutNew(sink Sink, in interval, came []schema.Entry) (cut bool, err error) {
	had := in.Live - int64(len(came))
	if len(came) < minInterval || had < 0 || !allNew(came) {
		return false, nil
	}
	behind, before := in.keys(), in.keys()
	behind.From, before.To = came[0].Key, came[len(came)-1].Key+"\x00"
	empty, err := f.empty(sink, behind)
	if err != nil {
		return false, err
	}
	at := max(int(intervalKeys-had), 0) // the new key that the next interval begins with
	if !empty {
		if empty, err = f.empty(sink, before); !empty || err != nil {
			return false, err
		}
		at = intervalKeys
	}
	left := in.Fence
	for left.Live > maxInterval && at < len(came) {
		full := left
		if full.Live = intervalKeys; left.Key == in.Key && at < intervalKeys {
			full.Live = had + int64(at)
		}
		f.made = append(f.made, full)
		left.Key, left.Live = came[at].Key, left.Live-full.Live
		at += intervalKeys
	}
	if left.Live > maxInterval && left.Live > had { // all before, and fewer than an interval
		full := left
		full.Live = left.Live - had
		f.made = append(f.made, full)
		left.Key, left.Live = before.To, had
	}
	if left.Live > maxInterval {
		f.large = append(f.large, interval{left, in.whole, in.to})
	}
	f.made = append(f.made, left)
	return true, nil
}

// allNew says that every change is another key that leads somewhere now.
func allNew(changes []schema.Entry) bool {
	for i := range changes {
		if changes[i].Deleted || i > 0 && changes[i].Key == changes[i-1].Key {
			return false
		}
	}
	return true
}

// empty says that no key of a part of a range leads anywhere. A part of many
// dead keys counts as not empty.
func (f *fencing) empty(sink Sink, r schema.KeyRange) (empty bool, err error) {
	f.keys, _, empty, err = sink.Keys(f.keys[:0], r, fewDead)
	return empty && !slices.ContainsFunc(f.keys, func(e schema.Entry) bool { return !e.Deleted }), err
}

// fewDead is how many dead keys are looked at to see that there are none but
// those.
const fewDead = 8

// keys is what the interval has.
func (in *interval) keys() schema.KeyRange {
	return schema.KeyRange{Index: in.Index, From: in.Key, To: in.to}
}

// split cuts a large interval into smaller ones, from its beginning on, as far
// as needed. What is left behind a cut has what the rest does not have, so a
// walk that is given up because of dead keys has still brought something.
func (f *fencing) split(sink Sink, in interval) (err error) {
	left := in.Fence
	f.made = f.made[:0]
	c := cutter{fence: schema.Fence{Index: in.Index, Key: in.Key, TS: in.TS}}
	r, done := in.keys(), false
	for walked := int64(0); !done && left.Live > maxInterval && walked < 2*in.Live+stepKeys; walked += int64(len(f.keys)) {
		if f.keys, r, done, err = sink.Keys(f.keys[:0], r, intervalKeys+1); err != nil {
			return err
		}
		for i := 0; i < len(f.keys) && left.Live > maxInterval; i++ {
			if full, ok := c.add(&f.keys[i]); ok {
				full.TS = in.TS
				f.made = append(f.made, full)
				left.Key, left.Live = c.fence.Key, left.Live-full.Live
			}
		}
	}
	if len(f.made) == 0 && !done && c.fence.Live > 0 {
		f.made = append(f.made, c.fence)
		left.Key, left.Live = r.From, left.Live-c.fence.Live
	}
	if len(f.made) == 0 {
		return nil
	}
	return sink.SetFences(append(f.made, left))
}

// countUncounted counts the intervals of a range that nobody has counted, up
// to about so many keys.
func (f *fencing) countUncounted(sink Sink, r schema.KeyRange, keys int) (walked int, err error) {
	for walked < keys {
		if f.window, err = sink.Fences(f.window[:0], r, f.unbuilt[r], fenceWindow); err != nil {
			return walked, err
		}
		i := slices.IndexFunc(f.window, func(fence schema.Fence) bool { return fence.Live == schema.Uncounted })
		switch {
		case i < 0 && len(f.window) < fenceWindow:
			delete(f.unbuilt, r)
			return walked, nil
		case i < 0 || i == fenceWindow-1: // the end of the last is not known
			f.unbuilt[r] = f.window[fenceWindow-1].Key
			walked++
			continue
		}
		f.unbuilt[r] = f.window[i].Key
		n, err := f.countInterval(sink, interval{f.window[i], r, f.end(i, r)}, keys-walked)
		if walked += n; err != nil {
			return walked, err
		}
	}
	return walked, nil
}

// countInterval cuts an interval that nobody has counted into counted ones; the
// rest, if there is any, stays uncounted.
func (f *fencing) countInterval(sink Sink, in interval, keys int) (walked int, err error) {
	f.made = f.made[:0]
	c := cutter{fence: schema.Fence{Index: in.Index, Key: in.Key}}
	r, done := in.keys(), false
	for !done && walked < keys {
		if f.keys, r, done, err = sink.Keys(f.keys[:0], r, min(stepKeys, keys-walked)); err != nil {
			return walked, err
		}
		walked += max(len(f.keys), 1)
		for i := range f.keys {
			if full, ok := c.add(&f.keys[i]); ok {
				f.made = append(f.made, full)
			}
		}
	}
	f.made = append(f.made, c.fence)
	if !done {
		f.made = append(f.made, schema.Fence{Index: in.Index, Key: r.From, Live: schema.Uncounted})
	}
	return walked, sink.SetFences(f.made)
}

// A cutter cuts keys that come in order into intervals.
type cutter struct {
	fence schema.Fence // the interval at hand
}

// add takes the next key with its newest entry. If the interval at hand has
// become full before it, that is returned, and the next begins with the key.
func (c *cutter) add(e *schema.Entry) (full schema.Fence, ok bool) {
	if c.fence.Live >= intervalKeys {
		full, ok = c.fence, true
		c.fence = schema.Fence{Index: e.Index, Key: e.Key}
	}
	if !e.Deleted {
		c.fence.Live++
	}
	c.fence.TS = max(c.fence.TS, e.TS)
	return full, ok
}
