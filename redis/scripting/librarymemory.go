package scripting

import glua "github.com/yuin/gopher-lua"

// What a library's functions keep in the local variables of its code lasts as
// long as the state that they were loaded into, and a server has several. So
// that no call sees what another has left there, a state notes what the
// functions can reach when the code has just run. After each call it looks
// whether that is still so; a library that has changed something is loaded anew
// by the next call.
//
// While code is loaded it can make nothing but functions, tables and plain
// values, see libraryEnv: so what can be reached through these is all that there
// is to change.

// maxNoted is how many variables and elements of tables are noted, and compared
// after a call, some microseconds. A library that has more is loaded anew for
// each call.
const maxNoted = 1024

// memory is what the functions of a library can reach.
type memory struct {
	cells  []cell
	tables []noted
	count  int // cells, tables, and elements of these
	tooBig bool
}

// cell is a variable and what it held.
type cell struct {
	at    *glua.Upvalue
	value glua.LValue
}

// noted is a table and what it had.
type noted struct {
	table *glua.LTable
	meta  glua.LValue
	keys  []glua.LValue
	elems []glua.LValue
}

// learn notes what the callbacks can reach.
func (m *memory) learn(callbacks map[string]*glua.LFunction) {
	seen := make(map[any]bool)
	for _, fn := range callbacks {
		m.function(fn, seen)
	}
}

// add counts what was noted.
func (m *memory) add(n int) {
	m.count += n
	m.tooBig = m.count > maxNoted
}

func (m *memory) reach(value glua.LValue, seen map[any]bool) {
	switch value := value.(type) {
	case *glua.LFunction:
		m.function(value, seen)
	case *glua.LTable:
		m.note(value, seen)
	}
}

func (m *memory) function(fn *glua.LFunction, seen map[any]bool) {
	if fn.IsG || seen[fn] || m.tooBig {
		return
	}
	seen[fn] = true
	for _, up := range fn.Upvalues {
		if seen[up] {
			continue
		}
		seen[up] = true
		m.cells = append(m.cells, cell{up, up.Value()})
		m.add(1)
		m.reach(up.Value(), seen)
	}
}

func (m *memory) note(t *glua.LTable, seen map[any]bool) {
	if seen[t] || m.tooBig {
		return
	}
	seen[t] = true
	n := noted{table: t, meta: t.Metatable}
	for key, value := t.Next(glua.LNil); key != glua.LNil && len(n.keys) <= maxNoted; key, value = t.Next(key) {
		n.keys, n.elems = append(n.keys, key), append(n.elems, value)
	}
	m.tables = append(m.tables, n)
	m.add(1 + len(n.keys))
	m.reach(n.meta, seen)
	for i := range n.keys {
		m.reach(n.keys[i], seen)
		m.reach(n.elems[i], seen)
	}
}

// same says whether everything is as it was noted.
func (m *memory) same() bool {
	if m.tooBig {
		return false
	}
	for _, c := range m.cells {
		if c.at.Value() != c.value {
			return false
		}
	}
	for i := range m.tables {
		if !m.tables[i].same() {
			return false
		}
	}
	return true
}

func (n *noted) same() bool {
	if n.table.Metatable != n.meta {
		return false
	}
	i := 0
	for key, value := n.table.Next(glua.LNil); key != glua.LNil; key, value = n.table.Next(key) {
		if i == len(n.keys) || n.keys[i] != key || n.elems[i] != value {
			return false
		}
		i++
	}
	return i == len(n.keys)
}
