package scripting

import (
	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/number"
	"github.com/firndb/firn/internal/lua/val"
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
		case val.String:
			r.arena = append(r.arena, v...)
		case val.Number:
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
func textOf(v val.Value) (string, bool) {
	switch v := v.(type) {
	case val.String:
		return string(v), true
	case val.Number:
		return number.String(float64(v)), true
	}
	return "", false
}
