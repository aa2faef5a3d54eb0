package command

// AddInts is a+b; ok is false if that does not fit.
func AddInts(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0) || b == 0
}
