package lua

import (
	"errors"
	"time"
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
const lookEvery = 512

// Guard bounds one call. Its zero value bounds nothing.
type Guard struct {
	Steps    int64        // instructions, about; 0: as many as it likes
	Deadline time.Time    // zero: none
	Bytes    int64        // what the script may hold; 0: the default
	Stop     func() error // asked every few hundred instructions; its error ends the script
}

// closed is what a context's Done returns when it is done.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// meter is the context that the virtual machine asks before each instruction.
// It counts, and once it has said stop it never says anything else, so a
// script that catches the error gets no further.
type meter struct {
	left  int64 // instructions until the next look
	steps int64 // instructions left in the budget
	guard Guard
	err   error
}

func (m *meter) reset(g *Guard) {
	*m = meter{left: lookEvery}
	if g != nil {
		m.guard = *g
	}
	m.steps = m.guard.Steps
	if m.steps > 0 {
		m.left = min(m.left, m.steps)
	}
}

// Done is called before each instruction.
func (m *meter) Done() <-chan struct{} {
	m.left--
	if m.left > 0 {
		return nil
	}
	return m.look()
}

func (m *meter) look() <-chan struct{} {
	m.left = 0
	if m.err == nil {
		m.err = m.ask()
	}
	if m.err != nil {
		return closed
	}
	m.left = lookEvery
	return nil
}

func (m *meter) ask() error {
	if m.guard.Steps > 0 {
		if m.steps -= lookEvery; m.steps <= 0 {
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

func (m *meter) Deadline() (time.Time, bool) { return m.guard.Deadline, !m.guard.Deadline.IsZero() }
func (m *meter) Err() error                  { return m.err }
func (m *meter) Value(any) any               { return nil }
