package lua

// Arguments of the library's functions, checked as Lua checks them. They are
// counted from 1.

func argAt(args []value, n int) value {
	if n <= len(args) {
		return args[n-1]
	}
	return vnil
}

// missing says whether an argument is nil or not there.
func missing(args []value, n int) bool { return argAt(args, n) == vnil }

func anyArg(th *thread, args []value, n int) value {
	if n > len(args) {
		th.argError(n, "value expected")
	}
	return args[n-1]
}

func tableArg(th *thread, args []value, n int) *table {
	if n <= len(args) {
		if t, ok := args[n-1].(*table); ok {
			return t
		}
	}
	th.typeArgError(args, n, "table")
	return nil
}

func functionArg(th *thread, args []value, n int) value {
	if n <= len(args) && isCallable(args[n-1]) {
		return args[n-1]
	}
	th.typeArgError(args, n, "function")
	return nil
}

func numberArg(th *thread, args []value, n int) float64 {
	if n <= len(args) {
		if x, ok := numberOf(args[n-1]); ok {
			return x
		}
	}
	th.typeArgError(args, n, "number")
	return 0
}

func stringArg(th *thread, args []value, n int) string {
	if n <= len(args) {
		if s, ok := textOf(args[n-1]); ok {
			return s
		}
	}
	th.typeArgError(args, n, "string")
	return ""
}

// integerArg is C's ptrdiff_t, intArg C's int.
func integerArg(th *thread, args []value, n int) int { return int(toInteger(numberArg(th, args, n))) }
func intArg(th *thread, args []value, n int) int     { return int(int32(integerArg(th, args, n))) }

func optInteger(th *thread, args []value, n, otherwise int) int {
	if missing(args, n) {
		return otherwise
	}
	return integerArg(th, args, n)
}

func optInt(th *thread, args []value, n, otherwise int) int {
	if missing(args, n) {
		return otherwise
	}
	return intArg(th, args, n)
}

func optString(th *thread, args []value, n int, otherwise string) string {
	if missing(args, n) {
		return otherwise
	}
	return stringArg(th, args, n)
}
