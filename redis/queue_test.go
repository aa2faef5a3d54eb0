package redis

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
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
var queueCommands = []command.Command{
	{Name: "QPUSH", Min: 2, Max: -1, Flags: command.Writes, Keys: command.FirstKey(command.Changes), Run: func(c *command.Call) error { return queuePush(c, keyspace.KindList) }},
	{Name: "QFAIL", Min: 2, Flags: command.Writes, Keys: command.FirstKey(command.Changes), Run: func(c *command.Call) error { return errors.Join(queuePush(c, keyspace.KindList), command.ErrSyntax) }},
	{Name: "QADD", Min: 2, Max: -1, Flags: command.Writes, Keys: command.FirstKey(command.Changes), Run: func(c *command.Call) error { return queuePush(c, keyspace.KindStream) }},
	{Name: "QPOP", Min: 2, Max: -1, Flags: command.Writes | command.Blocks, Keys: command.KeysFrom(1, -2, 1, command.Changes), Run: queuePop},
	{Name: "QMOVE", Min: 3, Flags: command.Writes | command.Blocks, Keys: command.KeysFrom(1, 2, 1, command.Changes), Run: queueMove},
	{Name: "QREAD", Min: 3, Flags: command.ReadOnly | command.Blocks, Keys: command.FirstKey(command.Reads), Run: queueRead},
}

// countRuns counts how often the command of a session that waits runs from
// now on.
func (o *ours) countRuns() *int {
	n, w := new(int), o.session.waiter.Load()
	counted := command.NewEntry(w.unit.cmd.Command, "")
	run := counted.Run
	counted.Run = func(c *command.Call) error {
		*n++
		return run(c)
	}
	w.unit.cmd = counted
	return n
}

// AddQueueCommands adds the commands above to a server.
func AddQueueCommands(srv *Server) {
	for _, c := range queueCommands {
		srv.commands.ByName[c.Name] = command.NewEntry(c, "")
	}
}

func linesOf(k *keyspace.KeyDoc) []string {
	if k.Length == 0 {
		return nil
	}
	return strings.Split(string(k.Value), "\n")
}

// setLines writes a list; an empty one is removed.
func setLines(c *command.Call, s *keyspace.Slot, k keyspace.Kind, lines []string) error {
	if len(lines) == 0 {
		return c.Remove(s)
	}
	return c.Write(s, keyspace.KeyDoc{Kind: k, Created: s.Key.Created, Length: int64(len(lines)), UID: keyspace.UID{TS: 1, N: 1}, Value: []byte(strings.Join(lines, "\n"))})
}

func queuePush(c *command.Call, k keyspace.Kind) error {
	s, err := c.OpenKind(c.Args[0], k)
	if err != nil {
		return err
	}
	lines := linesOf(&s.Key)
	for _, item := range c.Args[1:] {
		lines = append(lines, string(item))
	}
	c.Reply.Int(int64(len(lines)))
	return setLines(c, &s, k, lines)
}

func queuePop(c *command.Call) error {
	keys := c.Args[:len(c.Args)-1]
	timeout, err := command.ParseTimeout(c.Args[len(keys)])
	if err != nil {
		return err
	}
	for _, key := range keys {
		s, err := c.OpenKind(key, keyspace.KindList)
		if err == keyspace.ErrWrongType && c.Waited {
			continue
		}
		if err != nil {
			return err
		}
		if lines := linesOf(&s.Key); s.Live {
			c.Reply.Array(2)
			c.Reply.Bulk(key)
			c.Reply.BulkString(lines[0])
			return setLines(c, &s, keyspace.KindList, lines[1:])
		}
	}
	return c.Wait(command.Wait{Keys: keys, Kind: keyspace.KindList, Timeout: timeout, Nothing: (*resp.Writer).NullArray})
}

func queueMove(c *command.Call) error {
	timeout, err := command.ParseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	from, err := c.OpenKind(c.Args[0], keyspace.KindList)
	if err != nil && (err != keyspace.ErrWrongType || !c.Waited) {
		return err
	}
	if err != nil || !from.Live {
		return c.Wait(command.Wait{Keys: c.Args[:1], Kind: keyspace.KindList, Timeout: timeout, Nothing: (*resp.Writer).Null})
	}
	lines := linesOf(&from.Key)
	if bytes.Equal(c.Args[0], c.Args[1]) {
		c.Reply.BulkString(lines[0])
		return setLines(c, &from, keyspace.KindList, append(lines[1:], lines[0]))
	}
	to, err := c.OpenIn(c.DB, c.Args[1])
	if err != nil {
		return err
	}
	if to.Live && to.Key.Kind != keyspace.KindList {
		return keyspace.ErrWrongType
	}
	if err := setLines(c, &from, keyspace.KindList, lines[1:]); err != nil {
		return err
	}
	c.Reply.BulkString(lines[0])
	return setLines(c, &to, keyspace.KindList, append(linesOf(&to.Key), lines[0]))
}

func queueRead(c *command.Call) error {
	n, ok := resp.ParseInt(c.Args[1])
	if string(c.Args[1]) == "$" {
		n, ok = -1, true
	}
	if !ok {
		return command.ErrNotInteger
	}
	timeout, err := command.ParseTimeout(c.Args[2])
	if err != nil {
		return err
	}
	k, live, err := c.FindKind(c.Args[0], keyspace.KindStream)
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
		return c.Wait(command.Wait{Keys: c.Args[:1], Kind: keyspace.KindStream, Timeout: timeout, Args: args, Nothing: (*resp.Writer).NullArray})
	}
	c.Reply.Array(len(lines) - int(n))
	for _, item := range lines[n:] {
		c.Reply.BulkString(item)
	}
	return nil
}
