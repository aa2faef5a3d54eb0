package lua

import (
	"errors"
	"time"

	"github.com/firndb/firn/internal/lua/unwind"
)

// Ends that a script cannot catch. Errors of State.Call match them.
var (
	// ErrSteps means that the budget of instructions is spent.
	ErrSteps = errors.New("lua: budget spent")

	// ErrDeadline means that the deadline has passed.
	ErrDeadline = errors.New("lua: deadline passed")

	// ErrMemory means that the script holds more than it may.
	ErrMemory = errors.New("lua: script is using too much memory")
)

// lookEvery is how many instructions pass between two looks at the clock and
// at who asks the script to stop: some microseconds.
const lookEvery = 1024

// DefaultBytes is what a script may hold when its guard says nothing else.
const DefaultBytes = 128 << 20

// Guard bounds one call. Its zero value bounds memory alone.
type Guard struct {
	Steps    int64        // instructions, about; 0: as many as it likes
	Deadline time.Time    // zero: none
	Bytes    int64        // what the script may hold; 0: DefaultBytes
	Stop     func() error // asked every thousand instructions or so; its error ends the script
}

// meter counts what a program uses. Once it has said that the program ends it
// says nothing else, so a program that catches errors gets no further.
type meter struct {
	left  int64 // instructions until the next look
	steps int64 // instructions left in the budget
	guard Guard
	err   error

	debt    int64 // bytes taken since the last walk
	allowed int64 // bytes that may be taken until the next one
	walk    func() int64
	heap    uint64 // of the process, when the program began
}

func (m *meter) reset(g *Guard, walk func() int64) {
	*m = meter{left: lookEvery, walk: walk}
	if g != nil {
		m.guard = *g
	}
	if m.guard.Bytes <= 0 {
		m.guard.Bytes = DefaultBytes
	}
	m.allowed = m.guard.Bytes
	m.steps = m.guard.Steps
	if m.steps > 0 {
		m.left = min(m.left, m.steps)
	}
}

// spend counts instructions.
func (m *meter) spend(n int64) {
	m.left -= n
	if m.left <= 0 {
		m.look()
	}
}

// look asks whether the program has to end, and ends it.
func (m *meter) look() {
	if m.err == nil {
		m.err = m.ask(lookEvery - m.left)
	}
	if m.err != nil {
		m.left = 0
		unwind.Throw(&killed{m.err})
	}
	m.left = lookEvery
}

func (m *meter) ask(spent int64) error {
	if m.guard.Steps > 0 {
		if m.steps -= spent; m.steps <= 0 {
			return ErrSteps
		}
	}
	if !m.guard.Deadline.IsZero() && time.Now().After(m.guard.Deadline) {
		return ErrDeadline
	}
	if m.guard.Stop != nil {
		return m.guard.Stop()
	}
	return nil
}

// end makes the program end with an error that it cannot catch.
func (m *meter) end(err error) {
	if m.err == nil {
		m.err = err
	}
	m.left = 0
	unwind.Throw(&killed{m.err})
}
