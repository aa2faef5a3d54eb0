package journal

import (
	"container/heap"

	"github.com/firndb/firn/schema"
)

// watch is somebody who wants to know when what was read is stale. It is among
// the interests until it is hit, or stopped.
type watch struct {
	stale  func(schema.Timestamp)
	after  schema.Timestamp // the reads': what was committed until then is known
	until  schema.Timestamp // the reads'
	hitAt  schema.Timestamp // by what; 0 while it was not hit
	points *pointNode       // of it, by sibling
	spans  *spanNode        // of it, by sibling
	bytes  int32
	place  int32 // in the heap of wakes; -1: it is in none
	listed bool  // among the interests
}

// interests is who reads what: each table's documents by a hash of their ids,
// each index's intervals in trees of their own, those that only entries matter
// to apart. It is not safe for concurrent use.
//
//   - What is read of a table is counted, so that a change of one that nobody
//     reads is not looked at.
//   - A watch that was hit is in none of them.
type interests struct {
	aspects map[schema.TableID][]Aspect // of the tables that have some

	tables map[schema.TableID]int // points and intervals of each; none is 0
	points points
	spans  map[spansOf]*spans
	wakes  wakes
	serial uint64 // of the last interval
	number int    // of watches
	bytes  int64
	hits   []*watch // scratch
	prints prints   // scratch
}

// spansOf names a tree of intervals.
type spansOf struct {
	index   schema.IndexID
	entries bool
}

func newInterests(aspects map[schema.TableID][]Aspect) interests {
	return interests{aspects: aspects, tables: map[schema.TableID]int{}, points: points{}, spans: map[spansOf]*spans{}}
}

// What an idle watch takes, as Go allocates it: a watch with the closure that
// stops it, and each node with its share of the map that leads to it.
const (
	watchBytes     = 112
	pointNodeBytes = 64 + 32
	spanNodeBytes  = 128
)

// add takes a watch up for what was read.
func (in *interests) add(w *watch, r *Reads) {
	w.listed, w.place, w.after, w.until = true, -1, r.TS, r.Until
	size := watchBytes
	for _, p := range r.points {
		n := &pointNode{point: p, of: w, sibling: w.points}
		w.points = n
		in.points.add(n)
		in.tables[p.table]++
		size += pointNodeBytes
	}
	for _, s := range r.spans {
		in.serial++
		n := &spanNode{span: s, of: w, serial: in.serial, sibling: w.spans}
		w.spans = n
		in.tree(&s).add(n)
		in.tables[s.index.Table()]++
		size += spanNodeBytes + len(s.from) + len(s.to)
	}
	if w.until != 0 {
		heap.Push(&in.wakes, w)
	}
	w.bytes = int32(size)
	in.number++
	in.bytes += int64(size)
}

// remove forgets a watch, if it is there.
func (in *interests) remove(w *watch) {
	if !w.listed {
		return
	}
	w.listed = false
	for n := w.points; n != nil; n = n.sibling {
		in.points.remove(n)
		in.count(n.table)
	}
	for n := w.spans; n != nil; n = n.sibling {
		k := spansOf{n.index, n.entries}
		tree := in.spans[k]
		if tree.remove(n); tree.root == nil {
			delete(in.spans, k)
		}
		in.count(n.index.Table())
	}
	if w.place >= 0 {
		heap.Remove(&in.wakes, int(w.place))
	}
	w.points, w.spans = nil, nil
	in.number--
	in.bytes -= int64(w.bytes)
}

// count takes one off a table's.
func (in *interests) count(t schema.TableID) {
	if in.tables[t]--; in.tables[t] == 0 {
		delete(in.tables, t)
	}
}

// tree is the intervals that s is to be among.
func (in *interests) tree(s *span) *spans {
	k := spansOf{s.index, s.entries}
	if in.spans[k] == nil {
		in.spans[k] = new(spans)
	}
	return in.spans[k]
}

// match appends the watches that a group of commits hits, each once, and
// forgets them.
func (in *interests) match(dst []*watch, g *Group) []*watch {
	if len(in.tables) == 0 {
		return dst
	}
	var last schema.TableID
	read := false
	for _, row := range g.Rows {
		if row.Table != last {
			last, read = row.Table, in.tables[row.Table] > 0
		}
		if read {
			dst = in.matchRow(dst, row)
		}
	}
	last, read = 0, false
	for i := range g.Entries {
		e := &g.Entries[i]
		if t := e.Index.Table(); t != last {
			last, read = t, in.tables[t] > 0
		}
		if read {
			dst = in.matchEntry(dst, e)
		}
	}
	return dst
}

func (in *interests) matchRow(dst []*watch, row *schema.Row) []*watch {
	n := in.points[hashOf(row.Table, row.ID)]
	if n == nil {
		return dst
	}
	in.prints.reset(in.aspects[row.Table], row)
	for ; n != nil; n = n.next {
		if n.aspect == Whole || n.print != in.prints.of(n.aspect) {
			in.hit(n.of, row.TS)
		}
	}
	return in.take(dst)
}

func (in *interests) matchEntry(dst []*watch, e *schema.Entry) []*watch {
	visit := func(n *spanNode) { in.hit(n.of, e.TS) }
	if tree := in.spans[spansOf{e.Index, false}]; tree != nil {
		tree.holding(e.Key, visit)
	}
	if tree := in.spans[spansOf{e.Index, true}]; tree != nil && e.Changes {
		tree.holding(e.Key, visit)
	}
	return in.take(dst)
}

// hit notes that a commit concerns a watch, unless it was read already.
func (in *interests) hit(w *watch, ts schema.Timestamp) {
	if ts > w.after && w.hitAt == 0 {
		w.hitAt = ts
		in.hits = append(in.hits, w)
	}
}

// take appends what was hit, and forgets it.
func (in *interests) take(dst []*watch) []*watch {
	for _, w := range in.hits {
		in.remove(w)
	}
	dst = append(dst, in.hits...)
	clear(in.hits)
	in.hits = in.hits[:0]
	return dst
}

// due appends the watches whose time has come, and forgets them.
func (in *interests) due(dst []*watch, now schema.Timestamp) []*watch {
	for len(in.wakes) > 0 && in.wakes[0].until <= now {
		w := in.wakes[0]
		w.hitAt = w.until
		in.hits = append(in.hits, w)
		dst = in.take(dst)
	}
	return dst
}

// all appends every watch as hit at ts, and forgets them.
func (in *interests) all(dst []*watch, ts schema.Timestamp) []*watch {
	seen := func(w *watch) {
		if w.hitAt == 0 {
			w.hitAt = max(ts, 1)
			dst = append(dst, w)
		}
	}
	for _, n := range in.points {
		for ; n != nil; n = n.next {
			seen(n.of)
		}
	}
	for _, tree := range in.spans {
		tree.each(func(n *spanNode) { seen(n.of) })
	}
	for _, w := range in.wakes {
		seen(w)
	}
	for _, w := range dst {
		w.listed, w.points, w.spans = false, nil, nil
	}
	*in = newInterests(in.aspects)
	return dst
}

// wakes is the watches that time alone makes stale, the earliest first.
type wakes []*watch

func (h wakes) Len() int           { return len(h) }
func (h wakes) Less(i, j int) bool { return h[i].until < h[j].until }
func (h wakes) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = int32(i), int32(j)
}

// Push implements heap.Interface.
func (h *wakes) Push(x any) {
	w := x.(*watch)
	w.place = int32(len(*h))
	*h = append(*h, w)
}

// Pop implements heap.Interface.
func (h *wakes) Pop() any {
	old := *h
	w := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	w.place = -1
	return w
}
