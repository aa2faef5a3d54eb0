package redis

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/firndb/firn/resp"
)

// The commands that the tests of waiting use are as small as can be, so that
// they test nothing else. A list is the lines in its key document.
//
//	QPUSH key item ...            adds items at the end; their number
//	QPOP key ... seconds          takes the first item of the first key that
//	                              has one: [key, item]
//	QMOVE from to seconds         takes the first item of one key, and adds it
//	                              to another
//	QREAD key n seconds           a stream's items from the n-th on
//	QADD key item                 adds an item to a stream
//	QFAIL key item                adds an item, and fails
var queueCommands = []Command{
	{Name: "QPUSH", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, 1, 1}, Run: func(c *Call) error { return queuePush(c, kindList) }},
	{Name: "QFAIL", Min: 2, Flags: Writes, Keys: Keys{1, 1, 1}, Run: func(c *Call) error { return errors.Join(queuePush(c, kindList), errSyntax) }},
	{Name: "QADD", Min: 2, Max: -1, Flags: Writes, Keys: Keys{1, 1, 1}, Run: func(c *Call) error { return queuePush(c, kindStream) }},
	{Name: "QPOP", Min: 2, Max: -1, Flags: Writes | Blocks, Keys: Keys{1, -2, 1}, Run: queuePop},
	{Name: "QMOVE", Min: 3, Flags: Writes | Blocks, Keys: Keys{1, 2, 1}, Run: queueMove},
	{Name: "QREAD", Min: 3, Flags: ReadOnly | Blocks, Keys: Keys{1, 1, 1}, Run: queueRead},
}

// countRuns counts how often the command of a session that waits runs from
// now on.
func (o *ours) countRuns() *int {
	n, w := new(int), o.session.waiter.Load()
	counted := newEntry(w.unit.cmd.Command, "")
	run := counted.Run
	counted.Run = func(c *Call) error {
		*n++
		return run(c)
	}
	w.unit.cmd = counted
	return n
}

// AddQueueCommands adds the commands above to a server.
func AddQueueCommands(srv *Server) {
	for _, c := range queueCommands {
		srv.table.byName[c.Name] = newEntry(c, "")
	}
}

func linesOf(k *keyDoc) []string {
	if k.Length == 0 {
		return nil
	}
	return strings.Split(string(k.Value), "\n")
}

// setLines writes a list; an empty one is removed.
func setLines(c *Call, s *slot, k kind, lines []string) error {
	if len(lines) == 0 {
		return c.remove(s)
	}
	return c.write(s, keyDoc{Kind: k, Created: s.key.Created, Length: int64(len(lines)), UID: uid{1, 1}, Value: []byte(strings.Join(lines, "\n"))})
}

func queuePush(c *Call, k kind) error {
	s, err := c.openKind(c.Args[0], k)
	if err != nil {
		return err
	}
	lines := linesOf(&s.key)
	for _, item := range c.Args[1:] {
		lines = append(lines, string(item))
	}
	c.Reply.Int(int64(len(lines)))
	return setLines(c, &s, k, lines)
}

func queuePop(c *Call) error {
	keys := c.Args[:len(c.Args)-1]
	timeout, err := parseTimeout(c.Args[len(keys)])
	if err != nil {
		return err
	}
	for _, key := range keys {
		s, err := c.openKind(key, kindList)
		if err == errWrongType && c.Waited {
			continue
		}
		if err != nil {
			return err
		}
		if lines := linesOf(&s.key); s.live {
			c.Reply.Array(2)
			c.Reply.Bulk(key)
			c.Reply.BulkString(lines[0])
			return setLines(c, &s, kindList, lines[1:])
		}
	}
	return c.wait(wait{keys: keys, kind: kindList, timeout: timeout, nothing: (*resp.Writer).NullArray})
}

func queueMove(c *Call) error {
	timeout, err := parseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	from, err := c.openKind(c.Args[0], kindList)
	if err != nil && (err != errWrongType || !c.Waited) {
		return err
	}
	if err != nil || !from.live {
		return c.wait(wait{keys: c.Args[:1], kind: kindList, timeout: timeout, nothing: (*resp.Writer).Null})
	}
	lines := linesOf(&from.key)
	if bytes.Equal(c.Args[0], c.Args[1]) {
		c.Reply.BulkString(lines[0])
		return setLines(c, &from, kindList, append(lines[1:], lines[0]))
	}
	to, err := c.openIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if to.live && to.key.Kind != kindList {
		return errWrongType
	}
	if err := setLines(c, &from, kindList, lines[1:]); err != nil {
		return err
	}
	c.Reply.BulkString(lines[0])
	return setLines(c, &to, kindList, append(linesOf(&to.key), lines[0]))
}

func queueRead(c *Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if string(c.Args[1]) == "$" {
		n, ok = -1, true
	}
	if !ok {
		return errNotInteger
	}
	timeout, err := parseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	k, live, err := c.findKind(c.Args[0], kindStream)
	switch {
	case !live && c.Waited:
		return resp.Error("UNBLOCKED the stream key no longer exists")
	case err != nil:
		return err
	}
	lines := linesOf(&k)
	if n < 0 {
		n = int64(len(lines))
	}
	if int(n) >= len(lines) {
		args := [][]byte{c.Args[0], strconv.AppendInt(nil, n, 10), c.Args[2]}
		return c.wait(wait{keys: c.Args[:1], kind: kindStream, timeout: timeout, args: args, nothing: (*resp.Writer).NullArray})
	}
	c.Reply.Array(len(lines) - int(n))
	for _, item := range lines[n:] {
		c.Reply.BulkString(item)
	}
	return nil
}
