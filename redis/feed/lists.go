package feed

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/tuple"
)

// A change of a list is splices, to be made one after the other: at an index, so
// many items go and others come. Items have positions that only the store knows.
// How many items are before one follows from the position alone where the list is
// even, as queues are; elsewhere they are counted, in the past.

// splice is one of a list's.
type splice struct {
	index, removed int64
	items          [][]byte
}

// place is an item of a list that a commit has written.
type place struct {
	doc      *firn.Document
	position int64
	was      bool // it had an item before
}

func (d *decoder) list(f *fields, c *collection) error {
	if c.whole {
		all := f.part()
		for _, doc := range c.own {
			if !doc.Deleted {
				all.next().Bulk(doc.Value)
			}
		}
		f.put("value", &all, array)
		return nil
	}
	places, known, err := d.places(c)
	if err != nil {
		return err
	}
	if !known {
		return d.inFull(f, c, d.list)
	}
	splices, err := d.splices(c, places)
	if err != nil {
		return err
	}
	all := f.part()
	for _, s := range splices {
		w := all.next()
		w.Array(3)
		w.Int(s.index)
		w.Int(s.removed)
		w.Array(len(s.items))
		for _, item := range s.items {
			w.Bulk(item)
		}
	}
	f.some("splices", &all, array)
	return nil
}

// places are the items that a commit has written, in their order; known is false
// if it cannot be told any more which of them were there before.
func (d *decoder) places(c *collection) (all []place, known bool, err error) {
	for _, doc := range c.own {
		position, rest, err := tuple.TakeInt(doc.ID[c.skip:])
		if err != nil || rest != "" {
			return nil, false, keyspace.ErrDamaged
		}
		was, known, err := d.previous(d.call.Elements, doc)
		if err != nil || !known {
			return nil, false, err
		}
		if was != nil || !doc.Deleted {
			all = append(all, place{doc, position, was != nil})
		}
	}
	return all, true, nil
}

// splices turns what happened at positions into what happened at indexes: when
// one is reached, what is before it is as it will be.
func (d *decoder) splices(c *collection, places []place) (all []splice, err error) {
	ranks, err := d.ranks(c, places)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		n := len(all)
		if n == 0 || all[n-1].index+int64(len(all[n-1].items)) != ranks[i] {
			all = append(all, splice{index: ranks[i]})
			n++
		}
		s := &all[n-1]
		if p.was {
			s.removed++
		}
		if !p.doc.Deleted {
			s.items = append(s.items, p.doc.Value)
		}
	}
	return all, nil
}

// ranks are how many items of the list, as the commit left it, are before each
// place.
func (d *decoder) ranks(c *collection, places []place) (ranks []int64, err error) {
	q, err := keyspace.SequenceOf(&c.ch.k)
	if err != nil {
		return nil, err
	}
	ranks = make([]int64, len(places))
	inside := false
	for i, p := range places {
		switch {
		case p.position <= q.First:
		case p.position > q.Last:
			ranks[i] = q.Length
		case p.position == q.Last:
			ranks[i] = q.Length - 1
		case q.Even():
			ranks[i] = (p.position - q.First + keyspace.ItemGap - 1) / keyspace.ItemGap
		default:
			ranks[i], inside = -1, true
		}
	}
	if !inside {
		return ranks, nil
	}
	return ranks, d.call.Store.At(d.ts, func(then *firn.Snapshot) error { return d.count(then, c, &q, places, ranks) })
}

// count finds the ranks that are not known, of places between the first and the
// last item: each from the one before it.
func (d *decoder) count(then *firn.Snapshot, c *collection, q *keyspace.Sequence, places []place, ranks []int64) error {
	from, before := q.First, int64(0)
	for i, p := range places {
		if ranks[i] < 0 {
			n, err := then.CountRange(firn.Range{
				Index: d.call.Elements.ByID(),
				From:  tuple.AppendInt([]byte(c.ch.prefix), from),
				To:    tuple.AppendInt([]byte(c.ch.prefix), p.position),
				Whole: int(q.Length),
			})
			if err != nil {
				return err
			}
			from, before = p.position, before+int64(n)
			ranks[i] = before
		}
	}
	return nil
}
