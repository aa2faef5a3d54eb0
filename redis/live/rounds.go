package live

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/resp"
)

// stragglerPatience is how long a round may take before the next one begins
// without its slow queries. It is above what most queries take by far, and
// below what people notice.
const stragglerPatience = 20 * time.Millisecond

// round is the queries that are evaluated at one moment.
type round struct {
	ts       firn.Timestamp // never less than that of the round before
	left     []*query       // that no worker has taken yet
	running  int            // workers that evaluate a query, of any round
	drawing  bool           // a worker is about to draw the next one
	began    time.Time
	waiting  *time.Timer    // until the next one may begin although the last is not done; nil: none
	bookmark bool           // clients wait for a bookmark: the next one is drawn even if nothing is stale
	all      bool           // no client waits for it until its time has come: the horizon is about to move
	owed     firn.Timestamp // the moment up to which the bookmark has to reach
}

// Run evaluates what becomes stale until ctx ends, then returns nil. It may run
// several times at once.
func (h *Hub) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.some.Broadcast()
	})()
	var all sync.WaitGroup
	for range h.opts.Workers {
		all.Go(func() { h.work(ctx) })
	}
	h.bookmarks(ctx)
	all.Wait()
	return nil
}

// work evaluates one query after the other.
func (h *Hub) work(ctx context.Context) {
	e := newEvaluator(h)
	for {
		q, ts := h.next(ctx)
		if q == nil {
			return
		}
		h.tell(e.evaluate(q, ts))
		h.tell(h.done())
	}
}

// tell nudges clients for whom something is pending.
func (h *Hub) tell(clients []*Client) {
	for _, c := range clients {
		c.nudge()
	}
}

// next is a query to evaluate, and the moment; nil once ctx has ended.
func (h *Hub) next(ctx context.Context) (*query, firn.Timestamp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ctx.Err() == nil {
		r := &h.round
		switch {
		case len(r.left) > 0:
			q := r.left[0]
			r.left[0] = nil
			r.left = r.left[1:]
			r.running++
			return q, r.ts
		case r.drawing || len(h.queue) == 0 && (!r.bookmark || r.running > 0):
			h.some.Wait()
		case r.running > 0 && time.Since(r.began) < stragglerPatience:
			h.waitForRound()
		default:
			h.draw()
		}
	}
	return nil, 0
}

// waitForRound waits until the round is done or has taken too long. The caller
// holds the lock.
func (h *Hub) waitForRound() {
	if r := &h.round; r.waiting == nil {
		r.waiting = time.AfterFunc(stragglerPatience-time.Since(r.began), func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			r.waiting = nil
			h.some.Broadcast()
		})
	}
	h.some.Wait()
}

// draw begins a round with what is stale. The caller holds the lock, which is
// released while the store gets there.
func (h *Hub) draw() {
	r := &h.round
	want := max(r.ts, r.owed)
	for _, q := range h.queue {
		want = max(want, q.wake)
	}
	r.drawing = true
	h.mu.Unlock()
	want = max(want, h.source.Newest())
	ts, err := h.source.Reach(want)
	h.mu.Lock()
	r.drawing = false
	if err != nil {
		ts, r.bookmark = want, false // what is evaluated meets the error as well
	}
	r.ts, r.began = ts, time.Now()
	later := h.queue[:0]
	for _, q := range h.queue {
		switch {
		case q.state == gone:
		case q.wake <= ts:
			r.left = append(r.left, q)
		default:
			later = append(later, q)
		}
	}
	clear(h.queue[len(later):])
	h.queue = later
	if len(r.left) == 0 && r.running == 0 {
		marked := h.markLocked()
		h.mu.Unlock()
		h.tell(marked)
		h.mu.Lock()
		return
	}
	h.some.Broadcast()
}

// done ends a worker's part of a round, and returns the clients that have got a
// bookmark because the round is done.
func (h *Hub) done() []*Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &h.round
	r.running--
	if r.running > 0 || len(r.left) > 0 {
		return nil
	}
	h.some.Broadcast()
	return h.markLocked()
}

