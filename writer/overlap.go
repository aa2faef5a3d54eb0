package writer

import "fmt"

// Groups overlap: while one is being committed the next one runs, on what the
// one before has staged. The goroutine that runs jobs, the runner, keeps
// everything in memory: State, the tail, the clock, the answers. Another one,
// the committer, has the write session and what is kept about the file from
// launch until rested, and nobody else does. The runner holds mu and the
// state's lock all that time.
//
//	runner     run, Seal, launch, run the next one …  Publish, answer, launch …
//	committer              append, merge, COMMIT, landed, write-ahead log, rested
//
//   - One group at most is in the air. Whether it has landed is looked at
//     between two transactions: there, and nowhere else, it is published.
//   - What runs is not answered before: it may have read what is in the air.
//     If that fails, both are undone and get the error, and a job that is half
//     run stops.
//   - Nothing is in the air when a merge begins, a request is run, ranges that
//     readers have loaded are taken over, or a Barrier returns.
//
// With an fsync in each commit nothing overlaps: more commits, and smaller
// ones, cost more there than what runs beside them saves. Nor do small groups,
// which share a commit the better the longer they wait, nor the last one that
// there is: to wake another goroutine costs more than that saves.

// launchAt is how many transactions a group has at least that is committed
// beside the next one. A commit takes some 200 µs whatever is in it, as long as
// running 100 transactions.
const launchAt = 128

// air is the way between the runner and the committer.
type air struct {
	take   chan *group
	landed chan error    // capacity 1: the commit has ended so
	rested chan struct{} // capacity 1: the committer has let go of the write session

	flying *group // launched, and not landed as far as the runner knows
	busy   bool   // launched, and not rested as far as the runner knows
}

func newAir() air {
	return air{take: make(chan *group), landed: make(chan error, 1), rested: make(chan struct{}, 1)}
}

// runCommits is the committer.
func runCommits(w *Writer) {
	for g := range w.air.take {
		fly(w, g)
	}
}

// fly commits a group beside the runner.
func fly(w *Writer, g *group) {
	err := fmt.Errorf("%w: a commit ended its goroutine", ErrInDoubt)
	landed := false
	defer func() {
		if !landed {
			w.air.landed <- err
		}
		w.air.rested <- struct{}{}
	}()
	err = w.commit(g)
	landed = true
	w.air.landed <- err
	if err == nil {
		watchWAL(w)
		vacuumBetween(w)
	}
}

// overlaps says whether the groups that run now may overlap.
func overlaps(w *Writer) bool { return w.opts.Durability != Always && !w.inline }

// launchLarge hands what runs, which is large, to the committer, if that is at
// rest and something waits that can run meanwhile. A group that is as large as
// it may be waits for the committer. An error is that of the group before.
func launchLarge(w *Writer) error {
	if !overlaps(w) {
		return nil
	}
	if w.running.ran >= maxGroup {
		if err := ground(w); err != nil {
			return err
		}
	}
	switch {
	case !rests(w) || w.wal.owes || len(w.taken) == 0 && w.queue.jobsWaiting() == 0:
	case w.running.wrote == 0:
		w.running.answer(nil)
	default:
		launch(w)
	}
	return nil
}

// launch hands what runs to the committer, which is at rest.
func launch(w *Writer) {
	g := w.running
	seal(w, g)
	w.running = &w.groups[0]
	if g == w.running {
		w.running = &w.groups[1]
	}
	w.air.flying, w.air.busy = g, true
	w.air.take <- g
}

// look ends the group in the air if it has landed.
func look(w *Writer) error {
	if w.air.flying == nil {
		return nil
	}
	select {
	case err := <-w.air.landed:
		return hear(w, err)
	default:
		return nil
	}
}

// hear ends the group in the air, whose commit has ended with err.
func hear(w *Writer, err error) error {
	g := w.air.flying
	w.air.flying = nil
	return w.land(g, err)
}

// rests says that nothing is in the air, and the committer at rest.
func rests(w *Writer) bool {
	if w.air.busy && w.air.flying == nil {
		select {
		case <-w.air.rested:
			w.air.busy = false
		default:
		}
	}
	return !w.air.busy
}

// ground waits until nothing is in the air and the committer at rest. Its error
// is that of the group that was.
func ground(w *Writer) (err error) {
	if w.air.flying != nil {
		err = hear(w, <-w.air.landed)
	}
	if w.air.busy {
		<-w.air.rested
		w.air.busy = false
	}
	return err
}

// more takes the jobs that have come meanwhile, and waits for them as long as a
// group is under way. It is false when this ends: because none has come, or
// because somebody waits for it to end. Its error is fatal.
func more(w *Writer) (found bool, err error) {
	if !overlaps(w) || w.pressed {
		return false, nil
	}
	for {
		if err := fatal(look(w)); err != nil || wantsGround(w) {
			return false, err
		}
		w.taken = w.queue.takeJobs(w.buffer, maxGroup)
		w.buffer = w.taken
		if len(w.taken) > 0 {
			return true, nil
		}
		if rests(w) {
			return false, nil
		}
		if err := wait(w); err != nil {
			return false, err
		}
	}
}

// wait waits for the committer, which has something to do, or for jobs. Its
// error is fatal.
func wait(w *Writer) error {
	rested := w.air.rested
	if w.air.flying != nil {
		rested = nil // it has landed before, and that comes first
	}
	select {
	case err := <-w.air.landed:
		return fatal(hear(w, err))
	case <-rested:
		w.air.busy = false
	case <-w.queue.signal:
	}
	return nil
}

// wantsGround says whether something is to be done for which nothing may be in
// the air.
func wantsGround(w *Writer) bool {
	return w.barriers.Load() > 0 || w.queue.execsWait() || w.failure() != nil || w.opts.State.Offered() ||
		rests(w) && w.wal.owes || tailIsLarge(w) && !w.merger.Active()
}
