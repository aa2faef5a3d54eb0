package lua

import (
	"errors"
	"testing"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

var errWantedEnd = errors.New("ended by the test")

// endedIn runs a program that is told to end as soon as it asks, and may take
// some bytes until then. It returns the line at which it was.
func endedIn(t *testing.T, s *State, bytes int64, source string) (line int) {
	t.Helper()
	chunk, err := Compile("@user_script", source)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Call(s.Load(chunk), &Guard{Bytes: bytes, Stop: func() error {
		_, line = s.Position()
		return errWantedEnd
	}})
	if !errors.Is(err, errWantedEnd) {
		t.Fatalf("%s: got %v", source, err)
	}
	return line
}

// A loop that is ended is at its line, also where nothing in it could fail.
func TestEndedProgramsAreAtALine(t *testing.T) {
	for source, want := range map[string]int{
		"while true do end":                             1,
		"\nwhile true do end":                           2,
		"\n\nrepeat until false":                        3,
		"\nfor i = 1, 1e300 do end":                     2,
		"local function f()\nreturn f() end return f()": 2,
	} {
		if got := endedIn(t, New(func(*State) {}), 64<<10, source); got != want {
			t.Errorf("%q: got line %d, want %d", source, got, want)
		}
	}
}

// A state whose last program was ended can be made ready for the next one:
// what is done between two calls is nobody's to end.
func TestAStateIsMadeReadyAfterAnEnd(t *testing.T) {
	s := New(func(*State) {})
	endedIn(t, s, 1, "while true do end")
	words := make([][]byte, 10_000)
	for i := range words {
		words[i] = []byte("word")
	}
	for range 10 {
		s.SetGlobal("KEYS", s.Strings(words))
	}
	e := s.NewEnv()
	e.Register("own", arg.Library{Members: []arg.Member{{Name: "x", Value: val.Number(1)}}})
	if s.Global("KEYS").(Table).Index(10_000) != val.String("word") {
		t.Error("a global is not what it was set to")
	}
	chunk, err := Compile("@user_script", "return own.x")
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	if v, err := s.Call(e.Load(chunk), nil); err != nil || v != val.Number(1) {
		t.Errorf("got %v, %v", v, err)
	}
}
