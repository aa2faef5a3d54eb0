package command

// Wrapped is the command in the arguments of one that Wraps, behind the moment,
// and whether they say that walks leave out what is forgotten then. There are
// two arguments at least.
func Wrapped(args [][]byte) (words [][]byte, partial bool) {
	if len(args) > 2 && Is(args[1], "PARTIAL") {
		return args[2:], true
	}
	return args[1:], false
}
