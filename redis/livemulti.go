package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/live"
	"github.com/firndb/firn/resp"
)

// liveMulti begins a transaction of reads, to be made live by its EXEC.
func liveMulti(c *command.Call, r live.Request, words [][]byte) error {
	s := sessionOf(c)
	if len(words) > 1 {
		return command.ErrArity(c)
	}
	if err := liveOf(s).MayAdd(r); err != nil {
		return err
	}
	s.multi.begin()
	s.multi.live = func(s *Session, u *unit) { execLive(s, u, r) }
	c.Reply.Simple("OK")
	return nil
}

// execLive answers the EXEC of reads that were queued to be live.
func execLive(s *Session, u *unit, r live.Request) {
	w := resp.Writer{Proto: s.proto, Buf: s.out.buf}
	form, err := queuedForm(s)
	s.multi.end()
	if r.Form = form; err == nil {
		err = replyLive(s, &w, r)
	}
	s.pending = false
	switch {
	case err != nil:
		s.out.buf = s.fail(s.out.buf, u, err)
	case !u.mute:
		s.out.buf = w.Buf
	}
	shown(s, u)
	s.srv.deliver(&s.outbox, &s.track, nil)
}

// queuedForm is the query that the queued commands are together.
func queuedForm(s *Session) (live.Form, error) {
	f := live.NewForm(s.db, true)
	if len(s.multi.queue) == 0 {
		return f, errLiveEmpty
	}
	for i := range s.multi.queue {
		q := &s.multi.queue[i]
		if err := permitQueued(s, q.cmd, q.args); err != nil {
			return f, err
		}
		f = f.With(q.cmd, q.args)
	}
	return f, nil
}
