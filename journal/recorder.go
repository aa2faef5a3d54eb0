package journal

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/schema"
	"github.com/firndb/firn/tuple"
)

// What one query may depend on, before it is joined to less that says more: a
// document then is no longer told from its neighbours. Both are some hundred
// times what a usual query reads, and bound it to 100 KiB.
const (
	maxPoints = 4096
	maxSpans  = 512
)

// Recorder notes what a query reads while it runs. The zero Recorder is ready.
// It belongs to one goroutine.
type Recorder struct {
	points []noted
	known  map[pointKey]int32 // places in points
	ids    []byte
	spans  []span
	until  schema.Timestamp
	widest bool // points were joined once
}

// pointKey tells points apart.
type pointKey struct {
	hash   uint64
	aspect uint8
}

// noted is a point, and the id that it was made of.
type noted struct {
	point
	of       *index.Table
	from, to int // of the id, in ids
}

func (n *noted) id(r *Recorder) []byte { return r.ids[n.from:n.to] }

// Document notes that a document was read, of which row is what was found,
// perhaps nil: all of it, or only one of the table's aspects.
func (r *Recorder) Document(t *index.Table, id []byte, aspect uint8, aspects []Aspect, row *schema.Row) {
	k := pointKey{hashOf(t.ID, string(id)), aspect}
	if _, seen := r.known[k]; seen {
		return
	}
	if len(r.points) >= maxPoints {
		r.join()
	}
	p := point{hash: k.hash, table: t.ID, aspect: aspect}
	if aspect != Whole {
		p.print = printOf(aspects, aspect, row)
	}
	from := len(r.ids)
	r.ids = append(r.ids, id...)
	if r.known == nil {
		r.known = make(map[pointKey]int32)
	}
	r.known[k] = int32(len(r.points))
	r.points = append(r.points, noted{p, t, from, len(r.ids)})
}

// Interval notes that what an index has from from, inclusive, to to,
// exclusive, was read; "" is open. With entries only the keys were, and not
// what the documents hold. What a declared index leads to has to be noted
// besides: an index knows of a document's keys alone.
func (r *Recorder) Interval(x schema.IndexID, from, to string, entries bool) {
	if to != "" && from >= to {
		return
	}
	if n := len(r.spans); n > 0 && r.spans[n-1] == (span{x, entries, from, to}) {
		return
	}
	if len(r.spans) >= maxSpans {
		r.spans = joinSpans(r.spans)
	}
	r.spans = append(r.spans, span{x, entries, strings.Clone(from), strings.Clone(to)})
}

// Until notes that time alone may change the answer at a moment.
func (r *Recorder) Until(ts schema.Timestamp) {
	if r.until == 0 || ts < r.until {
		r.until = ts
	}
}

// Reads is what was noted of a snapshot of ts.
func (r *Recorder) Reads(ts schema.Timestamp) *Reads {
	out := &Reads{TS: ts, Until: r.until}
	out.points = make([]point, 0, len(r.points))
	for i := range r.points {
		p := r.points[i].point
		if _, whole := r.known[pointKey{p.hash, Whole}]; !whole || p.aspect == Whole {
			out.points = append(out.points, p)
		}
	}
	out.spans = slices.Clone(r.spans)
	return out
}

// join replaces points by intervals: first those that many have in common with
// their neighbours, then all of a table.
func (r *Recorder) join() {
	slices.SortFunc(r.points, func(a, b noted) int {
		return cmp.Or(cmp.Compare(a.table, b.table), bytes.Compare(a.id(r), b.id(r)))
	})
	kept := r.points[:0]
	for from := 0; from < len(r.points); {
		to := from + 1
		for to < len(r.points) && r.neighbours(&r.points[from], &r.points[to]) {
			to++
		}
		if to-from < leastJoined && !r.widest {
			kept = append(kept, r.points[from:to]...)
		} else {
			first, last := &r.points[from], &r.points[to-1]
			r.Interval(schema.ByID(first.table), string(first.id(r)), string(last.id(r))+"\x00", false)
		}
		from = to
	}
	r.widest = len(kept) > maxPoints/2
	clear(r.known)
	ids := make([]byte, 0, len(r.ids)/2)
	for i := range kept {
		p := &kept[i]
		start := len(ids)
		ids = append(ids, p.id(r)...)
		p.from, p.to = start, len(ids)
		r.known[pointKey{p.hash, p.aspect}] = int32(i)
	}
	r.points, r.ids = kept, ids
	if r.widest {
		r.join()
		r.widest = false
	}
}

// leastJoined is how many points an interval has to be worth.
const leastJoined = 8

// neighbours says whether two points may become one interval: those of a
// range, or, when that is too little, those of a table.
func (r *Recorder) neighbours(a, b *noted) bool {
	if a.table != b.table {
		return false
	}
	if r.widest || a.of.Prefix == 0 {
		return true
	}
	n, ok := tuple.PrefixLen(string(a.id(r)), a.of.Prefix)
	return ok && bytes.HasPrefix(b.id(r), a.id(r)[:n])
}

// joinSpans makes at most half as many intervals, which hold all of these.
func joinSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.index, b.index), strings.Compare(a.from, b.from))
	})
	joined := joinIf(spans, func(a, b *span) bool { return a.to == "" || b.from <= a.to })
	for len(joined) > maxSpans/2 {
		odd := false
		before := len(joined)
		joined = joinIf(joined, func(_, _ *span) bool { odd = !odd; return odd })
		if len(joined) == before {
			break // one for each index: a store has few
		}
	}
	return joined
}

// joinIf joins neighbours of one index for which together says so.
func joinIf(spans []span, together func(a, b *span) bool) []span {
	out := spans[:1]
	for i := 1; i < len(spans); i++ {
		last, next := &out[len(out)-1], &spans[i]
		if last.index != next.index || !together(last, next) {
			out = append(out, *next)
			continue
		}
		last.entries = last.entries && next.entries
		if last.to != "" && (next.to == "" || next.to > last.to) {
			last.to = next.to
		}
	}
	return out
}
