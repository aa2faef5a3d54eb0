package lua

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// Env is the globals of programs that do not always see what scripts see. It
// is one table for both, because functions keep the globals that they were
// made with.
type Env struct {
	s     *State
	front *table // empty, and read only
	names *table // what is seen while the environment is closed
}

// NewEnv makes an environment, which is closed: programs see what Register gives.
// The names are as Redis has them; to read another one is an error.
func (s *State) NewEnv() *Env {
	missing := &table{}
	missing.setString(&s.meter, "__index", &function{name: "__index", native: missingGlobal})
	lock(missing)
	e := &Env{s: s, names: &table{meta: missing, readonly: true}, front: &table{readonly: true}}
	e.front.meta = &table{readonly: true}
	e.Close()
	return e
}

// Register makes a library a table of the closed environment. To read a field
// that it does not have is an error.
func (e *Env) Register(name string, l arg.Library) {
	own := arg.Open(&passed{th: e.s.main}, l).(*table)
	own.meta = e.names.meta
	lock(own)
	e.names.setString(&e.s.meter, name, own)
}

// Close makes programs see what Register gave.
func (e *Env) Close() { e.front.meta.setString(&e.s.meter, "__index", e.names) }

// Open makes programs see what scripts see.
func (e *Env) Open() { e.front.meta.setString(&e.s.meter, "__index", e.s.globals) }

// Load is State.Load for a program with these globals.
func (e *Env) Load(c *Chunk) *Function {
	return &function{proto: c.proto, globals: e.front}
}

// Global is a global of scripts.
func (s *State) Global(name string) val.Value { return s.globals.getString(name) }

// Snapshot is what functions can reach and change, at one moment.
type Snapshot struct {
	cells  []cell
	at     []*cell
	tables []noted
	count  int // cells, tables, and what these have
	bytes  int // of strings
	tooBig bool
}

// noted is a table and what it had.
type noted struct {
	t         *table
	meta      *table
	keys, all []value
}

// maxNoted is how many variables and elements of tables are noted, and
// compared later, which takes some microseconds.
const maxNoted = 1024

// Note notes what functions can reach and change.
func (s *State) Note(functions ...*Function) *Snapshot {
	n := &Snapshot{}
	s.epoch++
	for _, fn := range functions {
		n.reach(fn, s.epoch)
	}
	return n
}

func (n *Snapshot) add(more int) {
	n.count += more
	n.tooBig = n.tooBig || n.count > maxNoted
}

func (n *Snapshot) reach(v value, epoch uint32) {
	if n.tooBig {
		return
	}
	switch v := v.(type) {
	case val.String:
		n.bytes += len(v)
	case *function:
		if v.seen == epoch {
			return
		}
		v.seen = epoch
		for _, up := range v.ups {
			n.cell(up, epoch)
		}
	case *table:
		if v.seen != epoch && !v.readonly {
			v.seen = epoch
			n.table(v, epoch)
		}
	case *coroutine:
		n.tooBig = true // it cannot be looked into
	}
}

func (n *Snapshot) cell(up *cell, epoch uint32) {
	if up.seen == epoch {
		return
	}
	up.seen = epoch
	n.cells, n.at = append(n.cells, cell{v: up.v}), append(n.at, up)
	n.add(1)
	n.reach(up.v, epoch)
}

func (n *Snapshot) table(t *table, epoch uint32) {
	note := noted{t: t, meta: t.meta}
	t.Walk(func(k, v value) bool {
		note.keys, note.all = append(note.keys, k), append(note.all, v)
		return len(note.keys) <= maxNoted
	})
	n.tables = append(n.tables, note)
	n.add(1 + len(note.keys))
	if t.meta != nil {
		n.reach(t.meta, epoch)
	}
	for i := range note.keys {
		n.reach(note.keys[i], epoch)
		n.reach(note.all[i], epoch)
	}
}

// TooBig says that there was too much to note.
func (n *Snapshot) TooBig() bool { return n.tooBig }

// Bytes is about what was noted takes: a string as often as it was found.
func (n *Snapshot) Bytes() int { return n.bytes + n.count*nodeBytes }

// Same says whether all that was noted is as it was. When there was too much
// to note it is not.
func (n *Snapshot) Same() bool {
	if n.tooBig {
		return false
	}
	for i := range n.cells {
		if !identical(n.cells[i].v, n.at[i].v) {
			return false
		}
	}
	for i := range n.tables {
		if !n.tables[i].same() {
			return false
		}
	}
	return true
}

func (n *noted) same() bool {
	if n.meta != n.t.meta {
		return false
	}
	i, same := 0, true
	n.t.Walk(func(k, v value) bool {
		same = i < len(n.keys) && identical(k, n.keys[i]) && identical(v, n.all[i])
		i++
		return same
	})
	return same && i == len(n.keys)
}

// identical is rawEqual, and true for a NaN with itself.
func identical(a, b value) bool {
	if x, ok := a.(val.Number); ok && x != x {
		y, ok := b.(val.Number)
		return ok && y != y
	}
	return rawEqual(a, b)
}
