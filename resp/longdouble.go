package resp

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Errors of INCRBYFLOAT and its like.
var (
	// ErrNotFloat means that a text is no float, or one out of range.
	ErrNotFloat = errors.New("resp: not a valid float")

	// ErrNotFinite means that a sum is infinite or not a number.
	ErrNotFinite = errors.New("resp: sum is not finite")
)

// The range of the x87's extended format, in which Redis computes on every
// x86-64: a mantissa of 64 bits, and values below 2^16384. A value of at most
// 2^-16446, half the smallest, becomes zero.
const (
	longPrecision = 64
	longMaxExp    = 16384
	longMinExp    = -16446
)

// longMaxText is the longest text in bytes that Redis reads as a float.
const longMaxText = 5*1024 - 1

// LongDouble is a float in the x87's extended format, C's long double on
// x86-64. INCRBYFLOAT adds in it, which is why 0.1 and 0.2 make 0.3 there.
// It is never NaN. The zero LongDouble is 0. Values are immutable.
//
// Below 2^-16382 the x87 loses bits that a LongDouble keeps. Nothing shows
// it: [LongDouble.Append] ends 17 decimals behind the point.
type LongDouble struct {
	f *big.Float // nil for 0; otherwise of longPrecision, rounding to even
}

// ParseLongDouble reads a float as INCRBYFLOAT does: as [ParseDouble] with a
// larger range, and no longer than 5119 bytes. Otherwise it returns
// ErrNotFloat.
func ParseLongDouble(b []byte) (LongDouble, error) {
	n, ok := scanNumeral(b)
	if !ok || len(b) > longMaxText {
		return LongDouble{}, ErrNotFloat
	}
	f := new(big.Float).SetPrec(longPrecision)
	switch {
	case n.infinite:
		f.SetInf(n.negative)
		return LongDouble{f}, nil
	case n.zero:
		return LongDouble{}, nil
	case n.hex:
		n.setHex(f)
	default:
		n.setDecimal(f)
	}
	if f.Sign() == 0 || f.MantExp(nil) > longMaxExp || f.Cmp(longHalfOfSmallest) <= 0 {
		return LongDouble{}, ErrNotFloat
	}
	if n.negative {
		f.Neg(f)
	}
	return LongDouble{f}, nil
}

var longHalfOfSmallest = new(big.Float).SetMantExp(big.NewFloat(1), longMinExp)

// setHex makes f the nearest to n, a positive number in hexadecimal. It makes
// f zero if n is far out of range.
func (n numeral) setHex(f *big.Float) {
	digits, _ := new(big.Int).SetString(n.digits(), 16)
	exponent := n.exponent - 4*len(n.fraction)
	// The digits have at most 4 * longMaxText bits.
	if exponent > longMaxExp || exponent < longMinExp-4*longMaxText {
		return
	}
	f.SetInt(digits)
	f.SetMantExp(f, exponent)
}

// setDecimal makes f the nearest to n, a positive number in decimal. It makes
// f zero if n is far out of range.
func (n numeral) setDecimal(f *big.Float) {
	digits, _ := new(big.Int).SetString(n.digits(), 10)
	exponent := n.exponent - len(n.fraction)
	// 10^4933 is above the range; 10^-4952 is below it, and the digits
	// amount to less than 10^longMaxText.
	if exponent > 4933 || exponent < -4952-longMaxText {
		return
	}
	if exponent >= 0 {
		f.SetInt(digits.Mul(digits, powerOfTen(exponent)))
		return
	}
	// The quotient gets two bits more than f can hold, and one behind them
	// that says whether there was a remainder: enough to round correctly.
	divisor := powerOfTen(-exponent)
	shift := max(0, longPrecision+2-(digits.BitLen()-divisor.BitLen()-1))
	digits.Lsh(digits, uint(shift))
	quotient, remainder := digits.QuoRem(digits, divisor, new(big.Int))
	quotient.Lsh(quotient, 1)
	if remainder.Sign() != 0 {
		quotient.SetBit(quotient, 0, 1)
	}
	f.SetInt(quotient)
	f.SetMantExp(f, -shift-1)
}

// digits returns all digits in a row, without the point.
func (n numeral) digits() string { return string(n.whole) + string(n.fraction) }

func powerOfTen(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// IsInf reports whether x is infinite.
func (x LongDouble) IsInf() bool { return x.f != nil && x.f.IsInf() }

// Add returns x + y, rounded to the nearest, or to the even one of two. It
// returns ErrNotFinite if an operand is infinite or the sum too large.
func (x LongDouble) Add(y LongDouble) (LongDouble, error) {
	switch {
	case x.IsInf() || y.IsInf():
		return LongDouble{}, ErrNotFinite
	case x.f == nil:
		return y, nil
	case y.f == nil:
		return x, nil
	}
	sum := new(big.Float).SetPrec(longPrecision).Add(x.f, y.f)
	if sum.MantExp(nil) > longMaxExp {
		return LongDouble{}, ErrNotFinite
	}
	return LongDouble{sum}, nil
}

// Millis is x seconds in milliseconds, rounded up; false if they are no int64.
func (x LongDouble) Millis() (ms int64, ok bool) {
	switch {
	case x.f == nil:
		return 0, true
	case x.f.IsInf():
		return 0, false
	}
	product := new(big.Float).SetPrec(longPrecision).Mul(x.f, big.NewFloat(1000))
	ms, accuracy := product.Int64()
	switch {
	case accuracy == big.Exact:
		return ms, true
	case ms == math.MaxInt64, ms == math.MinInt64:
		return 0, false
	case accuracy == big.Below:
		ms++
	}
	return ms, true
}

// Append appends x with up to 17 decimals and no trailing zeros, as Redis
// stores the result of INCRBYFLOAT.
func (x LongDouble) Append(dst []byte) []byte {
	switch {
	case x.f == nil:
		return append(dst, '0')
	case x.f.IsInf() && x.f.Signbit():
		return append(dst, "-inf"...)
	case x.f.IsInf():
		return append(dst, "inf"...)
	}
	from := len(dst)
	return trimDecimals(x.f.Append(dst, 'f', humanDecimals), from)
}

func (x LongDouble) String() string { return string(x.Append(nil)) }

// AddFloat is INCRBYFLOAT on texts: it returns a + b as Redis prints it. The
// error matches ErrNotFloat or ErrNotFinite.
func AddFloat(a, b string) (string, error) {
	x, err := ParseLongDouble([]byte(a))
	if err != nil {
		return "", fmt.Errorf("add %q: %w", a, err)
	}
	y, err := ParseLongDouble([]byte(b))
	if err != nil {
		return "", fmt.Errorf("add %q: %w", b, err)
	}
	sum, err := x.Add(y)
	if err != nil {
		return "", fmt.Errorf("add %q and %q: %w", a, b, err)
	}
	return sum.String(), nil
}
