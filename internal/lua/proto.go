package lua

type (
	code   func(f *frame) value   // an expression, as one value
	codes  func(f *frame) []value // … as all its values, which are borrowed
	test   func(f *frame) bool    // … as a condition
	action func(f *frame) signal  // a statement
)

// signal is how a statement ended.
type signal int

const (
	signalNone signal = iota
	signalBreak
	signalReturn // the values are in the frame
	signalTail   // the frame has a function to call instead
)

// proto is a compiled function. States share it.
type proto struct {
	name   string // of the program, as errors say it
	source string
	params int
	vararg bool
	bare   bool
	slots  int
	cells  []int // parameters that inner functions use
	// argSlot is where "arg" is, or -1.
	argSlot int
	ups     []upvalueOf
	body    action
	cost    int64
	depth   int // how deep its Go functions call each other, at most
}

// Chunk is a compiled program. It is never changed, and states share it.
type Chunk struct {
	proto *proto
	bytes int
}

// Bytes is about what the chunk takes in memory.
func (c *Chunk) Bytes() int { return c.bytes }
