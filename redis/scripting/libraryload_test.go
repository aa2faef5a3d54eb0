package scripting

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/redis/keyspace"
)

// TestStatesKeepLittleOfLibraries: what the functions of a library hold counts
// like its code, and one of which too much would have to be compared is not kept.
func TestStatesKeepLittleOfLibraries(t *testing.T) {
	const (
		text  = "local s = string.rep('x', 4e6 + %d)"
		table = "local s = {} for i = 1, 5000 do s[i] = i + %d end"
	)
	for _, tt := range []struct {
		name, code string
		kept       int
	}{{"small ones", "local s = %d", 40}, {"long strings", text, 4}, {"large tables", table, 0}} {
		s, state := &loadedSet{}, lua.New(nil)
		for i := range 40 {
			for range 2 { // the second time it is there
				l := compiled(t, fmt.Sprintf(tt.code, i)+" return function() return s end")
				fn, err := state.Call(state.Load(l.chunk), nil)
				if err != nil {
					t.Fatal(err)
				}
				s.keep(l, &loaded{memory: state.Note(fn.(*lua.Function))})
			}
		}
		if got := len(s.byHash); got > tt.kept || tt.kept > 0 && got == 0 || s.bytes > maxLoadedBytes {
			t.Errorf("%s: got %d libraries of %d bytes, want %d and at most %d bytes", tt.name, got, s.bytes, tt.kept, maxLoadedBytes)
		}
		if got := len(s.byHash); strings.HasPrefix(tt.name, "small") && got != tt.kept {
			t.Errorf("%s: got %d, want all of %d", tt.name, got, tt.kept)
		}
	}
}

func compiled(t *testing.T, code string) *library {
	t.Helper()
	chunk, err := lua.Compile(functionsChunk, code)
	if err != nil {
		t.Fatal(err)
	}
	return &library{hash: keyspace.HashCode([]byte(code)), chunk: chunk}
}
