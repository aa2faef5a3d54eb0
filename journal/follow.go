package journal

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firndb/firn/schema"
)

// Follower is somebody who follows: as long as it is open the newest commits
// are kept in memory, and the store's figures know how far behind it is.
type Follower struct {
	journal *Journal
	at      atomic.Int64
	warned  bool // that the horizon is near; guarded by followers.mu
	closing sync.Once
}

// followers are those who follow.
type followers struct {
	mu  sync.Mutex
	all map[*Follower]struct{}

	passes atomic.Int64 // of the compactor that were about to begin
}

// Follow says that somebody begins to follow from a moment on. The caller
// closes it.
func (j *Journal) Follow(from schema.Timestamp) *Follower {
	f := &Follower{journal: j}
	f.Moved(max(from, j.opts.Oldest())) // of a store without a commit the newest is nothing
	j.followers.mu.Lock()
	if j.followers.all == nil {
		j.followers.all = map[*Follower]struct{}{}
	}
	j.followers.all[f] = struct{}{}
	j.followers.mu.Unlock()
	j.ring.follow(1)
	return f
}

// Moved says how far the follower is: it needs nothing up to ts any more.
func (f *Follower) Moved(ts schema.Timestamp) { f.at.Store(int64(ts)) }

// At is what Moved has said last.
func (f *Follower) At() schema.Timestamp { return schema.Timestamp(f.at.Load()) }

// Close ends the following. It may be called again.
func (f *Follower) Close() {
	f.closing.Do(func() {
		f.journal.followers.mu.Lock()
		delete(f.journal.followers.all, f)
		f.journal.followers.mu.Unlock()
		f.journal.ring.follow(-1)
	})
}

// Passed is how many passes of the compactor were about to begin: whoever waits
// and finds another number than before hands out a newer token.
func (j *Journal) Passed() int64 { return j.followers.passes.Load() }

// Changes follows the store from where a text says, see From, as
// firn.Store.Changes does.
func (j *Journal) Changes(ctx context.Context, from string, f Filter) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		s, err := j.sieve(&f)
		var after schema.Timestamp
		if err == nil {
			after, err = j.From(from)
		}
		if err != nil {
			yield(Commit{}, err)
			return
		}
		l := &line{journal: j, sieve: s, after: after, follower: j.Follow(after), yield: yield, wake: make(chan struct{}, 1)} // one wake is as good as many
		defer l.follower.Close()
		l.told, l.token = time.Now(), after
		if err := l.run(ctx); err != nil {
			yield(Commit{}, err)
		}
	}
}

// line is one call of Changes.
type line struct {
	journal  *Journal
	sieve    *sieve
	after    schema.Timestamp // the caller has had everything up to it
	follower *Follower
	yield    func(Commit, error) bool
	wake     chan struct{}
	told     time.Time        // when the caller was given a token
	token    schema.Timestamp // which
	passes   int64            // of the compactor when it was
}

// run follows until the caller stops, and then it is nil, or something ends it.
func (l *line) run(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		page, err := l.journal.page(l.after, l.sieve)
		if err != nil {
			return err
		}
		for i, c := range page.Commits {
			page.Commits[i] = Commit{} // only the caller has it
			if !l.tell(c) {
				return nil
			}
		}
		l.moved(page.TS)
		if stop, err := l.pause(ctx, page.More); stop {
			return err
		}
	}
}

func (l *line) moved(ts schema.Timestamp) {
	l.after = ts
	l.follower.Moved(ts)
}

// tell gives the caller a commit, or a bookmark.
func (l *line) tell(c Commit) bool {
	l.passes = l.journal.followers.passes.Load() // before the commit is out: one that begins meanwhile asks for another
	if !l.yield(c, nil) {
		return false
	}
	l.moved(c.TS)
	l.told, l.token = time.Now(), c.TS
	return true
}

// bookmark says how far the caller is.
func (l *line) bookmark() bool {
	return l.tell(Commit{TS: l.after, Token: l.journal.Token(l.after)})
}

// pause is what comes between two pages: a bookmark, if one is due, and if there
// is nothing more to read a while of waiting. stop says that this is the end.
func (l *line) pause(ctx context.Context, more bool) (stop bool, err error) {
	if !more && !l.due() {
		if stop, err = l.wait(ctx, l.sieve.Bookmark-time.Since(l.told)); stop {
			return true, err
		}
		more = l.journal.ring.beyond(l.after)
	}
	switch {
	case !l.due():
		return false, nil
	case l.after > l.token:
		return !l.bookmark(), nil
	case more:
		return false, nil
	}
	return l.settle()
}

// due says that the caller should have a token: it has had none for long, or a
// pass of the compactor is about to begin.
func (l *line) due() bool {
	return l.passes != l.journal.followers.passes.Load() || time.Since(l.told) >= l.sieve.Bookmark
}

// settle gives a caller who has had everything a bookmark of the present: the
// horizon goes there, too, commits or not.
func (l *line) settle() (stop bool, err error) {
	moment, ok, err := l.journal.Present(l.after)
	if err != nil {
		return true, err
	}
	if !ok || l.journal.ring.beyond(l.after) {
		return false, nil // committed meanwhile, perhaps before the moment
	}
	l.moved(moment)
	return !l.bookmark(), nil
}

// wait waits for a commit, a pass of the compactor, or so long.
func (l *line) wait(ctx context.Context, long time.Duration) (stop bool, err error) {
	cancel := l.journal.Notify(l.after, func() {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	})
	defer cancel()
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return true, ctx.Err()
	case <-l.journal.ended:
		return true, l.journal.opts.Closed
	case <-l.wake:
	case <-timer.C:
	}
	return false, nil
}
