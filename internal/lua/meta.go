package lua

import (
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

// maxMetaLoop is how many __index or __newindex may follow each other: Lua's
// MAXTAGLOOP.
const maxMetaLoop = 100

func (s *State) metatable(v value) *table {
	switch v := v.(type) {
	case *table:
		return v.meta
	case val.String:
		return s.strings
	}
	return nil
}

// metamethod is a value's metamethod, or nil.
func (s *State) metamethod(v value, event string) value {
	if mt := s.metatable(v); mt != nil {
		return mt.getString(event)
	}
	return vnil
}

// longString is from where on it counts as work to hash or to compare a string.
const longString = 4096

// spendOn counts what it takes to hash a key, or to compare it.
func (th *thread) spendOn(key value) {
	if s, ok := key.(val.String); ok && len(s) > longString {
		th.m.spend(int64(len(s)) >> 6)
	}
}

// index reads a field of any value. The expression, which may be nil, gave the
// object.
func (f *frame) index(obj, key value, line int, e expr) value {
	for range maxMetaLoop {
		var h value
		if t, ok := obj.(*table); ok {
			if v := t.get(key); v != vnil || t.meta == nil {
				return v
			}
			if h = t.meta.getString("__index"); h == vnil {
				return vnil
			}
		} else if h = f.th.s.metamethod(obj, "__index"); h == vnil {
			f.typeError(line, obj, "index", e)
		}
		if isCallable(h) {
			f.line = line
			return f.th.first(h, obj, key)
		}
		obj, e = h, nil
	}
	f.fail(line, "loop in gettable")
	return nil
}

// readonlyText is what Redis answers who changes a protected table.
const readonlyText = "Attempt to modify a readonly table"

// setIndex writes a field of any value.
func (f *frame) setIndex(obj, key, v value, line int, e expr) {
	for range maxMetaLoop {
		var h value
		if t, ok := obj.(*table); ok {
			if t.readonly {
				f.fail(line, "%s", readonlyText)
			}
			if t.meta == nil || t.get(key) != vnil {
				f.rawSet(t, key, v, line)
				return
			}
			if h = t.meta.getString("__newindex"); h == vnil {
				f.rawSet(t, key, v, line)
				return
			}
		} else if h = f.th.s.metamethod(obj, "__newindex"); h == vnil {
			f.typeError(line, obj, "index", e)
		}
		if isCallable(h) {
			f.line = line
			f.th.first(h, obj, key, v)
			return
		}
		obj, e = h, nil
	}
	f.fail(line, "loop in settable")
}

func (f *frame) rawSet(t *table, key, v value, line int) {
	f.th.spendOn(key)
	if msg := badKey(key); msg != "" {
		f.fail(line, "%s", msg)
	}
	f.line = line
	t.set(f.th.m, key, v)
}

func badKey(key value) string {
	if key == vnil {
		return "table index is nil"
	}
	if n, ok := key.(val.Number); ok && n != n {
		return "table index is NaN"
	}
	return ""
}

// binaryMeta calls the metamethod of one of two operands.
func (f *frame) binaryMeta(event string, a, b value, line int) (value, bool) {
	h := f.th.s.metamethod(a, event)
	if h == vnil {
		h = f.th.s.metamethod(b, event)
	}
	if !isCallable(h) {
		return nil, false
	}
	f.line = line
	return f.th.first(h, a, b), true
}

// sameMeta calls the metamethod that both operands have.
func (f *frame) sameMeta(event string, a, b value, line int) (value, bool) {
	h := f.th.s.metamethod(a, event)
	if h == vnil {
		return nil, false
	}
	if other := f.th.s.metamethod(b, event); !rawEqual(h, other) {
		return nil, false
	}
	f.line = line
	return f.th.first(h, a, b), true
}

func (f *frame) equal(a, b value, line int) bool {
	f.th.spendOn(a)
	if rawEqual(a, b) {
		return true
	}
	if _, ok := a.(*table); !ok {
		return false
	}
	if _, ok := b.(*table); !ok {
		return false
	}
	v, ok := f.sameMeta("__eq", a, b, line)
	return ok && truth(v)
}

func (f *frame) less(a, b value, line int) bool {
	f.th.spendOn(a)
	switch x := a.(type) {
	case val.Number:
		if y, ok := b.(val.Number); ok {
			return x < y
		}
	case val.String:
		if y, ok := b.(val.String); ok {
			return x < y
		}
	}
	if a.Type() == b.Type() {
		if v, ok := f.sameMeta("__lt", a, b, line); ok {
			return truth(v)
		}
	}
	f.compareError(line, a, b)
	return false
}

func (f *frame) lessEqual(a, b value, line int) bool {
	f.th.spendOn(a)
	switch x := a.(type) {
	case val.Number:
		if y, ok := b.(val.Number); ok {
			return x <= y
		}
	case val.String:
		if y, ok := b.(val.String); ok {
			return x <= y
		}
	}
	if a.Type() == b.Type() {
		if v, ok := f.sameMeta("__le", a, b, line); ok {
			return truth(v)
		}
		if v, ok := f.sameMeta("__lt", b, a, line); ok {
			return !truth(v)
		}
	}
	f.compareError(line, a, b)
	return false
}

func (f *frame) length(v value, line int, e expr) value {
	switch v := v.(type) {
	case *table:
		return number(float64(v.length()))
	case val.String:
		return number(float64(len(v)))
	}
	if h, ok := f.binaryMeta("__len", v, vnil, line); ok {
		return h
	}
	f.typeError(line, v, "get length of", e)
	return nil
}

// join concatenates values, from the right as Lua does. It uses the slice.
func (f *frame) join(vs []value, c *concat) value {
	for n := len(vs); n > 1; {
		start, size := n, 0
		for start > 0 {
			s, ok := textOf(vs[start-1])
			if !ok {
				break
			}
			size += len(s)
			start--
		}
		if n-start >= 2 {
			f.line = c.line
			vs[start] = val.String(f.joinText(vs[start:n], size))
			n = start + 1
			continue
		}
		v, ok := f.binaryMeta("__concat", vs[n-2], vs[n-1], c.line)
		if !ok {
			at := n - 1
			if _, isText := textOf(vs[n-2]); !isText {
				at = n - 2
			}
			f.typeError(c.line, vs[at], "concatenate", c.parts[at])
		}
		vs[n-2] = v
		n--
	}
	return vs[0]
}

func (f *frame) joinText(vs []value, size int) string {
	f.th.m.charge(int64(size) + 16)
	f.th.m.spend(int64(size) >> 8)
	if len(vs) == 2 {
		a, _ := textOf(vs[0])
		b, _ := textOf(vs[1])
		return a + b
	}
	var b strings.Builder
	b.Grow(size)
	for _, v := range vs {
		s, _ := textOf(v)
		b.WriteString(s)
	}
	return b.String()
}
