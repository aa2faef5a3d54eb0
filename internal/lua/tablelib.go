package lua

import (
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

var tableFunctions = map[string]native{
	"concat":   tableConcat,
	"foreach":  tableForEach,
	"foreachi": tableForEachI,
	"getn":     tableGetN,
	"insert":   tableInsert,
	"maxn":     tableMaxN,
	"remove":   tableRemove,
	"setn":     tableSetN,
	"sort":     tableSort,
}

func tableGetN(th *thread, args []value) []value {
	return th.one(number(float64(tableArg(th, args, 1).length())))
}

func tableSetN(th *thread, args []value) []value {
	tableArg(th, args, 1)
	th.libError("'setn' is obsolete")
	return nil
}

func tableMaxN(th *thread, args []value) []value {
	t, most := tableArg(th, args, 1), 0.0
	th.m.spend(int64(len(t.array)+len(t.nodes)) / 4)
	for i := range t.array {
		if !t.empty(i) {
			most = float64(i + 1)
		}
	}
	for i := range t.nodes {
		if n, ok := t.nodes[i].key.(val.Number); ok && t.nodes[i].val != vnil {
			most = max(most, float64(n))
		}
	}
	return th.one(number(most))
}

func tableForEach(th *thread, args []value) []value {
	t, fn := tableArg(th, args, 1), functionArg(th, args, 2)
	for k := vnil; ; {
		var v value
		var ok bool
		if k, v, ok = t.next(k); !ok {
			th.errorf("invalid key to 'next'")
		}
		if k == vnil {
			return nil
		}
		if r := th.first(fn, k, v); r != vnil {
			return th.one(r)
		}
	}
}

func tableForEachI(th *thread, args []value) []value {
	t, n := tableArg(th, args, 1), 0
	n = t.length()
	fn := functionArg(th, args, 2)
	for i := 1; i <= n; i++ {
		if r := th.first(fn, number(float64(i)), t.getInt(i)); r != vnil {
			return th.one(r)
		}
	}
	return nil
}

// setAt is rawset with an index.
func setAt(th *thread, t *table, i int, v value) {
	if t.readonly {
		th.errorf("%s", readonlyText)
	}
	t.setInt(th.m, i, v)
}

func tableInsert(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	end := t.length() + 1
	switch len(args) {
	case 2:
		setAt(th, t, end, args[1])
	case 3:
		at := intArg(th, args, 2)
		end = max(end, at)
		th.m.spend(int64(end-at) / 4)
		for i := end; i > at; i-- {
			setAt(th, t, i, t.getInt(i-1))
		}
		setAt(th, t, at, args[2])
	default:
		th.libError("wrong number of arguments to 'insert'")
	}
	return nil
}

func tableRemove(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	end := t.length()
	at := optInt(th, args, 2, end)
	if at < 1 || at > end {
		return nil
	}
	th.m.spend(int64(end-at) / 4)
	v := t.getInt(at)
	for ; at < end; at++ {
		setAt(th, t, at, t.getInt(at+1))
	}
	setAt(th, t, end, vnil)
	return th.one(v)
}

func tableConcat(th *thread, args []value) []value {
	t, separator := tableArg(th, args, 1), ""
	separator = optString(th, args, 2, "")
	from, to := optInt(th, args, 3, 1), 0
	if missing(args, 4) {
		to = t.length()
	} else {
		to = intArg(th, args, 4)
	}
	var b strings.Builder
	for i := from; i <= to; i++ {
		s, ok := textOf(t.getInt(i))
		if !ok {
			th.libError("invalid value (%s) at index %d in table for 'concat'", typeName(t.getInt(i)), i)
		}
		growText(th, &b, len(s)+len(separator))
		b.WriteString(s)
		if i < to {
			b.WriteString(separator)
		}
	}
	th.m.charge(16)
	return th.one(val.String(b.String()))
}

// growText counts what a string that is being made grows by.
func growText(th *thread, b *strings.Builder, n int) {
	th.m.spend(1 + int64(n)>>6)
	if b.Len()+n > b.Cap() {
		th.m.charge(int64(2*b.Cap() + n))
	}
}

func tableSort(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	n := t.length()
	s := &sorter{th: th, t: t, f: th.current()}
	if !missing(args, 2) {
		s.less = functionArg(th, args, 2)
	}
	s.sort(1, n)
	return nil
}

// sorter sorts as Lua does: the order of the comparisons can be seen.
type sorter struct {
	th   *thread
	t    *table
	f    *frame
	less value
}

func (s *sorter) before(a, b value) bool {
	s.th.m.spend(2)
	if s.less != nil {
		return truth(s.th.first(s.less, a, b))
	}
	return s.f.less(a, b, 0)
}

func (s *sorter) get(i int) value    { return s.t.getInt(i) }
func (s *sorter) set(i int, v value) { setAt(s.th, s.t, i, v) }

// order puts the pair in order and says whether it changed.
func (s *sorter) order(i, j int) bool {
	a, b := s.get(i), s.get(j)
	if !s.before(b, a) {
		return false
	}
	s.set(i, b)
	s.set(j, a)
	return true
}

func (s *sorter) sort(low, up int) {
	for low < up {
		s.order(low, up)
		if up-low == 1 {
			return
		}
		mid := (low + up) / 2
		if !s.order(low, mid) {
			s.order(mid, up)
		}
		if up-low == 2 {
			return
		}
		pivot := s.get(mid)
		other := s.get(up - 1)
		s.set(mid, other)
		s.set(up-1, pivot)
		i := s.partition(low, up, pivot)
		a, b := s.get(up-1), s.get(i)
		s.set(up-1, b)
		s.set(i, a)
		if i-low < up-i {
			s.sort(low, i-1)
			low = i + 1
		} else {
			s.sort(i+1, up)
			up = i - 1
		}
	}
}

func (s *sorter) partition(low, up int, pivot value) int {
	i, j := low, up-1
	for {
		for i++; s.before(s.get(i), pivot); i++ {
			if i > up {
				s.th.libError("invalid order function for sorting")
			}
		}
		for j--; s.before(pivot, s.get(j)); j-- {
			if j < low {
				s.th.libError("invalid order function for sorting")
			}
		}
		if j < i {
			return i
		}
		a, b := s.get(i), s.get(j)
		s.set(i, b)
		s.set(j, a)
	}
}
