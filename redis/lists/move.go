package lists

import (
	"bytes"
	"time"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
)

// Commands that take items off one of several lists, or move one to another;
// and those that wait for a list to take from.

// parseSide reads LEFT or RIGHT.
func parseSide(arg []byte) (right bool, err error) {
	right = command.Is(arg, "RIGHT")
	if !right && !command.Is(arg, "LEFT") {
		return false, command.ErrSyntax
	}
	return right, nil
}

func parseSides(args [][]byte) (fromRight, toRight bool, err error) {
	if fromRight, err = parseSide(args[0]); err == nil {
		toRight, err = parseSide(args[1])
	}
	return fromRight, toRight, err
}

func lMove(c *command.Call) error {
	fromRight, toRight, err := parseSides(c.Args[2:])
	if err != nil {
		return err
	}
	return moveItem(c, fromRight, toRight, nil)
}

func blMove(c *command.Call) error {
	fromRight, toRight, err := parseSides(c.Args[2:])
	if err != nil {
		return err
	}
	timeout, err := command.ParseTimeout(c.Args[4])
	if err != nil {
		return err
	}
	return moveItem(c, fromRight, toRight, &timeout)
}

func bRPopLPush(c *command.Call) error {
	timeout, err := command.ParseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	return moveItem(c, true, false, &timeout)
}

// moveItem takes an item off the list at the call's first key and pushes it
// to the one at the second. If there is none it waits, with a timeout.
func moveItem(c *command.Call, fromRight, toRight bool, timeout *time.Duration) error {
	from, ok, err := command.OpenSource(c, c.Args[0], keyspace.KindList)
	switch {
	case err != nil:
		return err
	case !ok && (timeout == nil || c.Client.InMulti()):
		c.Reply.Null()
		return nil
	case !ok:
		return c.Wait(command.Wait{Keys: c.Args[:1], Kind: keyspace.KindList, Timeout: *timeout, Nothing: command.ReplyNullArray})
	}
	q, err := keyspace.SequenceOf(&from.Key)
	if err != nil {
		return err
	}
	if bytes.Equal(c.Args[0], c.Args[1]) {
		return rotate(c, &from, &q, fromRight, toRight)
	}
	to, err := c.OpenIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if to.Live && to.Key.Kind != keyspace.KindList {
		return keyspace.ErrWrongType
	}
	value, err := q.PopItem(c.View, fromRight)
	if err != nil {
		return err
	}
	c.Reply.Bulk(value)
	if err := pushMoved(c, &to, value, toRight); err != nil {
		return err
	}
	c.Notify(keyspace.EventList, popEvent(fromRight), c.Args[0])
	return keyspace.WriteList(c.View, &from, &q)
}

// pushMoved pushes an item that was popped elsewhere to the list at
// the call's second key.
func pushMoved(c *command.Call, to *keyspace.Slot, value []byte, right bool) error {
	q, err := keyspace.OpenList(c.View, to)
	if err != nil {
		return err
	}
	if err := q.Reserve(c.View, 1, right); err != nil {
		return err
	}
	if err := q.Push(c.View, keyspace.Lasting(c.View, value), right); err != nil {
		return err
	}
	err = keyspace.WriteList(c.View, to, &q)
	c.Notify(keyspace.EventList, pushEvent(right), c.Args[1])
	return err
}

// rotate moves an item of a list within it. It stays where it is if both ends
// are the same.
func rotate(c *command.Call, s *keyspace.Slot, q *keyspace.Sequence, fromRight, toRight bool) error {
	if fromRight == toRight || q.Length == 1 {
		it, err := q.LookUp(c.View, q.End(fromRight))
		if err != nil {
			return err
		}
		c.Reply.Bulk(it.Value)
	} else {
		if err := q.Reserve(c.View, 1, toRight); err != nil {
			return err
		}
		value, err := q.PopItem(c.View, fromRight)
		if err != nil {
			return err
		}
		c.Reply.Bulk(value)
		if err := q.Push(c.View, keyspace.Lasting(c.View, value), toRight); err != nil {
			return err
		}
	}
	c.Notify(keyspace.EventList, pushEvent(toRight), c.Args[0])
	c.Notify(keyspace.EventList, popEvent(fromRight), c.Args[0])
	return keyspace.WriteList(c.View, s, q)
}

// listPopper is LMPOP, and what waits for an element of one of several lists.
var listPopper = command.Popper{Kind: keyspace.KindList, Near: "LEFT", Far: "RIGHT", Take: replyTaken, TakeOne: replyPoppedOf}

// replyPoppedOf is replyPopped, and says of which key.
func replyPoppedOf(c *command.Call, s *keyspace.Slot, key []byte, right bool) error {
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	return replyPopped(c, s, key, right)
}
