package command

// Access is what a command does to a key, as ACL patterns see it.
type Access uint8

const (
	AccessRead  Access = 1 << iota // its content may be told
	AccessWrite                    // it may change
)

// Access is the permission that a command needs for a key which it uses so.
// To tell a key's type or size alone it needs none, as in Redis.
func (u Use) Access() (need Access) {
	if u.reads() {
		need |= AccessRead
	}
	if u.writes() {
		need |= AccessWrite
	}
	return need
}

// Channels says which of a command's arguments are channels that permission is
// needed for. Nobody needs any to unsubscribe.
type Channels uint8

const (
	NoChannels   Channels = iota
	FirstChannel          // the first argument is one
	AllChannels           // all arguments are
	AllPatterns           // all are patterns, which must be allowed as they are
)

// In are the channels, or patterns of channels, in a command's arguments.
func (c Channels) In(args [][]byte) [][]byte {
	switch c {
	case NoChannels:
		return nil
	case FirstChannel:
		return args[:1]
	}
	return args
}
