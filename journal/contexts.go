package journal

import (
	"context"
	"sync"
)

// contexts ends subscriptions with their contexts. Those of one context share
// what waits for it, which takes more than a subscription does.
type contexts struct {
	mu    sync.Mutex
	bound map[<-chan struct{}]*bound // by what is closed when the context ends
}

// bound is the subscriptions that a context ends.
type bound struct {
	stop func() bool // the waiting
	all  map[*Subscription]struct{}
}

func (c *contexts) bind(ctx context.Context, s *Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bound[ctx.Done()]
	if b == nil {
		if c.bound == nil {
			c.bound = map[<-chan struct{}]*bound{}
		}
		b = &bound{all: map[*Subscription]struct{}{}}
		b.stop = context.AfterFunc(ctx, func() { c.end(ctx, b) })
		c.bound[ctx.Done()] = b
	}
	b.all[s] = struct{}{}
}

// unbind is called with the subscription's lock held.
func (c *contexts) unbind(ctx context.Context, s *Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bound[ctx.Done()]
	if b == nil {
		return
	}
	if delete(b.all, s); len(b.all) == 0 {
		b.stop()
		delete(c.bound, ctx.Done())
	}
}

// end ends what a context has bound when it ended.
func (c *contexts) end(ctx context.Context, b *bound) {
	c.mu.Lock()
	if c.bound[ctx.Done()] == b {
		delete(c.bound, ctx.Done())
	}
	all := b.all
	b.all = nil
	c.mu.Unlock()
	for s := range all {
		s.end(context.Cause(ctx))
	}
}
