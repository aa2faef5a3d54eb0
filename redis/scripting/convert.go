package scripting

import (
	"bytes"
	"math"
	"strconv"

	glua "github.com/yuin/gopher-lua"
)

// What replies are to a script:
//
//	integer          a number
//	string           a string
//	status           {ok=text}
//	error            {err=text, ignore_error_stats_update=true}
//	array            a table from 1 on
//	null             false; nil after redis.setresp(3)
//
// and, after redis.setresp(3) only:
//
//	map              {map={key=value}}
//	set              {set={member=true}}
//	double           {double=number}
//	bool             a boolean
//	big number       {big_number=text}
//	verbatim         {verbatim_string={format=three letters, string=text}}

// smallNumbers are the numbers from 0 on as Lua values, which need no memory.
// Most counts, lengths and truth values are below 1,024.
var smallNumbers = makeSmallNumbers(1024)

func makeSmallNumbers(n int) []glua.LValue {
	made := make([]glua.LValue, n)
	for i := range made {
		made[i] = glua.LNumber(i)
	}
	return made
}

func numberValue(i int64) glua.LValue {
	if i >= 0 && i < int64(len(smallNumbers)) {
		return smallNumbers[i]
	}
	return glua.LNumber(i)
}

// decoder makes Lua values of replies, which are ours and well formed.
type decoder struct {
	l    *glua.LState
	rest []byte
}

// value takes one reply off the rest.
func (d *decoder) value() glua.LValue {
	mark := d.rest[0]
	line := d.line()
	switch mark {
	case ':':
		return numberValue(parseInt(line))
	case '$':
		return d.bulk(parseInt(line))
	case '*', '>':
		return d.array(parseInt(line))
	case '+':
		return d.named("ok", glua.LString(line))
	case '-':
		return errorTable(d.l, errorIn(line), true)
	case '_':
		return glua.LNil
	}
	return d.newer(mark, line)
}

// newer is a reply of a type that only protocol 3 has.
func (d *decoder) newer(mark byte, line []byte) glua.LValue {
	switch mark {
	case '%':
		return d.pairs(parseInt(line))
	case '~':
		return d.set(parseInt(line))
	case ',':
		f, _ := strconv.ParseFloat(string(line), 64)
		if bytes.HasPrefix(line, []byte("-nan")) {
			f = math.Copysign(math.NaN(), -1)
		}
		return d.named("double", glua.LNumber(f))
	case '#':
		return glua.LBool(line[0] == 't')
	case '(':
		return d.named("big_number", glua.LString(line))
	case '=':
		return d.verbatim(parseInt(line))
	case '|':
		for range 2 * parseInt(line) {
			d.value() // scripts do not see attributes
		}
		return d.value()
	}
	return glua.LNil
}

// line takes the rest of a line off the rest, without its mark.
func (d *decoder) line() []byte {
	end := bytes.IndexByte(d.rest, '\r')
	line := d.rest[1:end]
	d.rest = d.rest[end+2:]
	return line
}

// bytes takes a string of n bytes off the rest.
func (d *decoder) bytes(n int64) []byte {
	b := d.rest[:n]
	d.rest = d.rest[n+2:]
	return b
}

func (d *decoder) bulk(n int64) glua.LValue {
	if n < 0 {
		return glua.LFalse
	}
	return glua.LString(d.bytes(n))
}

func (d *decoder) array(n int64) glua.LValue {
	if n < 0 {
		return glua.LFalse
	}
	t := d.l.CreateTable(int(n), 0)
	for i := range int(n) {
		if v := d.value(); v != glua.LNil {
			t.RawSetInt(i+1, v)
		}
	}
	return t
}

func (d *decoder) pairs(n int64) glua.LValue {
	inner := d.l.CreateTable(0, int(n))
	for range n {
		key := d.value()
		inner.RawSet(key, d.value())
	}
	return d.named("map", inner)
}

func (d *decoder) set(n int64) glua.LValue {
	inner := d.l.CreateTable(0, int(n))
	for range n {
		inner.RawSet(d.value(), glua.LTrue)
	}
	return d.named("set", inner)
}

func (d *decoder) verbatim(n int64) glua.LValue {
	b := d.bytes(n)
	inner := d.l.CreateTable(0, 2)
	inner.RawSetString("string", glua.LString(b[4:]))
	inner.RawSetString("format", glua.LString(b[:3]))
	return d.named("verbatim_string", inner)
}

// named is a table with one field.
func (d *decoder) named(name string, v glua.LValue) glua.LValue {
	t := d.l.CreateTable(0, 1)
	t.RawSetString(name, v)
	return t
}

// parseInt reads an integer that we have written.
func parseInt(digits []byte) int64 {
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	var n uint64
	for _, c := range digits {
		n = n*10 + uint64(c-'0')
	}
	if negative {
		return -int64(n)
	}
	return int64(n)
}
