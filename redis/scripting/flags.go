package scripting

import (
	"github.com/firndb/firn/internal/lua"
	"github.com/firndb/firn/resp"
)

// Flags are what a script's first line says about it.
type Flags uint8

// compile makes the code of a script.
func (s *Script) compile() error {
	chunk, err := lua.Compile("user_script", s.Source)
	if err != nil {
		return resp.Error("ERR Error compiling script (new function): " + err.Error())
	}
	s.chunk = chunk
	return nil
}
