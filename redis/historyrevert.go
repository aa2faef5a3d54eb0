package redis

import (
	"github.com/firndb/firn"
)

var historyRevertCommand = Command{
	Name: "REVERT", Args: "key TO when", Min: 3, Flags: Writes | OwnName, Keys: Keys{1, 1, 1}, Since: "0.1.0",
	Complexity: "O(N) where N is the number of elements then and now",
	Summary: "Makes a key what it was at a moment, with its elements, groups and expiries, and returns the moment's timestamp; a key that was not there then is deleted. " +
		"It is a write like any other: what is undone stays readable in the past. " +
		"Where the key, or a field of a hash, would have expired by now, it is restored without an expiry.",
	Run: historyRevert,
}

func historyRevert(c *Call) error {
	if !is(c.Args[1], "TO") {
		return errSyntax
	}
	ts, err := c.Client.Moment(c.Args[2])
	if err != nil {
		return err
	}
	if now, err := c.Client.Moment([]byte("now")); err == nil && ts <= now {
		ts = min(ts, c.Tx.Timestamp()) // the clock may have gone on since the transaction began
	}
	s, err := c.open(c.Args[0])
	if err != nil {
		return err
	}
	var next keyDoc
	there := false
	err = c.Tx.At(ts, func(snap *firn.Snapshot) error {
		past := c.at(snap)
		k, ok, err := past.look(c.Args[0])
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
		return c.clear(&s)
	}
	next.Created = s.key.Created
	if expired(next.Expires, c.now()) {
		next.Expires = 0
	}
	if err := c.write(&s, next); err != nil {
		return err
	}
	c.notify(eventGeneric, "revert", c.Args[0])
	return nil
}

// revived makes the elements that a key had in the past, and returns the key
// document for them.
func revived(c *Call, past *View, s *slot, k *keyDoc) (next keyDoc, err error) {
	next = *k
	switch {
	case k.Kind == kindString:
		return next, nil
	case k.Kind == kindHash && k.Value != nil:
		return revivedHash(c, past, k)
	case k.Kind != kindList && s.live && s.key.UID == k.UID:
		// The same collection: only what has changed is written. A list is
		// made anew, because its note knows how many holes it has.
		for _, table := range c.elementTables(k.Kind) {
			if err := c.Tx.Revert(table, appendUID(nil, k.UID), past.R.Moment()); err != nil {
				return next, err
			}
		}
		return next, nil
	}
	next.UID, err = copyElements(c.View, past.R, k)
	return next, err
}

// revivedHash makes a hash with lifetimes. The fields that had ended then are
// left out; those that would have ended since have no end any more.
func revivedHash(c *Call, past *View, k *keyDoc) (keyDoc, error) {
	var items [][]byte
	err := eachField(past, k, func(field, value []byte) error {
		items = append(items, own(field), value)
		return nil
	})
	if err != nil {
		return keyDoc{}, err
	}
	ends := make([]int64, len(items)/2)
	for i := range ends {
		if ends[i], err = fieldEnd(past, k.UID, items[2*i]); err != nil {
			return keyDoc{}, err
		}
		if ends[i] <= c.now() {
			ends[i] = 0
		}
	}
	next, err := newHash(c.View, items, ends)
	next.Encoding, next.Expires = k.Encoding, k.Expires
	return next, err
}
