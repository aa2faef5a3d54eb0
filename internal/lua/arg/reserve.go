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

// TableBytes and MemberBytes are about what a table takes, and each member.
const (
	TableBytes  = 96
	MemberBytes = 48
)

// Allowance is what one call of a library takes, bit by bit, that nothing but
// the call can reach yet. Its zero value is ready.
type Allowance struct {
	taken    int // bytes
	reserved int // bytes of the buffer
}

// freeBytes is what a call takes without being metered: most take less.
const freeBytes = 4 << 10

// Take is Reserve for a part of the whole. What is asked for is twice as much as
// was taken: a buffer that grows is copied, and so is what becomes a string.
func (a *Allowance) Take(c Call, bytes int) {
	a.taken += bytes
	if a.taken <= max(a.reserved, freeBytes) {
		return
	}
	if a.taken > MaxBytes {
		c.Raise("not enough memory")
	}
	a.reserved = min(2*a.taken, MaxBytes)
	Reserve(c, a.reserved)
}

// bytesPerStep is how many bytes of text are read or written one by one in the time
// of one instruction, about.
const bytesPerStep = 4

// SpendOnText spends what it costs to look at each byte of a text.
func SpendOnText(c Call, bytes int) {
	if bytes >= bytesPerStep {
		c.Spend(bytes / bytesPerStep)
	}
}

// slotsPerStep is how many places of a table are looked at in the time of one
// instruction, about.
const slotsPerStep = 4

// SpendOn spends what a walk over a table costs.
func SpendOn(c Call, t Table) {
	c.Spend(1 + t.Slots()/slotsPerStep)
}
