package bit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/luatest"
	"github.com/firndb/firn/internal/seed"
)

// Every operation on bits answers what Redis's library answers, with the same
// errors.

var functions = strings.Fields("tobit tohex bnot band bor bxor lshift rshift arshift rol ror bswap")

// operands are texts of Lua: limits of the conversion, and what is no number.
var operands = strings.Fields(`0 1 -1 2 31 32 33 0.5 1.5 2.5 -0.5 -1.5 255 256 65535 2147483647 2147483648 -2147483648
	-2147483649 4294967295 4294967296 4294967297 1e10 1e15 4503599627370496 6755399441055744 9007199254740993 -9007199254740993
	1e16 1e100 -1e100 1/0 -1/0 0/0 '1' '0x10' '' 'x' '\t7\n' nil true {} type`)

func TestEveryOperandGivesWhatRedisGives(t *testing.T) {
	pair := luatest.NewPair(t)
	var cases []string
	for _, f := range functions {
		cases = append(cases, fmt.Sprintf("return bit.%s()", f), fmt.Sprintf("local x = bit.%s return x(1, 2, nil)", f))
		for _, a := range operands {
			cases = append(cases, fmt.Sprintf("return bit.%s(%s)", f, a))
			for _, b := range operands {
				if a == "1" || b == "1" || a == "-1" || b == "nil" {
					cases = append(cases, fmt.Sprintf("return bit.%s(%s, %s)", f, a, b))
				}
			}
		}
	}
	cases = append(cases,
		"return bit.tohex(-1, -8), bit.tohex(-1, 0), bit.tohex(-1, -100), bit.tohex(-1, 3.5), bit.tohex(171, 1e10)",
		"return bit:tobit()", "return bit.band(1, 'x', {})", "return pcall(bit.bnot)", "return pcall(bit.bnot, {})",
		"local s = setmetatable({}, {__index = bit.bnot}) return s.x",
		"return (bit.bnot)(nil)",
	)
	pair.Compare(cases)
}

func TestRandomOperandsGiveWhatRedisGives(t *testing.T) {
	pair := luatest.NewPair(t)
	r := seed.Fresh(t).Rand(0)
	var cases []string
	for range seed.Steps(t, 4000) {
		args := make([]string, r.IntN(4))
		for i := range args {
			switch r.IntN(4) {
			case 0:
				args[i] = operands[r.IntN(len(operands))]
			case 1:
				args[i] = fmt.Sprint(r.IntN(64) - 32)
			case 2:
				args[i] = fmt.Sprintf("%.17g", (r.Float64()-0.5)*float64(uint64(1)<<r.IntN(60)))
			default:
				args[i] = fmt.Sprint(int32(r.Uint32()))
			}
		}
		cases = append(cases, fmt.Sprintf("return bit.%s(%s)", functions[r.IntN(len(functions))], strings.Join(args, ", ")))
	}
	pair.Compare(cases)
}
