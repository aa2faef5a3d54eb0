package lua

import "math"

const pi = math.Pi

var huge = math.Inf(1)

func unaryMath(fn func(float64) float64) native {
	return func(th *thread, args []value) []value {
		x := numberArg(th, args, 1)
		return th.one(number(fn(x)))
	}
}

// negative is a function whose NaN is that of x86's instructions, positive one
// whose NaN is that of C's library, as measured.
func negative(fn func(float64) float64) native {
	return unaryMath(func(x float64) float64 { return negativeNaN(fn(x), x) })
}

func positive(fn func(float64) float64) native {
	return unaryMath(func(x float64) float64 {
		if v := fn(x); v == v || x != x {
			return v
		}
		return math.Float64frombits(0x7ff8 << 48)
	})
}

var mathFunctions = map[string]native{
	"abs":   unaryMath(math.Abs),
	"acos":  positive(math.Acos),
	"asin":  positive(math.Asin),
	"atan":  unaryMath(math.Atan),
	"ceil":  unaryMath(math.Ceil),
	"cos":   negative(math.Cos),
	"cosh":  unaryMath(math.Cosh),
	"deg":   unaryMath(func(x float64) float64 { return x / (pi / 180) }),
	"exp":   unaryMath(math.Exp),
	"floor": unaryMath(math.Floor),
	"log":   negative(math.Log),
	"log10": positive(log10),
	"rad":   unaryMath(func(x float64) float64 { return x * (pi / 180) }),
	"sin":   negative(math.Sin),
	"sinh":  unaryMath(math.Sinh),
	"sqrt":  negative(math.Sqrt),
	"tan":   negative(math.Tan),
	"tanh":  unaryMath(math.Tanh),

	"atan2": func(th *thread, args []value) []value {
		x, y := twoNumbers(th, args)
		return th.one(number(math.Atan2(x, y)))
	},
	"fmod": mathFmod,
	"pow": func(th *thread, args []value) []value {
		x, y := twoNumbers(th, args)
		return th.one(number(power(x, y)))
	},
	"frexp": func(th *thread, args []value) []value {
		m, e := math.Frexp(numberArg(th, args, 1))
		return th.two(number(m), number(float64(e)))
	},
	"ldexp": func(th *thread, args []value) []value {
		e := intArg(th, args, 2)
		return th.one(number(math.Ldexp(numberArg(th, args, 1), e)))
	},
	"modf":       mathModf,
	"max":        mathMax,
	"min":        mathMin,
	"random":     mathRandom,
	"randomseed": mathRandomSeed,
}

// log10 is exact for powers of ten, as C's is.
func log10(x float64) float64 {
	v := math.Log10(x)
	if r := math.Round(v); math.Abs(v-r) < 1e-9 && math.Pow(10, r) == x {
		return r
	}
	return v
}

// twoNumbers are two arguments. The second is looked at first, as C's compiler
// does it.
func twoNumbers(th *thread, args []value) (x, y float64) {
	y = numberArg(th, args, 2)
	return numberArg(th, args, 1), y
}

func mathFmod(th *thread, args []value) []value {
	x, y := twoNumbers(th, args)
	return th.one(number(negativeNaN(math.Mod(x, y), x, y)))
}

func mathModf(th *thread, args []value) []value {
	x := numberArg(th, args, 1)
	if math.IsInf(x, 0) {
		return th.two(number(x), number(math.Copysign(0, x)))
	}
	whole := math.Trunc(x)
	return th.two(number(whole), number(math.Copysign(x-whole, x)))
}

func mathMax(th *thread, args []value) []value {
	best := numberArg(th, args, 1)
	for i := 2; i <= len(args); i++ {
		if x := numberArg(th, args, i); x > best {
			best = x
		}
	}
	return th.one(number(best))
}

func mathMin(th *thread, args []value) []value {
	best := numberArg(th, args, 1)
	for i := 2; i <= len(args); i++ {
		if x := numberArg(th, args, i); x < best {
			best = x
		}
	}
	return th.one(number(best))
}

func mathRandom(th *thread, args []value) []value {
	r := float64(th.s.random.next()%maxRandom) / maxRandom
	switch len(args) {
	case 0:
		return th.one(number(r))
	case 1:
		top := intArg(th, args, 1)
		if top < 1 {
			th.argError(1, "interval is empty")
		}
		return th.one(number(math.Floor(r*float64(top)) + 1))
	case 2:
		low, top := intArg(th, args, 1), intArg(th, args, 2)
		if low > top {
			th.argError(2, "interval is empty")
		}
		return th.one(number(math.Floor(r*float64(int32(top-low+1))) + float64(low)))
	}
	th.libError("wrong number of arguments")
	return nil
}

func mathRandomSeed(th *thread, args []value) []value {
	th.s.random.seed(int32(intArg(th, args, 1)))
	return nil
}
