package proof

// The rule: a store that is open for reading only is a picture of the moment of
// opening, whatever its writer does meanwhile.

import (
	"testing"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/inside"
)

// TestReadOnlyStoresAgreeWithTheModel opens stores at random moments beside a
// writer that merges all the time, and compares each with what was committed
// then, after more has been.
func TestReadOnlyStoresAgreeWithTheModel(t *testing.T) {
	random := seededRandom(t)
	s, c := filled(t, random, 50)
	type opened struct {
		store *firn.Store
		n     int
	}
	var all []opened
	for range 15 {
		writeMore(t, s, c, random, random.IntN(40))
		o := crashOptions(firn.None)
		o.ReadOnly = true
		if random.IntN(2) == 0 {
			o.Memory = 0
		}
		ro := openAt(t, inside.Of(s).Engine.Path(), o)
		if got, want := ro.Bounds().Newest, c.commits[len(c.commits)-1].ts; got != want {
			t.Errorf("newest: got %d, want %d", got, want)
		}
		all = append(all, opened{ro, len(c.commits)})
		for _, o := range all {
			if err := c.compare(t, o.store, o.n, random); err != nil {
				t.Fatalf("opened at commit %d, compared at %d: %v", o.n, len(c.commits), err)
			}
		}
	}
	if inside.Of(s).Tail.Watermark() == 0 {
		t.Error("nothing was merged meanwhile")
	}
}
