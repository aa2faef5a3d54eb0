package cjson

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// decoder makes a value of Lua from JSON.
type decoder struct {
	scanner
	*options
	c         arg.Call
	allowance arg.Allowance
	depth     int // of tables that are being read
	slots     int // of Redis's stack: one for an array, two for an object
}

// What a table needs of Redis's stack before it is read.
const (
	arraySlots  = 2
	objectSlots = 3
)

func (o *options) decode(c arg.Call) int {
	arg.Check(c, c.Top() == 1, 1, "expected 1 argument")
	data := arg.String(c, 1)
	if len(data) >= 2 && (data[0] == 0 || data[1] == 0) {
		arg.Raise(c, "JSON parser does not support UTF-16 or UTF-32")
	}
	arg.SpendOnText(c, len(data))
	d := decoder{
		scanner: scanner{data: data, invalid: o.decodeInvalid != 0},
		options: o,
		c:       c,
		slots:   1,
	}
	v := d.value(d.next())
	if t := d.next(); t.kind != end {
		d.unexpected("the end", t)
	}
	c.Push(v)
	return 1
}

// unexpected raises the error that something else was expected than t.
func (d *decoder) unexpected(expected string, t token) {
	arg.Raise(d.c, "Expected %s but found %s at character %d", expected, t.kind, t.index+1)
}

// value returns the value that begins with t.
func (d *decoder) value(t token) val.Value {
	d.allowance.Take(d.c, arg.MemberBytes)
	switch t.kind {
	case text:
		d.take(t)
		return val.String(t.text)
	case numeric:
		return val.Number(t.value)
	case boolean:
		return val.Bool(t.truth)
	case null:
		return Null
	case objectBegin:
		return d.object()
	case arrayBegin:
		return d.array()
	}
	d.unexpected("value", t)
	return nil
}

// take asks for the bytes of a string that is no part of the JSON.
func (d *decoder) take(t token) {
	if t.copied {
		d.allowance.Take(d.c, len(t.text))
	}
}

// descend begins a table.
func (d *decoder) descend(need, takes int) {
	d.depth++
	if d.depth > d.decodeMaxDepth || d.slots+need > arg.StackSlots {
		arg.Raise(d.c, "Found too many nested data structures (%d) at character %d", d.depth, d.pos)
	}
	d.slots += takes
	d.allowance.Take(d.c, arg.TableBytes)
}

// ascend ends a table.
func (d *decoder) ascend(table arg.Table, takes int) val.Value {
	d.depth--
	d.slots -= takes
	return table
}

// array reads what follows an opening bracket.
func (d *decoder) array() val.Value {
	d.descend(arraySlots, 1)
	table := d.c.NewTable(0)
	t := d.next()
	if t.kind == arrayEnd {
		return d.ascend(table, 1)
	}
	for i := 1; ; i++ {
		table.Set(d.c, val.Number(i), d.value(t))
		t = d.next()
		if t.kind == arrayEnd {
			return d.ascend(table, 1)
		}
		if t.kind != comma {
			d.unexpected("comma or array end", t)
		}
		t = d.next()
	}
}

// object reads what follows an opening brace.
func (d *decoder) object() val.Value {
	d.descend(objectSlots, 2)
	table := d.c.NewTable(0)
	t := d.next()
	if t.kind == objectEnd {
		return d.ascend(table, 2)
	}
	for {
		if t.kind != text {
			d.unexpected("object key string", t)
		}
		key := t.text
		d.take(t)
		if t = d.next(); t.kind != colon {
			d.unexpected("colon", t)
		}
		table.Set(d.c, val.String(key), d.value(d.next()))
		t = d.next()
		if t.kind == objectEnd {
			return d.ascend(table, 2)
		}
		if t.kind != comma {
			d.unexpected("comma or object end", t)
		}
		t = d.next()
	}
}
