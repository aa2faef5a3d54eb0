package live

import (
	"bytes"
	"crypto/sha256"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/acl"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// digest tells replies apart: the first half of their SHA-256. Two replies
// that differ have one digest by a chance of 2⁻¹²⁸.
type digest [16]byte

func digestOf(reply []byte) (d digest) {
	sum := sha256.Sum256(reply)
	copy(d[:], sum[:])
	return d
}

// evaluator runs queries, one after the other: its memory is used again. It is
// who they run for, as far as commands need to know.
type evaluator struct {
	hub    *Hub
	call   command.Call
	rights *acl.Rights
}

func newEvaluator(h *Hub) *evaluator {
	e := &evaluator{hub: h}
	e.call.Client, e.call.View = e, keyspace.NewView(h.opts.Catalog, nil)
	return e
}

// run evaluates a query on a snapshot. The reply is in protocol 3 and the
// caller's. In a transaction a command that fails is an element of the reply,
// and otherwise its error is returned. Errors of the store always are.
func (e *evaluator) run(q *Query, rights *acl.Rights, snap *firn.Snapshot) ([]byte, error) {
	e.rights = rights
	out := resp.Writer{Proto: 3}
	if q.Transaction {
		out.Array(len(q.Steps))
	}
	for i := range q.Steps {
		start := len(out.Buf)
		err := e.step(&q.Steps[i], q.DB, snap, &out)
		if int64(len(out.Buf)) > e.hub.Limits.ReplyBytes.Load() {
			return nil, ErrReplySize
		}
		if err == nil {
			continue
		}
		out.Buf = out.Buf[:start]
		text, known := e.hub.opts.Text(err)
		if !q.Transaction || !known {
			return nil, err
		}
		out.Error(text)
	}
	return out.Buf, nil
}

func (e *evaluator) step(s *Step, db int, snap *firn.Snapshot, out *resp.Writer) error {
	c := &e.call
	c.Begin()
	c.Cmd, c.Operation, c.Args, c.DB, c.R, c.Tx, c.Wants = s.Entry, s.Entry.Operation, s.Args, db, snap, nil, nil
	c.Aspect, c.Waited, c.Patience = s.Entry.Live.On, false, command.RepliesAtOnce
	c.Reply = *out
	start := len(c.Reply.Buf)
	err := s.Entry.Run(c)
	*out = c.Reply
	if err == nil && len(out.Buf) > start && out.Buf[start] == '-' {
		err = errorOf(out.Buf[start:]) // a script has returned it
	}
	c.Args, c.R, c.Reply.Buf = nil, nil, nil
	return err
}

// errorOf is a reply that is an error, as one.
func errorOf(reply []byte) error {
	return resp.Error(bytes.TrimSuffix(reply[1:], []byte("\r\n")))
}

// InMulti implements command.Client.
func (e *evaluator) InMulti() bool { return false }

// MayBlock implements command.Client.
func (e *evaluator) MayBlock() bool { return true }

// ReadsAnyKey implements command.Client.
func (e *evaluator) ReadsAnyKey(c *command.Call) bool {
	return e.rights == nil || e.rights.AllowsAnyKey(c.Cmd, c.Args)
}

// ReadsKey implements command.Client.
func (e *evaluator) ReadsKey(c *command.Call, key []byte) bool {
	return e.rights == nil || e.rights.AllowsKey(c.Cmd, c.Args, key, command.AccessRead)
}

// Moment implements command.Client.
func (e *evaluator) Moment(text []byte) (firn.Timestamp, error) {
	return e.hub.opts.Catalog.Store.Moment(string(text))
}

// AsOf implements command.Client.
func (e *evaluator) AsOf() firn.Timestamp { return 0 }

// Now implements command.Client.
func (e *evaluator) Now() time.Time { return e.hub.opts.Now() }
