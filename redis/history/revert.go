package history

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

var historyRevertCommand = command.Command{
	Name: "REVERT", Args: "key TO when", Min: 3, Flags: command.Writes | command.OwnName, Keys: command.FirstKey(command.Changes),
	Since: "0.1.0", Complexity: "O(n), n the elements then and now",
	Summary: "Makes a key what it was at a moment, with its elements, groups and expiries, and returns the moment's timestamp; a key that was not there then is deleted. " +
		"It is a write like any other: what is undone stays readable in the past. " +
		"Where the key, or a field of a hash, would have expired by now, it is restored without an expiry.",
	Run: historyRevert,
}

func historyRevert(c *command.Call) error {
	if !command.Is(c.Args[1], "TO") {
		return command.ErrSyntax
	}
	ts, err := c.Client.Moment(c.Args[2])
	if err != nil {
		return err
	}
	if now, err := c.Client.Moment([]byte("now")); err == nil && ts <= now {
		ts = min(ts, c.Tx.Timestamp()) // the clock may have gone on since the transaction began
	}
	s, err := c.Open(c.Args[0])
	if err != nil {
		return err
	}
	var next keyspace.KeyDoc
	there := false
	err = c.Tx.At(ts, func(snap *firn.Snapshot) error {
		past := c.At(snap)
		k, ok, err := past.Look(c.Args[0])
		if err != nil || !ok {
			return err
		}
		there = true
		next, err = revived(c, past, &s, &k)
		return err
	})
	if err != nil {
		return err
	}
	c.Reply.Int(int64(ts))
	if !there {
		return c.Clear(&s)
	}
	next.Created, next.Origin = s.Key.Created, nil
	if keyspace.Expired(next.Expires, c.Now()) {
		next.Expires = 0
	}
	if err := c.Write(&s, next); err != nil {
		return err
	}
	c.Notify(keyspace.EventGeneric, "revert", c.Args[0])
	return nil
}

// revived makes the elements that a key had in the past, and returns the key
// document for them.
func revived(c *command.Call, past *keyspace.View, s *keyspace.Slot, k *keyspace.KeyDoc) (next keyspace.KeyDoc, err error) {
	next = *k
	switch {
	case k.Kind == keyspace.KindString:
		return next, nil
	case k.Kind == keyspace.KindHash && k.Value != nil:
		return revivedHash(c, past, k)
	case k.Kind != keyspace.KindList && s.Live && s.Key.UID == k.UID:
		// The same collection: only what has changed is written. A list is
		// made anew, because its note knows how many holes it has.
		for _, table := range c.ElementTables(k.Kind) {
			if err := c.Tx.Revert(table, keyspace.AppendUID(nil, k.UID), past.R.Moment()); err != nil {
				return next, err
			}
		}
		return next, nil
	}
	next.UID, err = keyspace.CopyElements(c.View, past.R, k)
	return next, err
}

// revivedHash makes a hash with lifetimes. The fields that had ended then are
// left out; those that would have ended since have no end any more.
func revivedHash(c *command.Call, past *keyspace.View, k *keyspace.KeyDoc) (keyspace.KeyDoc, error) {
	var items [][]byte
	err := keyspace.EachField(past, k, func(field, value []byte) error {
		items = append(items, keyspace.Own(field), keyspace.Own(value))
		return nil
	})
	if err != nil {
		return keyspace.KeyDoc{}, err
	}
	ends := make([]int64, len(items)/2)
	for i := range ends {
		if ends[i], err = keyspace.FieldEnd(past, k.UID, items[2*i]); err != nil {
			return keyspace.KeyDoc{}, err
		}
		if ends[i] <= c.Now() {
			ends[i] = 0
		}
	}
	next, err := keyspace.NewHash(c.View, items, ends)
	next.Encoding, next.Expires = k.Encoding, k.Expires
	return next, err
}
