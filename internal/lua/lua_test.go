package lua

import (
	"errors"
	"strings"
	"testing"
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
