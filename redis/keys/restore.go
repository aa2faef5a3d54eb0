package keys

import (
	"math"

	"github.com/firndb/firn/internal/rdb"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// restoreOptions are the options of RESTORE.
type restoreOptions struct {
	replace  bool
	absolute bool // the time to live is a moment
}

func parseRestoreOptions(args [][]byte) (o restoreOptions, err error) {
	idle, frequent := false, false
	for i := 0; i < len(args); i++ {
		last := i+1 == len(args)
		switch {
		case command.Is(args[i], "REPLACE"):
			o.replace = true
		case command.Is(args[i], "ABSTTL"):
			o.absolute = true
		case command.Is(args[i], "IDLETIME") && !last && !frequent:
			idle = true
			i++
			err = checkRange(args[i], math.MaxInt64, "ERR Invalid IDLETIME value, must be >= 0")
		case command.Is(args[i], "FREQ") && !last && !idle:
			frequent = true
			i++
			err = checkRange(args[i], math.MaxUint8, "ERR Invalid FREQ value, must be >= 0 and <= 255")
		default:
			err = command.ErrSyntax
		}
		if err != nil {
			return o, err
		}
	}
	return o, nil
}

// checkRange accepts an integer from 0 to most.
func checkRange(arg []byte, most int64, outside resp.Error) error {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return command.ErrNotInteger
	case n < 0 || n > most:
		return outside
	}
	return nil
}

func restore(c *command.Call) error {
	o, err := parseRestoreOptions(c.Args[3:])
	if err != nil {
		return err
	}
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	if s.Live && !o.replace {
		return resp.Error("BUSYKEY Target key name already exists.")
	}
	ttl, ok := resp.ParseInt(c.Args[1])
	switch {
	case !ok:
		return command.ErrNotInteger
	case ttl < 0:
		return resp.Error("ERR Invalid TTL value, must be >= 0")
	}
	payload, err := rdb.Open(c.Args[2])
	if err != nil {
		return resp.Error("ERR DUMP payload version or checksum are wrong")
	}
	v, err := rdb.Decode(payload)
	if err != nil {
		return resp.Error("ERR Bad data format")
	}
	expires := ttl
	if ttl != 0 && !o.absolute {
		expires += c.Now() // a sum past the last moment wraps, as in Redis: it has passed
	}
	c.Reply.Simple("OK")
	return replaceWith(c, &s, v, expires)
}

// replaceWith makes a slot's key what was restored, unless that has expired
// already: then there is none afterwards.
func replaceWith(c *command.Call, s *keyspace.Slot, v *rdb.Value, expires int64) (err error) {
	var next keyspace.KeyDoc
	ended := expires != 0 && expires <= c.Now()
	if !ended {
		if next, err = newValue(c, v); err != nil {
			return err
		}
		ended = next.Kind != keyspace.KindString && next.Length == 0 && next.Kind != keyspace.KindStream
	}
	if !ended {
		next.Created, next.Expires, next.Origin = s.Key.Created, expires, keyspace.DumpOrigin(c.Args[2])
		err = c.Write(s, next)
		c.Notify(keyspace.EventGeneric, "restore", c.Args[0])
		return err
	}
	return c.Clear(s)
}

// newValue stores the elements of a value in a collection of its own, and
// returns the key document that it needs.
func newValue(c *command.Call, v *rdb.Value) (keyspace.KeyDoc, error) {
	switch v.Kind {
	case rdb.List:
		return keyspace.NewList(c.View, v.Items)
	case rdb.Set:
		return keyspace.NewSet(c.View, v.Items)
	case rdb.ZSet:
		return keyspace.NewZSet(c.View, v.Items, v.Scores)
	case rdb.Hash:
		return keyspace.NewHash(c.View, v.Items, v.Ends)
	case rdb.Stream:
		return newLog(c, v.Stream)
	}
	return keyspace.KeyDoc{Kind: keyspace.KindString, Length: int64(len(v.String)), Value: v.String}, nil
}
