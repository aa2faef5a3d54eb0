package command

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
)

// Present calls fn with the call's database at present.
func (c *Call) Present(fn func(v *keyspace.View) error) error {
	return c.Store.View(func(snap *firn.Snapshot) error { return fn(c.At(snap)) })
}
