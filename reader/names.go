package reader

import "unsafe"

// names makes strings of the keys that a walk meets, many in one piece of
// memory.
type names struct{ room []byte }

// Bytes of a piece of memory: few for a walk of few keys.
const (
	leastNames = 128
	mostNames  = 4096
)

// of is a key as a string that nobody changes.
func (n *names) of(key []byte) string {
	if len(key) == 0 {
		return ""
	}
	if len(n.room)+len(key) > cap(n.room) {
		n.room = make([]byte, 0, max(len(key), min(max(4*cap(n.room), leastNames), mostNames)))
	}
	from := len(n.room)
	n.room = append(n.room, key...)
	return unsafe.String(&n.room[from], len(key))
}
