package scripting

import (
	"bytes"
	"math"
	"strconv"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
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

// decoder makes Lua values of replies, which are ours and well formed.
type decoder struct {
	c     lua.Call
	rest  []byte
	holes bool // there may be nil in arrays, which then are as Lua makes them
}

// value takes one reply off the rest.
func (d *decoder) value() val.Value {
	mark := d.rest[0]
	line := d.line()
	switch mark {
	case ':':
		return val.Number(parseInt(line))
	case '$':
		return d.bulk(parseInt(line))
	case '*', '>':
		return d.array(parseInt(line))
	case '+':
		return d.named("ok", val.String(line))
	case '-':
		return errorTable(d.c, errorIn(line), true)
	case '_':
		return val.Nil
	}
	return d.newer(mark, line)
}

// newer is a reply of a type that only protocol 3 has.
func (d *decoder) newer(mark byte, line []byte) val.Value {
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
		return d.named("double", val.Number(f))
	case '#':
		return val.Bool(line[0] == 't')
	case '(':
		return d.named("big_number", val.String(line))
	case '=':
		return d.verbatim(parseInt(line))
	case '|':
		for range 2 * parseInt(line) {
			d.value() // scripts do not see attributes
		}
		return d.value()
	}
	return val.Nil
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

func (d *decoder) bulk(n int64) val.Value {
	if n < 0 {
		return val.False
	}
	return val.String(d.bytes(n))
}

func (d *decoder) array(n int64) val.Value {
	if n < 0 {
		return val.False
	}
	t := d.newArray(n)
	for i := range n {
		t.Set(d.c, val.Number(i+1), d.value())
	}
	return t
}

func (d *decoder) newArray(n int64) arg.Table {
	if d.holes {
		return d.c.NewTable(0)
	}
	return d.c.NewArray(int(n))
}

func (d *decoder) pairs(n int64) val.Value {
	inner := d.c.NewTable(0)
	for range n {
		key := d.value()
		inner.Set(d.c, key, d.value())
	}
	return d.named("map", inner)
}

func (d *decoder) set(n int64) val.Value {
	inner := d.c.NewTable(0)
	for range n {
		inner.Set(d.c, d.value(), val.True)
	}
	return d.named("set", inner)
}

func (d *decoder) verbatim(n int64) val.Value {
	b := d.bytes(n)
	inner := d.c.NewTable(0)
	inner.Set(d.c, val.String("string"), val.String(b[4:]))
	inner.Set(d.c, val.String("format"), val.String(b[:3]))
	return d.named("verbatim_string", inner)
}

// named is a table with one field.
func (d *decoder) named(name string, v val.Value) val.Value {
	t := d.c.NewTable(0)
	t.Set(d.c, val.String(name), v)
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
