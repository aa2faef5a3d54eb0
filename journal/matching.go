package journal

import (
	"context"
	"time"

	"github.com/firndb/firn/schema"
)

// matching is the goroutine of a Matcher.
type matching struct {
	*Matcher
	groups []Group
	hits   []*watch
	timer  *time.Timer
	unheed func() // ends the notification that was asked for; nil: none was
}

// Run matches commits until ctx ends. Then everything is stale, and stays it:
// who runs a query again learns that the store is closed.
func (m *Matcher) Run(ctx context.Context) error {
	r := &matching{Matcher: m, timer: time.NewTimer(time.Hour)}
	defer r.timer.Stop()
	for ctx.Err() == nil {
		wait := pace
		if !r.step() {
			wait = r.patience()
		}
		r.await(ctx, wait)
		r.rest()
	}
	r.close()
	return nil
}

// pace is how long a Matcher lets commits gather that come one after the other:
// being woken for each costs the writer more than the commit's rows in the ring.
// The first after a pause is matched at once.
const pace = time.Millisecond

// await waits for something to do, or so long.
func (r *matching) await(ctx context.Context, long time.Duration) {
	r.timer.Reset(long)
	select {
	case <-r.poke:
	case <-r.timer.C:
	case <-ctx.Done():
	}
}

// step matches what there is, and tells whose time has come. It says whether
// there was a commit.
func (r *matching) step() (some bool) {
	for r.following() {
		r.mu.Lock()
		after := r.matched
		r.mu.Unlock()
		var ok bool
		if r.groups, ok = r.commits.groups(r.groups[:0], after, stepRows); !ok {
			if newest := r.commits.newest(); newest > after {
				r.lost(newest)
				continue
			}
		}
		if len(r.groups) == 0 {
			break // there is no newer commit, or the ring has none at all yet
		}
		some = true
		now := r.now()
		r.mu.Lock()
		for i := range r.groups {
			r.hits = r.in.match(r.hits, &r.groups[i])
		}
		r.hits = r.in.due(r.hits, now)
		r.matched = r.groups[len(r.groups)-1].Last
		done := r.matched
		r.mu.Unlock()
		clear(r.groups)
		r.tell(done)
	}
	if !r.following() {
		return false
	}
	now := r.now()
	r.mu.Lock()
	r.hits = r.in.due(r.hits, now)
	done := r.matched
	r.mu.Unlock()
	r.tell(done)
	return some
}

func (r *matching) following() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.follows != nil
}

// lost declares everything stale: commits have left the ring that were not
// matched.
func (r *matching) lost(newest schema.Timestamp) {
	r.counters.fallenBehind.Add(1)
	r.mu.Lock()
	r.hits = r.in.all(r.hits, newest)
	r.matched = newest
	r.mu.Unlock()
	r.tell(newest)
}

// tell calls those who were hit, by commits up to done or by time.
func (r *matching) tell(done schema.Timestamp) {
	r.counters.wakes.Add(int64(len(r.hits)))
	for _, w := range r.hits {
		w.stale(w.hitAt)
	}
	clear(r.hits)
	r.hits = r.hits[:0]
	r.told.Store(int64(done))
	r.arrived()
}

// patience is how long there is nothing to do, unless there is a commit, of
// which Run hears.
func (r *matching) patience() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.follows == nil {
		return time.Hour // it is poked when somebody comes
	}
	r.unheed = r.commits.notify(r.matched, r.wake)
	if len(r.in.wakes) == 0 {
		return lingers
	}
	left := time.Duration(r.in.wakes[0].until-r.now()) * time.Microsecond
	return min(max(left, 0)+time.Microsecond, lookAgain)
}

// rest ends what patience began, and stops to follow when nobody has watched
// or recorded anything for a while.
func (r *matching) rest() {
	if r.unheed != nil {
		r.unheed()
		r.unheed = nil
	}
	defer r.arrived()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.follows == nil || r.in.number > 0 || r.running > 0 || time.Since(r.recorded) < lingers {
		return
	}
	r.follows()
	r.follows = nil
}

// close declares everything stale for ever.
func (r *matching) close() {
	newest := r.commits.newest()
	r.mu.Lock()
	r.ended = true
	r.hits = r.in.all(r.hits, newest)
	if r.follows != nil {
		r.follows()
		r.follows = nil
	}
	r.mu.Unlock()
	r.tell(newest)
}
