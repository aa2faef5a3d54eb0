package cmsgpack

import (
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// unpacker reads values one after the other. Strings are parts of the input.
type unpacker struct {
	c         arg.Call
	in        string // what is left
	slots     int    // of Redis's stack
	allowance arg.Allowance
}

func unpack(c arg.Call) int {
	return unpackFull(c, c.Top(), 0, 0)
}

// unpackOne reads one value at an offset.
func unpackOne(c arg.Call) int {
	offset := arg.OptInteger(c, 2, 0)
	return unpackFull(c, 1, 1, offset)
}

// unpackLimit reads some values at an offset.
func unpackLimit(c arg.Call) int {
	limit := arg.Integer(c, 2)
	offset := arg.OptInteger(c, 3, 0)
	return unpackFull(c, 1, limit, offset)
}

// unpackFull returns limit values at most that begin at an offset, with before
// them the offset where to go on, or -1 at the end. Where both are 0 it returns
// all values and no offset.
func unpackFull(c arg.Call, slots int, limit, offset int64) int {
	text := arg.String(c, 1)
	switch {
	case offset < 0 || limit < 0:
		arg.Raise(c, "Invalid request to unpack with offset of %d and limit of %d.", int32(offset), int32(len(text)))
	case offset > int64(len(text)):
		arg.Raise(c, "Start offset %d greater than input length %d.", int32(offset), len(text))
	}
	all := limit == 0 && offset == 0
	if all {
		limit = math.MaxInt32
	}
	u := unpacker{c: c, in: text[offset:], slots: slots}
	var values []val.Value
	for u.in != "" && int64(len(values)) < limit {
		values = append(values, u.value())
		u.slots++
	}
	if !all {
		next := int64(len(text) - len(u.in))
		if u.in == "" {
			next = -1
		}
		u.stack(1, "in function mp_unpack_full")
		c.Push(val.Number(next))
	}
	for _, v := range values {
		c.Push(v)
	}
	if !all {
		return len(values) + 1
	}
	return len(values)
}

// stack raises an error when Redis's stack has no space for more.
func (u *unpacker) stack(slots int, where string) {
	if u.slots+slots > arg.StackSlots {
		arg.Raise(u.c, "stack overflow (%s)", where)
	}
}

// take returns the next bytes and goes on behind them.
func (u *unpacker) take(n uint64) string {
	if n > uint64(len(u.in)) {
		arg.Raise(u.c, "Missing bytes in input.")
	}
	taken := u.in[:n]
	u.in = u.in[n:]
	return taken
}

// unsigned takes a big-endian integer.
func (u *unpacker) unsigned(size uint64) uint64 {
	var v uint64
	for _, b := range []byte(u.take(size)) {
		v = v<<8 | uint64(b)
	}
	return v
}

// number takes an integer as the number that it is to C.
func number(v int64) val.Value { return val.Number(v) }

// value takes one value.
func (u *unpacker) value() val.Value {
	code := u.take(1)[0]
	u.stack(1, "too many return values at once; use unpack_one or unpack_limit instead.")
	u.allowance.Take(u.c, arg.MemberBytes)
	u.c.Spend(1)
	switch {
	case code <= msgpcode.PosFixedNumHigh:
		return number(int64(code))
	case code >= msgpcode.NegFixedNumLow:
		return number(int64(int8(code)))
	case msgpcode.IsFixedString(code):
		return val.String(u.take(uint64(code & msgpcode.FixedStrMask)))
	case msgpcode.IsFixedArray(code):
		return u.array(uint64(code & msgpcode.FixedArrayMask))
	case msgpcode.IsFixedMap(code):
		return u.table(uint64(code & msgpcode.FixedMapMask))
	}
	return u.coded(code)
}

// coded takes a value whose first byte says what it is.
func (u *unpacker) coded(code byte) val.Value {
	switch code {
	case msgpcode.Nil:
		return val.Nil
	case msgpcode.False:
		return val.False
	case msgpcode.True:
		return val.True
	case msgpcode.Uint8, msgpcode.Uint16, msgpcode.Uint32, msgpcode.Uint64:
		return number(int64(u.unsigned(1 << (code - msgpcode.Uint8)))) // the greatest are negative, as in Redis
	case msgpcode.Int8:
		return number(int64(int8(u.unsigned(1))))
	case msgpcode.Int16:
		return number(int64(int16(u.unsigned(2))))
	case msgpcode.Int32:
		return number(int64(int32(u.unsigned(4))))
	case msgpcode.Int64:
		return number(int64(u.unsigned(8)))
	case msgpcode.Float:
		return val.Number(math.Float32frombits(uint32(u.unsigned(4))))
	case msgpcode.Double:
		return val.Number(math.Float64frombits(u.unsigned(8)))
	case msgpcode.Str8, msgpcode.Str16, msgpcode.Str32:
		return val.String(u.take(u.unsigned(1 << (code - msgpcode.Str8))))
	case msgpcode.Array16, msgpcode.Array32:
		return u.array(u.unsigned(2 << (code - msgpcode.Array16)))
	case msgpcode.Map16, msgpcode.Map32:
		return u.table(u.unsigned(2 << (code - msgpcode.Map16)))
	}
	arg.Raise(u.c, "Bad data format in input.")
	return nil
}

// array takes so many values. Nothing is made for those that are missing.
func (u *unpacker) array(n uint64) val.Value {
	u.allowance.Take(u.c, arg.TableBytes)
	t := u.c.NewTable(0)
	u.slots++
	u.stack(1, "in function mp_decode_to_lua_array")
	u.slots++ // the index
	for i := range n {
		t.Set(u.c, val.Number(i+1), u.value())
	}
	u.slots -= 2
	return t
}

// table takes so many pairs of a key and a value.
func (u *unpacker) table(n uint64) val.Value {
	u.allowance.Take(u.c, arg.TableBytes)
	t := u.c.NewTable(0)
	u.slots++
	for range n {
		key := u.value()
		u.slots++
		value := u.value()
		u.slots--
		u.set(t, key, value)
	}
	u.slots--
	return t
}

// set gives a table a member. The errors are those of Lua itself, which name no
// place.
func (u *unpacker) set(t arg.Table, key, value val.Value) {
	if key == val.Nil {
		u.c.Raise("table index is nil")
	}
	if f, ok := key.(val.Number); ok && f != f {
		u.c.Raise("table index is NaN")
	}
	t.Set(u.c, key, value)
}
