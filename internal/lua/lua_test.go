package lua

import (
	"errors"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/arg"
)

// A program returns its value, and its errors are Lua's.

func run(t testing.TB, s *State, g *Guard, source string) (string, error) {
	t.Helper()
	chunk, err := Compile("user_script", source)
	if err != nil {
		return "", err
	}
	v, err := s.Call(s.Load(chunk), g)
	if err != nil {
		return "", err
	}
	return v.String(), nil
}

func TestProtectedTablesRefuseChanges(t *testing.T) {
	s := New(nil)
	for _, source := range []string{"x=1", "string.rep=nil", "_G._G=1", "rawset(_G,'a',1)", "setmetatable(string,{})"} {
		if _, err := run(t, s, nil, source); err == nil || !strings.Contains(err.Error(), readonlyText) {
			t.Errorf("%s: got %v, want %q", source, err, readonlyText)
		}
	}
}

func TestUnknownGlobalIsAnError(t *testing.T) {
	_, err := run(t, New(nil), nil, "return x")
	const want = "user_script:1: Script attempted to access nonexistent global variable 'x'"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBudgetCannotBeCaught(t *testing.T) {
	s := New(nil)
	for _, source := range []string{"while true do end", "while true do pcall(function() while true do end end) end"} {
		if _, err := run(t, s, &Guard{Steps: 100000}, source); !errors.Is(err, ErrSteps) {
			t.Errorf("%s: got %v, want %v", source, err, ErrSteps)
		}
	}
	if got, err := run(t, s, nil, "return 1+1"); got != "2" || err != nil {
		t.Errorf("the next call: got %s, %v, want 2", got, err)
	}
}

// TestPanicsAreNoErrorsOfPrograms: what is wrong with us ends the program, whatever
// it catches, and the state, but not the process.
func TestPanicsAreNoErrorsOfPrograms(t *testing.T) {
	for _, source := range []string{
		"wrong.panic()", "pcall(wrong.panic)", "coroutine.wrap(function() pcall(wrong.panic) end)()",
		"xpcall(error, wrong.panic)", "table.sort({1,2,3}, wrong.panic)",
	} {
		s := New(func(s *State) {
			s.Register("wrong", arg.Library{Members: []arg.Member{{Name: "panic", Function: func(arg.Call) int { panic("ours") }}}})
		})
		_, err := run(t, s, nil, source+" return 1")
		broken, ok := errors.AsType[*PanicError](err)
		if !ok || broken.Cause != "ours" || !s.Broken() {
			t.Errorf("%s: got %v, broken %v, want a panic", source, err, s.Broken())
		}
	}
}
