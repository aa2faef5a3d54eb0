package web

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/firndb/firn/redis"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/resp/reply"
)

// errEnded means that the session was ended by somebody else.
var errEnded = errors.New("web: the session was ended")

// conversation is a redis session that the goroutine of a request runs, as a
// driver does for a connection. Nobody else calls its methods.
type conversation struct {
	session *redis.Session
	server  *redis.Server
	alone   redis.Group
	decided chan struct{} // capacity 1, so that the writer never waits
	nudged  chan struct{} // capacity 1: there may be something to take
	hung    chan struct{} // closed when another client has killed this one

	out   []byte // what the session has said and nobody has taken
	ended bool
}

// converse opens a session between two addresses.
func converse(server *redis.Server, peer, local string) *conversation {
	c := &conversation{
		session: server.NewSession(peer, local), server: server,
		decided: make(chan struct{}, 1), nudged: make(chan struct{}, 1), hung: make(chan struct{}),
	}
	c.alone = redis.Group{Decided: func() { c.decided <- struct{}{} }}
	var once sync.Once
	c.session.Hang = func() { once.Do(func() { close(c.hung) }) }
	c.session.Nudge = func() {
		select {
		case c.nudged <- struct{}{}:
		default:
		}
	}
	return c
}

// close ends the session.
func (c *conversation) close() { c.session.Close() }

// ask sends a command and waits for its reply, which may be an error. Pushes
// are for a conversation that only listens.
func (c *conversation) ask(ctx context.Context, words ...string) (reply.Value, error) {
	c.send(words...)
	for {
		v, _, err := c.next(ctx, 0)
		if err != nil || !v.IsPush() {
			return v, err
		}
	}
}

// send gives the session a command. What it answers is for next to say.
func (c *conversation) send(words ...string) {
	args := make([][]byte, len(words))
	for i, w := range words {
		args[i] = []byte(w)
	}
	command := resp.AppendCommand(nil, args...)
	for len(command) > 0 {
		n := copy(c.session.Space(len(command)), command)
		c.session.Fill(n)
		command = command[n:]
	}
}

// next is the next thing that the session says, a reply or a push. It waits
// for it, for as long as patience if that is not 0: then ok is false.
func (c *conversation) next(ctx context.Context, patience time.Duration) (v reply.Value, ok bool, err error) {
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	for {
		if len(c.out) == 0 {
			c.run()
		}
		if len(c.out) > 0 {
			v, err = c.take()
			return v, err == nil, err
		}
		if c.ended {
			return v, false, errEnded
		}
		select {
		case <-c.nudged:
		case <-c.hung:
		case <-late:
			return v, false, nil
		case <-ctx.Done():
			return v, false, ctx.Err()
		}
	}
}

// take takes the first value of what was said. A session says whole values.
func (c *conversation) take() (v reply.Value, err error) {
	if len(c.out) > maxReplyBytes {
		return v, refuse(507, "ERR the reply is too large for HTTP: read it in parts, over RESP")
	}
	v, c.out, err = reply.Parse(c.out)
	return v, err
}

// run lets the session go on until it needs input.
func (c *conversation) run() {
	for !c.ended {
		switch c.session.Run() {
		case redis.NeedCommit:
			c.alone.Reset()
			c.alone.Add(c.session)
			if err := c.server.Store().Submit(&c.alone); err != nil {
				c.alone.Done(0, err)
			}
			<-c.decided
		case redis.NeedCold:
			c.session.RunCold()
		case redis.NeedFlush:
			c.drain()
		case redis.NeedInput:
			c.drain()
			return
		case redis.NeedClose:
			c.drain()
			c.ended = true
		}
	}
}

// drain takes what the session says.
func (c *conversation) drain() {
	said := c.session.Output()
	c.out = append(c.out, said...)
	c.session.Sent(len(said))
}
