package command

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// Present calls fn with the call's database at present.
func (c *Call) Present(fn func(v *keyspace.View) error) error {
	return c.Store.View(func(snap *firn.Snapshot) error { return fn(c.At(snap)) })
}

// Current calls fn with the call's database as the client sees it now: at the
// moment of CLIENT ASOF, or else at present.
func (c *Call) Current(fn func(v *keyspace.View) error) error {
	if asof := c.Client.AsOf(); asof != 0 {
		return c.Store.At(asof, func(snap *firn.Snapshot) error { return fn(c.At(snap)) })
	}
	return c.Present(fn)
}
