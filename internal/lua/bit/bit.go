// Package bit is Lua's library of operations on 32 bits, as Redis ships it.
//
// Numbers become 32 bits by adding 2^52+2^51 to them, which leaves the integer,
// rounded to even, in the lowest bits of the floating-point number; higher bits
// of the integer are lost. Results are signed.
package bit

import (
	"math"
	"math/bits"

	"github.com/firndb/firn/internal/lua/arg"
	"github.com/firndb/firn/internal/lua/val"
)

// Library returns what the library publishes.
func Library() arg.Library {
	members := []arg.Member{
		{Name: "tobit", Function: unary(func(b uint32) uint32 { return b })},
		{Name: "bnot", Function: unary(func(b uint32) uint32 { return ^b })},
		{Name: "band", Function: fold(func(a, b uint32) uint32 { return a & b })},
		{Name: "bor", Function: fold(func(a, b uint32) uint32 { return a | b })},
		{Name: "bxor", Function: fold(func(a, b uint32) uint32 { return a ^ b })},
		{Name: "lshift", Function: shift(func(b uint32, n int) uint32 { return b << n })},
		{Name: "rshift", Function: shift(func(b uint32, n int) uint32 { return b >> n })},
		{Name: "arshift", Function: shift(func(b uint32, n int) uint32 { return uint32(int32(b) >> n) })},
		{Name: "rol", Function: shift(bits.RotateLeft32)},
		{Name: "ror", Function: shift(func(b uint32, n int) uint32 { return bits.RotateLeft32(b, -n) })},
		{Name: "bswap", Function: unary(bits.ReverseBytes32)},
		{Name: "tohex", Function: toHex},
	}
	return arg.Library{Members: members, Room: len(members)}
}

// normal moves the integer of a number into its lowest bits.
const normal = 1<<52 + 1<<51

// operand returns argument n as 32 bits. What is neither a number nor can be
// converted to one is an error.
func operand(c arg.Call, n int) uint32 {
	f, ok := arg.ToNumber(c.Arg(n))
	if !ok {
		arg.TypeError(c, n, "number")
	}
	return uint32(math.Float64bits(f + normal))
}

func push(c arg.Call, b uint32) int {
	c.Push(val.Number(int32(b)))
	return 1
}

func unary(op func(uint32) uint32) arg.Function {
	return func(c arg.Call) int {
		return push(c, op(operand(c, 1)))
	}
}

// fold applies op to all arguments. They are read from the last one down, which
// tells which of several wrong ones an error names.
func fold(op func(a, b uint32) uint32) arg.Function {
	return func(c arg.Call) int {
		b := operand(c, 1)
		for n := c.Top(); n > 1; n-- {
			b = op(b, operand(c, n))
		}
		return push(c, b)
	}
}

func shift(op func(b uint32, n int) uint32) arg.Function {
	return func(c arg.Call) int {
		b := operand(c, 1)
		return push(c, op(b, int(operand(c, 2)&31)))
	}
}

// maxHex is how many hexadecimal digits 32 bits have.
const maxHex = 8

// toHex returns the lowest digits of its argument, in capitals when the number
// of digits is negative.
func toHex(c arg.Call) int {
	b := operand(c, 1)
	digits, n := "0123456789abcdef", int64(maxHex)
	if c.Top() >= 2 {
		n = int64(int32(operand(c, 2)))
	}
	if n < 0 {
		digits, n = "0123456789ABCDEF", -n
	}
	n = min(n, maxHex)
	var text [maxHex]byte
	for i := n - 1; i >= 0; i-- {
		text[i] = digits[b&15]
		b >>= 4
	}
	c.Push(val.String(text[:n]))
	return 1
}