// evaluate answers a query at a moment again, and returns the clients that are
// to be nudged.
func (e *evaluator) evaluate(q *query, ts firn.Timestamp) (wakes []*Client) {
	h := e.hub
	h.mu.Lock()
	stops, wakes := h.regroupLocked(q, ts)
	present := q.state != gone
	if present {
		if stop := q.beginLocked(); stop != nil {
			stops = append(stops, stop)
		}
		h.stats.Evaluations++
	}
	h.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
	if !present {
		return wakes
	}
	var text []byte
	reads, err := h.source.Record(ts, func(snap *firn.Snapshot) error {
		asked, err := q.form.Parse(h.opts.Commands)
		if err == nil {
			text, err = e.run(&asked, q.rights, snap)
		}
		return err
	})
	switch {
	case errors.Is(err, firn.ErrClosed):
		return wakes // so will the clients be
	case err != nil:
		return append(wakes, h.fail(q, ts, err)...)
	}
	wakes = append(wakes, h.publish(q, ts, text)...)
	h.watchOver(q, reads)
	return wakes
}

// publish makes a new answer pending for all to whom it is new.
func (h *Hub) publish(q *query, ts firn.Timestamp, text []byte) (wakes []*Client) {
	reply := digestOf(text)
	h.mu.Lock()
	defer h.mu.Unlock()
	if reply == q.reply {
		h.stats.FalseWakes++
	}
	q.ts, q.reply = ts, reply
	var r *result // made for the first to whom it is new
	now := time.Now()
	for _, s := range q.subs {
		switch {
		case ts < s.seenTS: // it has subscribed meanwhile, and seen a later one
			continue
		case s.seen == reply:
			h.pendLocked(s, nil) // it may have changed, and changed back
			continue
		case r == nil:
			r = &result{ts: ts, reply: reply, tail: h.tail(ts, func(w *resp.Writer) { w.Buf = append(w.Buf, text...) })}
		}
		s.client.toldAt = now
		if s.offerLocked(r) {
			wakes = append(wakes, s.client)
		}
	}
	return wakes
}

// fail ends all subscriptions to a query.
func (h *Hub) fail(q *query, ts firn.Timestamp, err error) (wakes []*Client) {
	text, _ := h.opts.Text(err)
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.endOf(ts, text)
	for len(q.subs) > 0 {
		if s := q.subs[len(q.subs)-1]; h.endLocked(s, r, nil) {
			wakes = append(wakes, s.client)
		}
	}
	return wakes
}

// endOf is the push that ends subscriptions.
func (h *Hub) endOf(ts firn.Timestamp, text string) *result {
	return &result{ts: ts, ends: true, tail: h.tail(ts, func(w *resp.Writer) { w.Error(text) })}
}

// endLocked ends a subscription with a push that says why.
func (h *Hub) endLocked(s *subscription, r *result, stops *[]func()) (wakes bool) {
	if stop := h.removeLocked(s); stop != nil && stops != nil {
		*stops = append(*stops, stop)
	}
	return s.offerLocked(r)
}

// tail is the part of a push that is the same for all.
func (h *Hub) tail(ts firn.Timestamp, reply func(w *resp.Writer)) []byte {
	w := resp.Writer{Proto: 3}
	w.Int(int64(ts))
	w.BulkString(h.source.Token(ts))
	reply(&w)
	return slices.Clip(w.Buf)
}

// regroupLocked takes those subscriptions from a query whose clients have got
// other rights: they ask the same with these, or, if they may not, end.
func (h *Hub) regroupLocked(q *query, ts firn.Timestamp) (stops []func(), wakes []*Client) {
	for i := len(q.subs) - 1; i >= 0; i-- {
		s := q.subs[i]
		rights := s.client.rights()
		if rights == q.rights {
			continue
		}
		asked, _ := q.form.Parse(h.opts.Commands) // it was made with them
		if step, why, refused := asked.Refused(rights); refused {
			text, _ := h.opts.Text(h.opts.Refusal(step.Entry, why))
			if h.endLocked(s, h.endOf(ts, text), &stops) {
				wakes = append(wakes, s.client)
			}
			continue
		}
		stops = h.moveLocked(s, rights, ts, stops)
	}
	return stops, wakes
}

// moveLocked makes a subscription one to the same form with other rights,
// which is evaluated for it.
func (h *Hub) moveLocked(s *subscription, rights *acl.Rights, ts firn.Timestamp, stops []func()) []func() {
	form := s.query.form
	if stop := h.leaveLocked(s); stop != nil {
		stops = append(stops, stop)
	}
	fresh := h.joinLocked(s, question{form, rights})
	h.staleLocked(s.query, ts)
	if fresh != nil {
		h.restLocked(fresh)
	}
	return stops
}
