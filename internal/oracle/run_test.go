package oracle

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firndb/firn/internal/seed"
	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
)

// run is one server with its writers, followers and compactor.
type run struct {
	t      testing.TB
	seed   seed.Value
	server *victim
	truth  *truth
	began  time.Time

	// dialClient connects a client that is judged. A test of the oracle itself
	// puts something between that breaks a promise.
	dialClient func(ctx context.Context) (net.Conn, error)

	ctx    context.Context // of everything
	stop   context.CancelFunc
	enough chan struct{} // closed when the writers have to stop
	quiet  chan struct{} // closed when they have
	last   atomic.Int64  // the newest commit, once quiet is closed
	count  counts

	mu       sync.Mutex
	script   []string // what was done, the newest lines
	failures []failure
}

// failure is a promise that was not kept.
type failure struct{ client, text string }

// counts are what a run has done: too little of anything proves nothing.
type counts struct {
	writes, passes, forgotten, kills atomic.Int64
	resumes, resets, compacted       atomic.Int64 // of clients; compacted: checks that could not be made
	checks, wholeChecks              atomic.Int64 // states that were held against the past
	commits, pushes, unchanged       atomic.Int64
	drops, kept                      atomic.Int64 // of copies in caches: invalidations, and copies that were good still after a resume
	events                           atomic.Int64 // over HTTP
}

func newRun(t testing.TB, v seed.Value, server *victim) *run {
	r := &run{t: t, seed: v, server: server, began: time.Now(), enough: make(chan struct{}), quiet: make(chan struct{})}
	r.ctx, r.stop = context.WithCancel(t.Context())
	r.dialClient = server.dial
	r.truth = &truth{run: r}
	return r
}

// scriptLines is how much of the script is kept: some seconds of it.
const scriptLines = 1500

// did adds to the script.
func (r *run) did(format string, args ...any) {
	line := fmt.Sprintf("%8.3f ", time.Since(r.began).Seconds()) + fmt.Sprintf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.script = append(r.script, line); len(r.script) >= 2*scriptLines {
		r.script = append(r.script[:0], r.script[scriptLines:]...)
	}
}

// fail notes a promise that was not kept, and ends the run soon: what comes
// after only hides it.
func (r *run) fail(client, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.did("%s FAILS: %.200s", client, text)
	r.mu.Lock()
	r.failures = append(r.failures, failure{client, text})
	r.mu.Unlock()
	r.stop()
}

// failed are the failures so far.
func (r *run) failed() []failure {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures
}

// tell prints what went wrong, and what was done before.
func (r *run) tell() {
	r.t.Helper()
	failures := r.failed()
	if len(failures) == 0 {
		return
	}
	for _, f := range failures[:min(len(failures), 5)] {
		r.t.Errorf("%s: %.4000s", f.client, f.text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Logf("the last of what was done, of seed %d:\n%s", r.seed, strings.Join(r.script[max(0, len(r.script)-400):], "\n"))
	r.t.Logf("the server's log:\n%.4000s", r.server.said())
}

// over says whether nobody writes any more.
func (r *run) over() bool { return closed(r.quiet) || r.ctx.Err() != nil }

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// rest waits, but not longer than the run.
func (r *run) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-r.ctx.Done():
	case <-timer.C:
	}
}

// connect connects a client that speaks a protocol.
func (r *run) connect(proto int, dial func(context.Context) (net.Conn, error)) (*wire, error) {
	conn, err := dial(r.ctx)
	if err != nil {
		return nil, err
	}
	w := newWire(conn)
	if _, err := w.ask("HELLO", fmt.Sprint(proto)); err != nil {
		conn.Close()
		return nil, err
	}
	return w, nil
}

// asker is a connection to ask what is true, beside the client's own.
func (r *run) asker() (*wire, error) { return r.connect(3, r.server.dial) }

// errCut ends a session that the client itself wants to end.
var errCut = errors.New("cut off")

// client is one that follows: session is one connection's life, and returns
// when it breaks or is cut off; done says that it has seen all that there was.
type client interface {
	session(rng *rand.Rand) error
	done() bool
}

// newest is the newest commit's timestamp.
func (r *run) newest() (schema.Timestamp, error) {
	w, err := r.asker()
	if err != nil {
		return 0, err
	}
	defer w.Close()
	v, err := w.ask("HORIZON")
	if err != nil {
		return 0, err
	}
	return schema.Timestamp(fieldsOf(&v)["newest"].Int()), nil
}

// follow has a client come back until it has seen everything.
func (r *run) follow(name string, stream uint64, c client) {
	rng := r.seed.Rand(stream)
	for r.ctx.Err() == nil && !c.done() {
		err := c.session(rng)
		switch {
		case err == nil || errors.Is(err, errCut):
			r.did("%s cuts off", name)
		default:
			r.did("%s was cut off: %.100v", name, err)
		}
		if !r.over() {
			r.rest(away(rng))
		}
	}
}

// away is how long a client is away: mostly not for long, sometimes for longer
// than history is kept.
func away(rng *rand.Rand) time.Duration {
	if rng.IntN(12) == 0 {
		return retention + retention/2
	}
	return time.Duration(rng.Int64N(int64(300 * time.Millisecond)))
}

// moment is what a token names.
func moment(token string) (schema.Timestamp, error) {
	t, err := journal.ParseToken(token)
	return t.TS, err
}
