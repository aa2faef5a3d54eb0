package invariant

import "testing"

// A condition that holds costs nothing and says nothing; one that does not
// ends the program with a message that names the operands.

func TestTrueConditionIsSilent(t *testing.T) {
	Check(true, "never shown %d", 1)
}

func TestFalseConditionPanicsWithItsOperands(t *testing.T) {
	defer func() {
		const want = "invariant broken: last 7 is above next 3"
		if got := recover(); got != want {
			t.Errorf("panic message:\n got %v\nwant %s", got, want)
		}
	}()
	Check(false, "last %d is above next %d", 7, 3)
}
