package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/firndb/firn/index"
	"github.com/firndb/firn/reader"
	"github.com/firndb/firn/schema"
)

// ErrFilter means that a filter asks for what there cannot be. Callers test it
// with errors.Is.
var ErrFilter = errors.New("journal: invalid filter")

// Options are what a journal needs of its store. All are required.
type Options struct {
	Incarnation string
	RingBytes   int64 // of the newest commits in memory; 0: none
	Logger      *slog.Logger
	Created     schema.Timestamp          // there is nothing before
	Names       map[schema.TableID]string // of every table that the file knows
	Closed      error                     // of a store that is closed

	Newest  func() schema.Timestamp               // of the commits that views see
	Oldest  func() schema.Timestamp               // the horizon
	Now     func() schema.Timestamp               // the moment that is now
	Present func(v *reader.View)                  // makes v the view of the present
	User    func(row *schema.Row) (string, error) // who wrote a version

	// Table is how a table is indexed; nil if that is not known.
	Table func(id schema.TableID) *index.Table

	// Moment is what a text names, maybe in the future. Settle makes sure that a
	// moment is over, or refuses it.
	Moment func(text string) (schema.Timestamp, error)
	Settle func(ts schema.Timestamp) error

	// Admit refuses a moment behind which anything may be missing: of what begins
	// with the prefixes in a table, or, if that is 0, of everything.
	Admit func(after schema.Timestamp, table schema.TableID, prefixes [][]byte) error

	// Whole refuses a moment behind which another process has forgotten
	// anything, if the store is open for reading only.
	Whole func(after schema.Timestamp) error
}

// Journal is what is told of a store's commits. It is safe for concurrent use.
//
// It has one goroutine, Run, which calls those who wait; Close is called before
// the store's file is closed, and waits for pages that are being read.
type Journal struct {
	opts    Options
	ids     map[string]schema.TableID
	names   map[schema.TableID]string
	mint    *mint
	ring    *Ring
	matcher *Matcher      // set by NewMatcher
	ended   chan struct{} // closed by Close

	reading sync.RWMutex // held shared while a page is read
	closed  bool         // guarded by reading

	followers followers
}

// New makes the journal of a store.
func New(o Options) *Journal {
	j := &Journal{opts: o, ids: map[string]schema.TableID{}, names: o.Names, mint: newMint(o.Incarnation), ended: make(chan struct{})}
	for id, name := range o.Names {
		j.ids[name] = id
	}
	j.ring = newRing(o.RingBytes, o.Newest)
	return j
}

// Run calls those who wait, until ctx ends.
func (j *Journal) Run(ctx context.Context) error {
	j.ring.run(ctx)
	return nil
}

// Close ends all followers.
func (j *Journal) Close() {
	j.reading.Lock()
	defer j.reading.Unlock()
	if !j.closed {
		j.closed = true
		close(j.ended)
	}
}

// Ring is the newest commits.
func (j *Journal) Ring() *Ring { return j.ring }

// Token names a moment of the store.
func (j *Journal) Token(ts schema.Timestamp) string { return j.mint.token(ts) }

// Notify is Ring.Notify.
func (j *Journal) Notify(after schema.Timestamp, fn func()) (stop func()) {
	return j.ring.Notify(after, fn)
}

// From is the moment that a text names, from which on somebody wants to follow:
// "" and "$" the newest commit, a token, or what firn.Store.Moment reads. It is
// over. A token of another line of history is ErrForked, a moment that has not
// come a *firn.FutureError; whether all behind it is there is for Page to say.
func (j *Journal) From(text string) (schema.Timestamp, error) {
	if text == "" || text == "$" {
		return j.opts.Newest(), nil
	}
	ts, err := j.opts.Moment(text)
	if err != nil {
		return 0, err
	}
	return ts, j.opts.Settle(ts)
}

// Page is some of what was committed behind a moment, in order.
type Page struct {
	Commits []Commit
	TS      schema.Timestamp // where to go on: everything up to it is in the page, or not admitted
	Token   string           // names TS
	More    bool             // there was something behind it; else it is the newest commit, or the moment that was asked for
}

// Page reads what was committed behind a moment, which is over (see From), as
// much as the filter's bounds allow, from memory or the file. It never waits
// for a commit. Where anything of it is missing that the filter admits it is a
// *firn.CompactedError.
func (j *Journal) Page(after schema.Timestamp, f *Filter) (Page, error) {
	s, err := j.sieve(f)
	if err != nil {
		return Page{}, err
	}
	return j.page(after, s)
}

func (j *Journal) page(after schema.Timestamp, s *sieve) (p Page, err error) {
	j.reading.RLock()
	defer j.reading.RUnlock()
	if j.closed {
		return Page{}, j.opts.Closed
	}
	b := builder{sieve: s, at: after, commits: commits{mint: j.mint}}
	groups, ok := j.ring.Groups(b.room[:0], after, s.MaxRows)
	if ok {
		err = b.fromRing(groups)
		b.more = b.more || j.ring.beyond(b.at)
	} else {
		err = b.fromLog()
	}
	if err != nil {
		return Page{}, fmt.Errorf("follow from %d: %w", after, err)
	}
	return Page{Commits: b.commits.list, TS: b.at, Token: j.Token(b.at), More: b.more}, nil
}

// Present is a moment that is over, and not before after: whoever reads a Page of
// what is behind after from now on has everything up to it. ok is false while
// the ring lacks a commit that views see already: it will have it in no time.
func (j *Journal) Present(after schema.Timestamp) (ts schema.Timestamp, ok bool, err error) {
	ts = max(j.opts.Now(), after)
	if ts > after {
		err = j.opts.Settle(ts)
	}
	return ts, err == nil && !j.ring.lags(after), err // looked at when all commits up to ts are visible
}

// ago is how long before another a moment is.
func ago(ts, now schema.Timestamp) time.Duration {
	return time.Duration(max(now-ts, 0)) * time.Microsecond
}
