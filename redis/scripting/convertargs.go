package scripting

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/number"
	glua "github.com/yuin/gopher-lua"
)

// Refusals of what is given to redis.call, in Redis's words.
const (
	errNoWords  = "Please specify at least one argument for this redis lib call"
	errNotWords = "Lua redis lib command arguments must be strings or integers"
)

// wordsOf are the arguments of a function as the words of a command, in memory
// of r that is used again. refused is why they are none.
func (r *Run) wordsOf(c arg.Call) (words [][]byte, refused string) {
	r.arena, r.words, r.ends = r.arena[:0], r.words[:0], r.ends[:0]
	n := c.Top()
	if n == 0 {
		return nil, errNoWords
	}
	for i := 1; i <= n; i++ {
		switch v := c.Arg(i).(type) {
		case glua.LString:
			r.arena = append(r.arena, v...)
		case glua.LNumber:
			r.arena = number.Append(r.arena, float64(v), exactDigits)
		default:
			return nil, errNotWords
		}
		r.ends = append(r.ends, len(r.arena))
	}
	from := 0
	for _, end := range r.ends {
		r.words = append(r.words, r.arena[from:end:end])
		from = end
	}
	return r.words, ""
}

// exactDigits are the digits of a number that commands get: nothing is lost.
const exactDigits = 17

// textOf is a string, or a number as Lua prints it; false for any other value.
func textOf(v glua.LValue) (string, bool) {
	switch v := v.(type) {
	case glua.LString:
		return string(v), true
	case glua.LNumber:
		return number.String(float64(v)), true
	}
	return "", false
}

// numberOf is a number, or a string that Lua reads as one. ok is false for any
// other value, which counts as 0.
func numberOf(v glua.LValue) (f float64, ok bool) {
	switch v := v.(type) {
	case glua.LNumber:
		return float64(v), true
	case glua.LString:
		return number.Parse(string(v))
	}
	return 0, false
}
