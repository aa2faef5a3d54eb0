package cjson

import (
	glua "github.com/yuin/gopher-lua"

	"github.com/firndb/firn/internal/lua/arg"
)

// decoder makes a value of Lua from JSON.
type decoder struct {
	scanner
	*options
	L         *glua.LState
	allowance arg.Allowance
	depth     int // of tables that are being read
	slots     int // of Redis's stack: one for an array, two for an object
}

// What a table needs of Redis's stack before it is read.
const (
	arraySlots  = 2
	objectSlots = 3
)

func decode(L *glua.LState, o *options) int {
	arg.Check(L, L.GetTop() == 1, 1, "expected 1 argument")
	data := arg.String(L, 1)
	if len(data) >= 2 && (data[0] == 0 || data[1] == 0) {
		arg.Raise(L, "JSON parser does not support UTF-16 or UTF-32")
	}
	d := decoder{
		scanner: scanner{data: data, invalid: o.decodeInvalid != 0},
		options: o,
		L:       L,
		slots:   1,
	}
	v := d.value(d.next())
	if t := d.next(); t.kind != end {
		d.unexpected("the end", t)
	}
	L.Push(v)
	return 1
}

// unexpected raises the error that something else was expected than t.
func (d *decoder) unexpected(expected string, t token) {
	arg.Raise(d.L, "Expected %s but found %s at character %d", expected, t.kind, t.index+1)
}

// value returns the value that begins with t.
func (d *decoder) value(t token) glua.LValue {
	d.allowance.Take(d.L, elementBytes)
	switch t.kind {
	case text:
		return glua.LString(t.text)
	case numeric:
		return glua.LNumber(t.value)
	case boolean:
		return glua.LBool(t.truth)
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

// About what a table takes, and each value in one. A table of members needs an
// index of their names.
const (
	elementBytes = 32
	arrayBytes   = 96
	objectBytes  = 700
	memberBytes  = 96
)

// descend begins a table.
func (d *decoder) descend(need, takes, bytes int) {
	d.depth++
	if d.depth > d.decodeMaxDepth || d.slots+need > arg.StackSlots {
		arg.Raise(d.L, "Found too many nested data structures (%d) at character %d", d.depth, d.pos)
	}
	d.slots += takes
	d.allowance.Take(d.L, bytes)
}

// ascend ends a table.
func (d *decoder) ascend(table *glua.LTable, takes int) glua.LValue {
	d.depth--
	d.slots -= takes
	return table
}

// array reads what follows an opening bracket.
func (d *decoder) array() glua.LValue {
	d.descend(arraySlots, 1, arrayBytes)
	table := d.L.CreateTable(1, 0)
	t := d.next()
	if t.kind == arrayEnd {
		return d.ascend(table, 1)
	}
	for {
		table.Append(d.value(t))
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
func (d *decoder) object() glua.LValue {
	d.descend(objectSlots, 2, objectBytes)
	table := d.L.CreateTable(0, 1)
	t := d.next()
	if t.kind == objectEnd {
		return d.ascend(table, 2)
	}
	for {
		if t.kind != text {
			d.unexpected("object key string", t)
		}
		key := t.text
		d.allowance.Take(d.L, memberBytes)
		if t = d.next(); t.kind != colon {
			d.unexpected("colon", t)
		}
		table.RawSetString(key, d.value(d.next()))
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
