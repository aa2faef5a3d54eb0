package redis

import (
	"bytes"
	"time"
)

// Commands that take items off one of several lists, or move one to another;
// and those that wait for a list to take from.

// parseSide reads LEFT or RIGHT.
func parseSide(arg []byte) (right bool, err error) {
	right = is(arg, "RIGHT")
	if !right && !is(arg, "LEFT") {
		return false, errSyntax
	}
	return right, nil
}

func parseSides(args [][]byte) (fromRight, toRight bool, err error) {
	if fromRight, err = parseSide(args[0]); err == nil {
		toRight, err = parseSide(args[1])
	}
	return fromRight, toRight, err
}

func lMove(c *Call) error {
	fromRight, toRight, err := parseSides(c.Args[2:])
	if err != nil {
		return err
	}
	return moveItem(c, fromRight, toRight, nil)
}

func blMove(c *Call) error {
	fromRight, toRight, err := parseSides(c.Args[2:])
	if err != nil {
		return err
	}
	timeout, err := parseTimeout(c.Args[4])
	if err != nil {
		return err
	}
	return moveItem(c, fromRight, toRight, &timeout)
}

func bRPopLPush(c *Call) error {
	timeout, err := parseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	return moveItem(c, true, false, &timeout)
}

// moveItem takes an item off the list at the call's first key and pushes it
// to the one at the second. If there is none it waits, with a timeout.
func moveItem(c *Call, fromRight, toRight bool, timeout *time.Duration) error {
	from, ok, err := openSource(c, c.Args[0], kindList)
	switch {
	case err != nil:
		return err
	case !ok && (timeout == nil || c.Client.InMulti()):
		c.Reply.Null()
		return nil
	case !ok:
		return c.wait(wait{keys: c.Args[:1], kind: kindList, timeout: *timeout, nothing: replyNullArray})
	}
	q, err := sequenceOf(&from.key)
	if err != nil {
		return err
	}
	if bytes.Equal(c.Args[0], c.Args[1]) {
		return rotate(c, &from, &q, fromRight, toRight)
	}
	to, err := c.openIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if to.live && to.key.Kind != kindList {
		return errWrongType
	}
	value, err := q.popItem(c.View, fromRight)
	if err != nil {
		return err
	}
	c.Reply.Bulk(value)
	if err := pushMoved(c, &to, value, toRight); err != nil {
		return err
	}
	c.notify(eventList, popEvent(fromRight), c.Args[0])
	return writeList(c.View, &from, &q)
}

// pushMoved pushes an item, whose value the store has already, to the list at
// the call's second key.
func pushMoved(c *Call, to *slot, value []byte, right bool) error {
	q, err := openList(c.View, to)
	if err != nil {
		return err
	}
	if err := q.reserve(c.View, 1, right); err != nil {
		return err
	}
	if err := q.push(c.View, value, right); err != nil {
		return err
	}
	err = writeList(c.View, to, &q)
	c.notify(eventList, pushEvent(right), c.Args[1])
	return err
}

// rotate moves an item of a list within it. It stays where it is if both ends
// are the same.
func rotate(c *Call, s *slot, q *sequence, fromRight, toRight bool) error {
	if fromRight == toRight || q.length == 1 {
		it, err := q.lookUp(c.View, q.end(fromRight))
		if err != nil {
			return err
		}
		c.Reply.Bulk(it.value)
	} else {
		if err := q.reserve(c.View, 1, toRight); err != nil {
			return err
		}
		value, err := q.popItem(c.View, fromRight)
		if err != nil {
			return err
		}
		c.Reply.Bulk(value)
		if err := q.push(c.View, value, toRight); err != nil {
			return err
		}
	}
	c.notify(eventList, pushEvent(toRight), c.Args[0])
	c.notify(eventList, popEvent(fromRight), c.Args[0])
	return writeList(c.View, s, q)
}

// listPopper is LMPOP, and what waits for an element of one of several lists.
var listPopper = popper{kindList, "LEFT", "RIGHT", replyTaken, replyPoppedOf}

// replyPoppedOf is replyPopped, and says of which key.
func replyPoppedOf(c *Call, s *slot, key []byte, right bool) error {
	c.Reply.Array(2)
	c.Reply.Bulk(key)
	return replyPopped(c, s, key, right)
}
