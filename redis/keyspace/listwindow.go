package keyspace

import (
	"bytes"

	"github.com/firndb/firn"
	"github.com/firndb/firn/tuple"
)

// maxFromFront is how far from the front a window may begin that is read from
// there: beyond it any write to the list counts.
const maxFromFront = 1024

// Near says, where it is recorded what is read, whether a window of n items,
// which a client has asked for from start to end, is to be read with
// WalkFromFront: the reply then depends on the front of the list and on the
// items up to the window's last. Otherwise it depends on more of the key.
func (q *Sequence) Near(v *View, start, end, n int64) (bool, error) {
	switch {
	case !v.R.Recorded():
		return false, nil
	case start < 0 || end < 0 || start > maxFromFront:
		return false, Depend(v, AspectWhole)
	case n == 0:
		return false, Depend(v, AspectLength)
	}
	return true, nil
}

// WalkFromFront visits n items, all but the first skip. With all it reads on
// to the list's end: that there is no more is part of the answer.
func WalkFromFront(v *View, q *Sequence, skip, n int64, all bool, visit func(value []byte)) error {
	prefix := v.PrefixOf(q.UID)
	from := tuple.AppendInt(bytes.Clone(prefix), q.First)
	for found, err := range v.R.Scan(firn.Range{Index: v.Elements.ByID(), From: from, To: tuple.PrefixEnd(prefix)}) {
		if err != nil {
			return err
		}
		if skip > 0 {
			skip--
			continue
		}
		if n > 0 {
			visit(found.Doc.Value)
			n--
		}
		if n == 0 && !all {
			return nil
		}
	}
	if n > 0 {
		return q.endsEarly(n)
	}
	return nil
}
