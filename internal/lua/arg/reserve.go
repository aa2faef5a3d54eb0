package arg

// MaxBytes is how many bytes one call of a library takes at most, also in a
// state without a meter: a string of Redis cannot be longer.
const MaxBytes = 512 << 20

// Reserve asks for bytes before a library takes them. It raises an error, and
// does not return, when the script may not have as many.
func Reserve(c Call, bytes int) {
	if bytes > MaxBytes {
		c.Raise("not enough memory")
	}
	c.Charge(bytes)
}

// Allowance is what one call of a library takes bit by bit. It keeps the meter
// out of most of it: nothing is reserved for a call that takes little. Its zero
// value is ready.
type Allowance struct {
	taken    int // bytes
	reserved int // bytes, never less than taken, but for the first few
}

const (
	// freeBytes is what a call takes without being metered, like a table that
	// the virtual machine makes.
	freeBytes = 4 << 10

	// allowanceStep is how many bytes are reserved at once, at least.
	allowanceStep = 64 << 10
)

// Take is Reserve for a part of the whole.
func (a *Allowance) Take(c Call, bytes int) {
	a.taken += bytes
	if a.taken <= max(a.reserved, freeBytes) {
		return
	}
	if a.taken > MaxBytes {
		c.Raise("not enough memory")
	}
	step := max(a.taken-a.reserved, allowanceStep)
	Reserve(c, step)
	a.reserved += step
}

// slotsPerStep is how many places of a table are looked at in the time of one
// instruction, about.
const slotsPerStep = 4

// SpendOn spends what a walk over a table costs.
func SpendOn(c Call, t Table) {
	c.Spend(1 + t.Slots()/slotsPerStep)
}
