package lua

import (
	"math"
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

var baseFunctions map[string]native

func init() {
	baseFunctions = map[string]native{
		"assert":         baseAssert,
		"collectgarbage": baseCollect,
		"error":          baseError,
		"gcinfo":         func(th *thread, _ []value) []value { return th.one(number(math.Floor(kilobytes(th)))) },
		"getmetatable":   baseGetMetatable,
		"load":           baseLoad,
		"loadstring":     baseLoadString,
		"next":           baseNext,
		"pcall":          basePCall,
		"rawequal":       baseRawEqual,
		"rawget":         baseRawGet,
		"rawset":         baseRawSet,
		"select":         baseSelect,
		"setmetatable":   baseSetMetatable,
		"tonumber":       baseToNumber,
		"tostring":       baseToString,
		"type":           baseType,
		"unpack":         baseUnpack,
		"xpcall":         baseXPCall,
	}
}

func baseAssert(th *thread, args []value) []value {
	if !truth(anyArg(th, args, 1)) {
		libErrorText(th, optString(th, args, 2, "assertion failed!"))
	}
	return args
}

// libErrorText is an error with a message that is no format.
func libErrorText(th *thread, text string) { th.libError("%s", cString([]byte(text))) }

// kilobytes is what the program holds, about: what it has taken.
func kilobytes(th *thread) float64 { return 40 + float64(th.m.debt)/1024 }

func baseCollect(th *thread, args []value) []value {
	switch option := optString(th, args, 1, "collect"); option {
	case "stop", "restart", "collect":
		optInt(th, args, 2, 0)
		return th.one(number(0))
	case "setpause", "setstepmul":
		optInt(th, args, 2, 0)
		return th.one(number(200))
	case "count":
		optInt(th, args, 2, 0)
		return th.one(number(kilobytes(th)))
	case "step":
		optInt(th, args, 2, 0)
		return th.one(val.True)
	default:
		th.argError(1, "invalid option '"+option+"'")
	}
	return nil
}

func baseError(th *thread, args []value) []value {
	v, level := argAt(args, 1), optInt(th, args, 2, 1)
	if text, ok := textOf(v); ok && level > 0 {
		v = val.String(th.where(level) + text)
	}
	th.throw(v)
	return nil
}

func baseGetMetatable(th *thread, args []value) []value {
	mt := th.s.metatable(anyArg(th, args, 1))
	if mt == nil {
		return th.one(vnil)
	}
	if v := mt.getString("__metatable"); v != vnil {
		return th.one(v)
	}
	return th.one(mt)
}

func baseSetMetatable(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	mt, isTable := argAt(args, 2).(*table)
	if !isTable && (len(args) < 2 || args[1] != vnil) {
		th.argError(2, "nil or table expected")
	}
	if t.meta != nil && t.meta.getString("__metatable") != vnil {
		th.libError("cannot change a protected metatable")
	}
	if t.readonly {
		th.errorf("%s", readonlyText)
	}
	t.meta = mt
	return th.one(t)
}

func ipairsStep(th *thread, args []value) []value {
	i := intArg(th, args, 2) + 1
	v := tableArg(th, args, 1).getInt(i)
	if v == vnil {
		return nil
	}
	return th.two(number(float64(i)), v)
}

func baseNext(th *thread, args []value) []value {
	th.spendOn(argAt(args, 2))
	k, v, ok := tableArg(th, args, 1).next(argAt(args, 2))
	if !ok {
		th.errorf("invalid key to 'next'")
	}
	if k == vnil {
		return th.one(vnil)
	}
	return th.two(k, v)
}

func baseLoadString(th *thread, args []value) []value {
	text := stringArg(th, args, 1)
	return loadText(th, text, optString(th, args, 2, text))
}

func loadText(th *thread, text, name string) []value {
	th.m.charge(int64(len(text)) * 32)
	th.m.spend(int64(len(text)))
	chunk, err := compile(name, text, th.s.nested)
	if err != nil {
		return th.two(vnil, val.String(err.Error()))
	}
	return th.one(&function{proto: chunk.proto, globals: th.globals()})
}

func baseLoad(th *thread, args []value) []value {
	name := optString(th, args, 2, "=(load)") // looked at first, as in Lua
	read := functionArg(th, args, 1)
	text, raised := readAll(th, read)
	if raised != nil {
		return th.two(vnil, raised.value)
	}
	return loadText(th, text, name)
}

// readAll reads a program in pieces. What is longer than a program may be is
// cut: most likely an error comes before that.
func readAll(th *thread, read value) (text string, raised *raisedError) {
	var b strings.Builder
	for b.Len() <= maxSource {
		r, raised := th.protected(read, nil, nil)
		if raised != nil {
			return "", raised
		}
		piece := argAt(r, 1)
		s, ok := textOf(piece)
		if !ok && piece != vnil {
			return "", &raisedError{value: val.String(th.where(1) + "reader function must return a string")}
		}
		if s == "" {
			return b.String(), nil
		}
		growText(th, &b, len(s))
		b.WriteString(s)
	}
	return b.String()[:maxSource], nil
}

// basePCall is pcall as Redis has it: of an error that is a table with a text
// under "err" the text is returned, and of another table that field too.
func basePCall(th *thread, args []value) []value {
	if len(args) == 0 {
		return th.two(val.False, val.String("attempt to call a boolean value"))
	}
	r := protectedCall(th, args[0], args[1:], nil)
	if t, ok := argAt(r, 2).(*table); ok && r[0] == val.False {
		text := (&frame{th: th, fn: th.current().fn}).index(t, val.String("err"), 0, nil)
		if _, ok := textOf(text); ok {
			return th.two(val.False, text)
		}
		th.out = [4]value{val.False, t, text}
		return th.out[:3]
	}
	return r
}

func baseXPCall(th *thread, args []value) []value {
	h := anyArg(th, args, 2)
	return protectedCall(th, args[0], nil, h)
}

func protectedCall(th *thread, fn value, args []value, handler value) []value {
	r, raised := th.protected(fn, args, handler)
	if raised != nil {
		return th.two(val.False, raised.value)
	}
	all := make([]value, len(r)+1)
	all[0] = val.True
	copy(all[1:], r)
	return all
}

func baseRawEqual(th *thread, args []value) []value {
	return th.one(boolean(rawEqual(anyArg(th, args, 1), anyArg(th, args, 2))))
}

func baseRawGet(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	th.spendOn(anyArg(th, args, 2))
	return th.one(t.get(args[1]))
}

func baseRawSet(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	anyArg(th, args, 2)
	anyArg(th, args, 3)
	rawSet(th, t, args[1], args[2])
	return th.one(t)
}

// rawSet sets a field for a function of the library.
func rawSet(th *thread, t *table, key, v value) {
	th.spendOn(key)
	if t.readonly {
		th.errorf("%s", readonlyText)
	}
	if msg := badKey(key); msg != "" {
		th.errorf("%s", msg)
	}
	t.set(th.m, key, v)
}

func baseSelect(th *thread, args []value) []value {
	if s, ok := argAt(args, 1).(val.String); ok && len(s) > 0 && s[0] == '#' {
		return th.one(number(float64(len(args) - 1)))
	}
	i := intArg(th, args, 1)
	if i < 0 {
		i += len(args)
	} else {
		i = min(i, len(args))
	}
	if i < 1 {
		th.argError(1, "index out of range")
	}
	return args[i:]
}

func baseToString(th *thread, args []value) []value {
	v := anyArg(th, args, 1)
	if h := th.s.metamethod(v, "__tostring"); h != vnil {
		return th.one(th.first(h, v))
	}
	if s, ok := textOf(v); ok {
		return th.one(val.String(s))
	}
	if _, ok := v.(*val.UserData); ok {
		return th.one(val.String("userdata: (nil)")) // cjson.null; there is no other
	}
	return th.one(val.String(v.String()))
}

func baseType(th *thread, args []value) []value {
	return th.one(val.String(typeName(anyArg(th, args, 1))))
}

// maxStack is how many values a function of the library may have: LUAI_MAXCSTACK.
const maxStack = 8000

func baseUnpack(th *thread, args []value) []value {
	t := tableArg(th, args, 1)
	from := optInt(th, args, 2, 1)
	to := 0
	if missing(args, 3) {
		to = t.length()
	} else {
		to = intArg(th, args, 3)
	}
	if from > to {
		return nil
	}
	n := to - from + 1
	if n > maxStack-len(args) {
		th.libError("too many results to unpack")
	}
	th.m.spend(int64(n) / 4)
	r := make([]value, n)
	for i := range r {
		r[i] = t.getInt(from + i)
	}
	return r
}

func baseToNumber(th *thread, args []value) []value {
	base := optInt(th, args, 2, 10)
	if base == 10 {
		if n, ok := numberOf(anyArg(th, args, 1)); ok {
			return th.one(number(n))
		}
		return th.one(vnil)
	}
	s := stringArg(th, args, 1)
	if base < 2 || base > 36 {
		th.argError(2, "base out of range")
	}
	if n, ok := strtoul(s, base); ok {
		return th.one(number(float64(n)))
	}
	return th.one(vnil)
}

// strtoul reads a whole string as C's strtoul reads a number.
func strtoul(s string, base int) (n uint64, ok bool) {
	s, _, _ = strings.Cut(s, "\x00") // C sees no more
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	negative := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	if base == 16 && i+2 < len(s) && s[i] == '0' && s[i+1]|0x20 == 'x' && isHex(s[i+2]) {
		i += 2
	}
	start, over := i, false
	for ; i < len(s) && digitOf(s[i]) < base; i++ {
		d := uint64(digitOf(s[i]))
		over = over || n > (math.MaxUint64-d)/uint64(base)
		n = n*uint64(base) + d
	}
	if i == start {
		return 0, false
	}
	for _, c := range []byte(s[i:]) {
		if !isSpace(c) {
			return 0, false
		}
	}
	switch {
	case over:
		return math.MaxUint64, true
	case negative:
		return -n, true
	}
	return n, true
}

// digitOf is the value of a digit, or more than any base.
func digitOf(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'z':
		return int(c|0x20-'a') + 10
	}
	return 99
}
