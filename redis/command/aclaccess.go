package command

// Access is what a command does to a key, as ACL patterns see it.
type Access uint8

const (
	AccessRead  Access = 1 << iota // its content may be told
	AccessWrite                    // it may change
)

// Access is the permission that a command needs for a key which it uses so.
// To tell a key's type or size alone it needs none, as in Redis.
func (f keyFlags) Access() (need Access) {
	if f.reads() {
		need |= AccessRead
	}
	if f.writes() {
		need |= AccessWrite
	}
	return need
}

// listens is what a command does with the channels in its arguments.
type listens uint8

const (
	listensNot      listens = iota
	listensChannels         // names of channels
	ListensPatterns         // patterns, which must be allowed as they are
)

// Channels are the channels in a command's arguments that permission is
// needed for. Nobody needs any to unsubscribe.
func (e *Entry) Channels(args [][]byte) ([][]byte, listens) {
	switch e.Name {
	case "SUBSCRIBE", "SSUBSCRIBE":
		return args, listensChannels
	case "PUBLISH", "SPUBLISH":
		return args[:1], listensChannels
	case "PSUBSCRIBE":
		return args, ListensPatterns
	}
	return nil, listensNot
}
