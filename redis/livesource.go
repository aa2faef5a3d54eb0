package redis

import (
	"context"
	"runtime"

	"github.com/firndb/firn"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/live"
)

// liveWorkers is the most goroutines that evaluate live queries at once.
const liveWorkers = 4

// newLive makes the hub of what a server has live.
func newLive(srv *Server) *live.Hub {
	return live.New(liveSource{srv.store}, live.Options{
		Commands: srv.commands, Catalog: srv.catalog, Workers: min(runtime.GOMAXPROCS(0), liveWorkers), Now: srv.opts.Now,
		Text: srv.liveText, Refusal: denialError, Scripts: srv.scripts,
	})
}

// RunLive evaluates what is live, and tells the clients, until ctx ends; then
// it returns nil. It is run by the drivers, and may run several times at once.
func (srv *Server) RunLive(ctx context.Context) error { return srv.live.Run(ctx) }

// LiveStats counts what is live, and what came of it.
func (srv *Server) LiveStats() live.Stats { return srv.live.Stats() }

// liveText is an error for a client whose subscription it ends. What is not
// for clients goes to the log as well.
func (srv *Server) liveText(err error) (text string, known bool) {
	text, known = wire(err)
	if !known {
		srv.opts.Logger.Error("live query failed", "error", err)
	}
	return text, known
}

// liveOf is what a session has live. It belongs to whoever runs the session;
// others may look at what is there already.
func liveOf(s *Session) *live.Client {
	l := s.live.Load()
	if l == nil {
		l = s.srv.live.NewClient(s.inbox.wake, func() *acl.Rights { return s.user.Load().Bounds.Load() })
		s.live.Store(l)
	}
	return l
}

// liveSource is the store as package live needs it.
type liveSource struct{ store *firn.Store }

// Now implements live.Source.
func (l liveSource) Now() (firn.Timestamp, error) {
	now, err := l.store.Moment("now")
	if err == nil {
		err = l.settle(now)
	}
	return now, err
}

// Reach implements live.Source.
func (l liveSource) Reach(ts firn.Timestamp) (firn.Timestamp, error) {
	if ts > l.Newest() { // time alone has changed something
		if err := l.settle(ts); err != nil {
			return ts, err
		}
	}
	j := l.store.Journal()
	j.Await(ts)
	return max(ts, j.Matched()), nil
}

// Passed implements live.Source.
func (l liveSource) Passed() int64 { return l.store.Journal().Passed() }

// settle makes sure that a moment is over.
func (l liveSource) settle(ts firn.Timestamp) error {
	return l.store.At(ts, func(*firn.Snapshot) error { return nil })
}

// Newest implements live.Source.
func (l liveSource) Newest() firn.Timestamp { return l.store.Bounds().Newest }

// At implements live.Source.
func (l liveSource) At(ts firn.Timestamp, fn func(*firn.Snapshot) error) error {
	return l.store.At(ts, fn)
}

// Record implements live.Source.
func (l liveSource) Record(ts firn.Timestamp, fn func(*firn.Snapshot) error) (live.Reads, error) {
	reads, err := l.store.RecordAt(ts, fn)
	return liveReads{l.store, reads}, err
}

// liveReads are a store's, as package live needs them.
type liveReads struct {
	store *firn.Store
	reads *journal.Reads
}

// Watch implements live.Reads.
func (r liveReads) Watch(stale func(ts firn.Timestamp)) (stop func()) {
	return r.store.Watch(r.reads, stale)
}

// Token implements live.Source.
func (l liveSource) Token(ts firn.Timestamp) string { return l.store.Token(ts) }
