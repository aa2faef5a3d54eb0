package number_test

import (
	"math"
	"testing"

	"github.com/firndb/firn/internal/lua/number"
)

// Any text is a number or not. Seventeen digits are the number itself.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"", "1", "0x1.8p1", "nan(", "-inf", "1e", " 0x", "1e400", ".", "0x.p"} {
		f.Add(text, math.Pi)
	}
	f.Fuzz(func(t *testing.T, text string, v float64) {
		if got, n := number.Prefix(text); n > len(text) || n == 0 && got != 0 {
			t.Errorf("%q: got %v of %d bytes", text, got, n)
		}
		number.Parse(text)
		shown := string(number.Append(nil, v, 17))
		if got, ok := number.Parse(shown); !ok || math.Float64bits(got) != math.Float64bits(v) && v == v {
			t.Errorf("%v: got %v of %q", v, got, shown)
		}
	})
}
