package scripting

import (
	"math"
	"strconv"

	"github.com/firndb/firn/resp"
	glua "github.com/yuin/gopher-lua"
)

// Refusals of what is given to redis.call, in Redis's words.
const (
	errNoWords  = "Please specify at least one argument for this redis lib call"
	errNotWords = "Lua redis lib command arguments must be strings or integers"
)

// wordsOf are the arguments of a function as the words of a command, in memory
// of r that is used again. refused is why they are none.
func (r *Run) wordsOf(L *glua.LState) (words [][]byte, refused string) {
	r.arena, r.words, r.ends = r.arena[:0], r.words[:0], r.ends[:0]
	n := L.GetTop()
	if n == 0 {
		return nil, errNoWords
	}
	for i := 1; i <= n; i++ {
		switch v := L.Get(i).(type) {
		case glua.LString:
			r.arena = append(r.arena, v...)
		case glua.LNumber:
			r.arena = appendNumber(r.arena, float64(v))
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

// appendNumber appends a number as commands get it: with 17 significant
// digits, as C's %.17g prints it, so that nothing is lost.
func appendNumber(dst []byte, f float64) []byte {
	if math.IsNaN(f) && math.Signbit(f) {
		return append(dst, "-nan"...) // what 0/0 is
	}
	return resp.AppendDouble(dst, f)
}

// textOf is a string, or a number as Lua prints it; false for any other value.
func textOf(v glua.LValue) (string, bool) {
	switch v := v.(type) {
	case glua.LString:
		return string(v), true
	case glua.LNumber:
		return numberText(float64(v)), true
	}
	return "", false
}

// numberText is a number as Lua prints it, as C's %.14g.
func numberText(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', 14, 64)
}

// numberOf is a number, or a string that Lua reads as one. ok is false for any
// other value, which counts as 0.
func numberOf(v glua.LValue) (f float64, ok bool) {
	switch v := v.(type) {
	case glua.LNumber:
		return float64(v), true
	case glua.LString:
		f = float64(glua.LVAsNumber(v))
		return f, f != 0 || isZero(string(v))
	}
	return 0, false
}

// isZero says whether a string is read as 0.
func isZero(text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == 0
}

// tableOf is words as a table.
func tableOf(r *Run, words [][]byte) *glua.LTable {
	t := r.state.L().CreateTable(len(words), 0)
	for i, w := range words {
		t.RawSetInt(i+1, glua.LString(w))
	}
	return t
}
