package journal

import (
	"iter"
	"strings"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// Notes is a Recorder for one table, as whoever reads that sees it.
type Notes struct {
	Recorder *Recorder
	Table    *index.Table
	Aspects  []Aspect
}

// Found notes a document that was read, of which row is what was found.
func (n Notes) Found(id []byte, aspect int, row *schema.Row) {
	if aspect > len(n.Aspects) {
		aspect = Whole
	}
	n.Recorder.Document(n.Table, id, uint8(aspect), n.Aspects, row)
}

// item notes a document that a walk along a declared index came to: the
// interval says nothing about what it holds.
func (n Notes) item(item reader.Item) {
	if item.Doc != nil {
		n.Found([]byte(item.Doc.ID), Whole, item.Doc)
	}
}

// Keys notes that the keys of a range were read, or counted.
func (n Notes) Keys(r schema.KeyRange) { n.Recorder.Interval(r.Index, r.From, r.To, true) }

// Scan passes a walk along, and notes how far it came, unless n is zero.
func (n Notes) Scan(r schema.KeyRange, limit int, items iter.Seq2[reader.Item, error]) iter.Seq2[reader.Item, error] {
	if n.Recorder == nil {
		return items
	}
	declared := r.Index.Number() != 0
	return noteWalk(n.Recorder, r, limit, declared, items, func(item reader.Item) string {
		if declared {
			n.item(item)
		}
		return item.Key
	})
}

// Walk is Scan for keys alone.
func (n Notes) Walk(r schema.KeyRange, limit int, keys iter.Seq2[string, error]) iter.Seq2[string, error] {
	if n.Recorder == nil {
		return keys
	}
	return noteWalk(n.Recorder, r, limit, true, keys, func(key string) string { return key })
}

// noteWalk notes the interval from where a walk begins to the last key that it
// yields, or to the end if it got there. entries says that it yields no
// documents.
func noteWalk[T any](rec *Recorder, r schema.KeyRange, limit int, entries bool, walk iter.Seq2[T, error], keyOf func(T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var last []byte
		n, stopped := 0, false
		for item, err := range walk {
			if err == nil {
				n++
				last = append(last[:0], keyOf(item)...)
			}
			if !yield(item, err) {
				stopped = err == nil
				break
			}
		}
		read := r
		switch {
		case !stopped && (limit <= 0 || n < limit):
		case r.Reverse:
			read.From = string(last)
		default:
			read.To = string(last) + "\x00"
		}
		rec.Interval(read.Index, read.From, read.To, entries)
	}
}

// Ordered notes what is asked of a range as a whole, which is r.
func (n Notes) Ordered(r schema.KeyRange, o *reader.Ordered) {
	reader.Tell(o, &orderedNotes{n, r})
}

// orderedNotes is what an Ordered tells of what is asked of it.
type orderedNotes struct {
	Notes
	whole schema.KeyRange
}

// Passed implements reader.Noter.
func (n *orderedNotes) Passed(from, to string) {
	if from < n.whole.From {
		from = n.whole.From
	}
	if to == "" || n.whole.To != "" && to > n.whole.To {
		to = n.whole.To
	}
	n.Recorder.Interval(n.whole.Index, strings.Clone(from), to, true)
}

// Read implements reader.Noter.
func (n *orderedNotes) Read(item reader.Item) { n.item(item) }
