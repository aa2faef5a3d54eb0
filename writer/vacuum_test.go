package writer

import (
	"testing"
	"testing/synctest"
	"time"
)

// Free pages go back to the file system: all of them when the writer idles,
// under load only while they are more than a quarter of the file, in steps
// with pauses.

func (e *fakeEngine) setPages(total, free int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.total, e.free = total, free
}

func (e *fakeEngine) freePages() (free int64, steps int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.free, len(e.vacuums)
}

func TestIdleWriterVacuumsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{})
		r.engine.setPages(100_000, 1000)
		r.write()
		time.Sleep(999 * time.Millisecond)
		synctest.Wait()
		if free, steps := r.engine.freePages(); free != 1000 || steps != 0 {
			t.Errorf("before a second was over: got %d free pages after %d steps, want 1000 and 0", free, steps)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if free, steps := r.engine.freePages(); free != 0 || steps != 8 {
			t.Errorf("after an idle second: got %d free pages after %d steps, want 0 and 8", free, steps)
		}
		if got := r.w.Stats().Vacuumed; got != 1000 {
			t.Errorf("vacuumed: got %d, want 1000", got)
		}
	})
}

func TestBusyWriterVacuumsWhatIsMoreThanAQuarter(t *testing.T) {
	for _, tt := range []struct {
		name              string
		total, free, left int64 // left: after ten seconds
	}{
		{"little", 10_000, 2500, 2500},
		{"some", 10_000, 4000, 2000 - 40}, // (4000-n)/(10000-n) <= 1/4, at the end of a step
		{"much", 200_000, 190_000, 190_000 - int64(10*time.Second/vacuumInterval)*vacuumBeside},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, Options{})
				r.engine.setPages(tt.total, tt.free)
				r.writePages(10_000)
				free, _ := r.engine.freePages()
				if d := free - tt.left; d < -2*VacuumStep || d > 2*VacuumStep {
					t.Errorf("free after ten seconds of writes: got %d pages, want about %d", free, tt.left)
				}
			})
		})
	}
}

func TestVacuumIsAskedForInSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{})
		r.engine.setPages(1000, 100)
		for _, want := range [][3]int64{{60, 60, 40}, {60, 40, 0}, {60, 0, 0}, {0, 0, 0}} {
			freed, left, err := r.w.Vacuum(t.Context(), int(want[0]))
			if freed != want[1] || left != want[2] || err != nil {
				t.Errorf("vacuum %d: got %d, %d left, %v, want %d, %d left", want[0], freed, left, err, want[1], want[2])
			}
		}
	})
}
