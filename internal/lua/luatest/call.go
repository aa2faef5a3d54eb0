package luatest

import (
	"errors"
	"testing"

	glua "github.com/yuin/gopher-lua"
)

// Call calls a function of a library and returns its results, or the error that
// it raised. A panic that is no error of Lua fails the test.
func Call(t testing.TB, L *glua.LState, library, function string, args ...glua.LValue) ([]glua.LValue, error) {
	t.Helper()
	L.SetTop(0)
	L.Push(L.GetField(L.GetGlobal(library), function))
	for _, arg := range args {
		L.Push(arg)
	}
	if err := L.PCall(len(args), glua.MultRet, nil); err != nil {
		var raised *glua.ApiError
		if !errors.As(err, &raised) || raised.Cause != nil {
			t.Fatalf("%s.%s%q panicked: %v", library, function, args, err)
		}
		return nil, err
	}
	var results []glua.LValue
	for n := 1; n <= L.GetTop(); n++ {
		results = append(results, L.Get(n))
	}
	return results, nil
}
