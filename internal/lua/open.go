package lua

import (
	"strings"

	"github.com/firndb/firn/internal/lua/cjson"
	"github.com/firndb/firn/internal/lua/val"
)

// mainSlots is how many values the stack of a state has when it is new.
const mainSlots = 256

// New makes a state with the libraries. Then open may add globals, and then
// all that there is becomes protected.
func New(open func(s *State)) *State {
	s := &State{globals: &table{}, live: map[*coroutine]struct{}{}, json: cjson.New()}
	s.main = newThread(s, nil, mainSlots)
	s.current = s.main
	s.meter.reset(nil, nil)
	s.walk = s.measure
	s.openLibraries()
	if open != nil {
		open(s)
	}
	s.seal()
	return s
}

// addLibrary makes a global table of functions.
func (s *State) addLibrary(name, order string, functions map[string]native) *table {
	t := s.main.newTable(0, len(strings.Fields(order)))
	s.addFunctions(t, order, functions)
	s.globals.setString(&s.meter, name, t)
	return t
}

// addFunctions adds functions in the order in which Lua adds them, which tells
// in which order next finds them.
func (s *State) addFunctions(t *table, order string, functions map[string]native) {
	for _, name := range strings.Fields(order) {
		t.setString(&s.meter, name, &function{name: name, native: functions[name]})
	}
}

// Orders of functions.
const (
	baseOrder = "assert collectgarbage error gcinfo getmetatable loadstring load next pcall rawequal rawget rawset " +
		"select setmetatable tonumber tostring type unpack xpcall"
	stringOrder    = "byte char dump find format gfind gmatch gsub len lower match rep reverse sub upper"
	tableOrder     = "concat foreach foreachi getn maxn insert remove setn sort"
	coroutineOrder = "create resume running status wrap yield"
	mathOrder      = "abs acos asin atan2 atan ceil cosh cos deg exp floor fmod frexp ldexp log10 log max min modf pow " +
		"rad random randomseed sinh sin sqrt tanh tan"
)

func (s *State) openLibraries() {
	s.addFunctions(s.globals, baseOrder, baseFunctions)
	s.globals.setString(&s.meter, "_VERSION", val.String("Lua 5.1"))
	next := s.globals.getString("next")
	step := &function{name: "ipairs", native: ipairsStep}
	s.addFunctions(s.globals, "pairs ipairs", map[string]native{
		"pairs": func(th *thread, args []value) []value {
			th.out = [4]value{next, tableArg(th, args, 1), vnil}
			return th.out[:3]
		},
		"ipairs": func(th *thread, args []value) []value {
			th.out = [4]value{step, tableArg(th, args, 1), number(0)}
			return th.out[:3]
		},
	})
	library := s.addLibrary("string", stringOrder, stringFunctions)
	s.strings = &table{}
	s.strings.setString(&s.meter, "__index", library)
	s.addLibrary("table", tableOrder, tableFunctions)
	s.addLibrary("coroutine", coroutineOrder, coroutineFunctions)
	m := s.addLibrary("math", mathOrder, mathFunctions)
	m.setString(&s.meter, "pi", number(pi))
	m.setString(&s.meter, "huge", number(huge))
	m.setString(&s.meter, "mod", m.getString("fmod"))
	s.openOthers()
}
