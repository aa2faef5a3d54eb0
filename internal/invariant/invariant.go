// Package invariant ends the program when it is wrong about itself.
//
// It is for our own mistakes only: a condition that no input, no file and no
// disk can make false. What the world can do is an error, not an invariant.
package invariant

import "fmt"

// Check panics when cond is false. The message is format with args, behind
// "invariant broken: ".
func Check(cond bool, format string, args ...any) {
	if !cond {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
