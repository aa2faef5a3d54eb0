package live

import (
	"errors"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/resp"
)

// Request is what a client asks for with LIVE.
type Request struct {
	ID     string
	Form   Form
	Resume bool           // the client knows the reply at Since
	Since  firn.Timestamp // for Resume
}

// Subscribe answers a query and makes it live. same says that the client asked
// to resume, and that the reply is what it was then. An error is the answer;
// nothing is live then.
func (c *Client) Subscribe(r Request) (reply []byte, same bool, err error) {
	h := c.hub
	if err := c.MayAdd(r); err != nil {
		return nil, false, err
	}
	rights := c.rights()
	q, err := r.Form.Parse(h.opts.Commands)
	if err != nil {
		return nil, false, err
	}
	if step, why, refused := q.Refused(rights); refused {
		return nil, false, h.opts.Refusal(step.Entry, why)
	}
	e := h.spare.Get().(*evaluator)
	defer h.spare.Put(e)
	var before digest
	if r.Resume {
		if before, err = e.past(&q, rights, r.Since); err != nil {
			return nil, false, err
		}
	}
	first := answer{question: question{r.Form, rights}}
	if err := e.present(&q, &first); err != nil {
		return nil, false, err
	}
	if err := c.add(r.ID, &first); err != nil {
		return nil, false, err
	}
	return first.text, r.Resume && before == first.reply, nil
}

// MayAdd says whether the client may have another subscription, as far as can
// be said before the query is evaluated.
func (c *Client) MayAdd(r Request) error {
	if int64(len(r.ID)+len(r.Form)) > c.hub.Limits.ArgumentBytes.Load() {
		return errArguments
	}
	c.hub.mu.Lock()
	defer c.hub.mu.Unlock()
	return c.fitsLocked(r.ID)
}

// fitsLocked says whether one more subscription fits, with this id. What has
// ended counts until the client has taken the push that says so.
func (c *Client) fitsLocked(id string) error {
	if _, taken := c.find(id); taken {
		return errTaken
	}
	switch l := &c.hub.Limits; {
	case int64(len(c.subs)+c.ended) >= l.ClientSubscriptions.Load():
		return errClientMax
	case int64(c.hub.subs) >= l.Subscriptions.Load():
		return errAllMax
	}
	return nil
}

const errTaken = resp.Error("ERR the id is in use: UNLIVE ends its subscription")

// answer is the answer to a question at a moment, before it is anybody's.
type answer struct {
	question
	ts    firn.Timestamp
	text  []byte
	reply digest
	reads Reads // nil: the query was there already
}

// past is the reply at a moment of the past. A command that failed then had no
// reply that a client could have kept.
func (e *evaluator) past(q *Query, rights *acl.Rights, ts firn.Timestamp) (d digest, err error) {
	err = e.hub.source.At(ts, func(snap *firn.Snapshot) error {
		text, err := e.run(q, rights, snap)
		if _, failed := errors.AsType[resp.Error](err); failed {
			return nil
		}
		d = digestOf(text)
		return err
	})
	return d, err
}

// present answers a question now, and notes what the answer depends on if
// nobody has asked the question before.
func (e *evaluator) present(q *Query, a *answer) (err error) {
	h := e.hub
	if a.ts, err = h.source.Now(); err != nil {
		return err
	}
	look := func(snap *firn.Snapshot) (err error) {
		a.text, err = e.run(q, a.rights, snap)
		return err
	}
	h.mu.Lock()
	known := h.queries[a.question] != nil
	h.mu.Unlock()
	if known {
		err = h.source.At(a.ts, look)
	} else {
		a.reads, err = h.source.Record(a.ts, look)
	}
	a.reply = digestOf(a.text)
	return err
}

// add makes the client a subscriber to a question that was answered.
func (c *Client) add(id string, a *answer) error {
	h := c.hub
	s := &subscription{client: c, id: id, seen: a.reply, seenTS: a.ts}
	h.mu.Lock()
	if err := c.fitsLocked(id); err != nil {
		h.mu.Unlock()
		return err
	}
	c.dropEndLocked(id)
	c.insertLocked(s)
	fresh := h.joinLocked(s, a.question)
	q := s.query
	switch {
	case fresh != nil:
		q.ts, q.reply = a.ts, a.reply
	case q.ts > a.ts && q.reply != a.reply:
		h.staleLocked(q, q.ts) // others were told of a change that this client has not seen
	}
	if c.rights() != a.rights {
		h.staleLocked(q, a.ts)
	}
	if fresh != nil && a.reads == nil { // who had asked has gone meanwhile
		h.staleLocked(q, a.ts)
		h.restLocked(q)
	}
	h.mu.Unlock()
	if fresh != nil && a.reads != nil {
		h.watchOver(q, a.reads)
	}
	return nil
}

// insertLocked puts a subscription among the client's.
func (c *Client) insertLocked(s *subscription) {
	at, _ := c.find(s.id)
	c.subs = append(c.subs, nil)
	copy(c.subs[at+1:], c.subs[at:])
	c.subs[at] = s
	c.hub.subs++
	c.hub.kept += subscriptionBytes + int64(len(s.id))
	if c.count.Add(1) == 1 {
		c.hub.clients[c] = struct{}{}
	}
	c.hearLocked(s.seenTS)
}
