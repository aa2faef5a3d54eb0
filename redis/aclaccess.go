package redis

// access is what a command does to a key, as ACL patterns see it.
type access uint8

const (
	accessRead  access = 1 << iota // its content may be told
	accessWrite                    // it may change
)

// access is the permission that a command needs for a key which it uses so.
// To tell a key's type or size alone it needs none, as in Redis.
func (f keyFlags) access() (need access) {
	if f.reads() {
		need |= accessRead
	}
	if f.writes() {
		need |= accessWrite
	}
	return need
}

// listens is what a command does with the channels in its arguments.
type listens uint8

const (
	listensNot      listens = iota
	listensChannels         // names of channels
	listensPatterns         // patterns, which must be allowed as they are
)

// channels are the channels in a command's arguments that permission is
// needed for. Nobody needs any to unsubscribe.
func (e *entry) channels(args [][]byte) ([][]byte, listens) {
	switch e.Name {
	case "SUBSCRIBE", "SSUBSCRIBE":
		return args, listensChannels
	case "PUBLISH", "SPUBLISH":
		return args[:1], listensChannels
	case "PSUBSCRIBE":
		return args, listensPatterns
	}
	return nil, listensNot
}
