package journal

import (
	"context"

	"github.com/firndb/firn/schema"
)

// Watching is how a store's snapshots, of type S, are read so that it is known
// when what was read has changed. It is firn.Store's, which has its methods.
type Watching[S any] struct {
	matcher *Matcher
	workers *Workers
	view    View[S]
}

// View calls fn with a snapshot of a moment, or of the present if that is 0,
// which tells rec what is read of it. It returns the snapshot's timestamp, and
// fn's error.
type View[S any] func(at schema.Timestamp, rec *Recorder, fn func(S) error) (schema.Timestamp, error)

// NewWatching makes the Watching of a store.
func NewWatching[S any](m *Matcher, w *Workers, view View[S]) *Watching[S] {
	return &Watching[S]{m, w, view}
}

// Record is firn.Store.View that notes what fn's answer depends on: the
// documents and intervals that it reads, and the moments of firn.Reader.Until.
// What fn knows from elsewhere, the clock for one, is not noted. The reads are
// for Watch. fn's error is returned as it is, and then there are none.
func (w *Watching[S]) Record(fn func(S) error) (*Reads, error) { return w.RecordAt(0, fn) }

// RecordAt is Record for a moment, as firn.Store.At is for View; 0 is the
// present. Watch then tells of what was committed after that.
func (w *Watching[S]) RecordAt(ts schema.Timestamp, fn func(S) error) (*Reads, error) {
	w.matcher.begin()
	defer w.matcher.end()
	var rec Recorder
	at, err := w.view(ts, &rec, fn)
	if err != nil {
		return nil, err
	}
	return w.matcher.reads(&rec, at), nil
}

// Watch calls stale, once, when a commit after the reads' moment has changed
// something that was read, with its timestamp, or when time alone has, with the
// moment of that. It may be called for nothing, but never is missed; it may come
// before Watch returns, and while stop runs. It must not block, nor call Watch:
// the query is run again elsewhere. The store's Close makes everything stale,
// and who watches after that is not told any more.
func (w *Watching[S]) Watch(reads *Reads, stale func(ts schema.Timestamp)) (stop func()) {
	watch := w.matcher.watch(reads, stale)
	return func() { w.matcher.drop(watch) }
}

// Subscribe runs fn on a snapshot of the present, and again whenever a commit,
// or time, has changed something that it has read. It runs on a goroutine of
// the store's, for the first time at once; never twice at the same time; and
// once more, on the newest state, for all that comes while it runs. So fn sees
// the last state of everything, and not each state. It may take its time: no
// write waits for it, and other subscriptions not for long.
//
// It ends with fn's first error, which is the subscription's Err, with ctx, of
// which Err is then the cause, and with the store's Close, which waits for fn;
// then it is firn.ErrClosed. fn does not run any more when Done is closed.
// While nothing changes it has no goroutine, and takes some hundred bytes.
func (w *Watching[S]) Subscribe(ctx context.Context, fn func(S) error) *Subscription {
	return subscribe(ctx, w.matcher, w.workers, func() (*Reads, error) { return w.Record(fn) })
}
