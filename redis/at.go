package redis

import (
	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/command"
)

var atCommands = []command.Command{
	{
		Name: "AT", Args: "when [PARTIAL] command [arg ...]", Min: 2, Max: -1, Flags: command.ReadOnly | command.OnWorker | command.OwnName, Wraps: atWords,
		Group: "history", Since: "0.1.0", Complexity: "that of the command",
		Summary: "Runs any read command as of a moment of the past. " +
			"Walks over keys (KEYS, SCAN, DBSIZE, RANDOMKEY) are refused if a key that is forgotten at the moment may be among their results; with PARTIAL it is left out.",
		Run: atRun,
	},
	{
		Name: "LASTTS", Args: "[TOKEN]", Max: 1, Flags: command.Local | command.Fast | command.OwnName, Group: "history", Since: "0.1.0", Complexity: "O(1)",
		Summary: "Returns the timestamp of this connection's last commit, 0 if there is none; with TOKEN as a token, nil if there is none.",
		Run:     atLast,
	},
	{
		Name: "HORIZON", Flags: command.Local | command.Fast | command.OwnName, Group: "history", Since: "0.1.0", Complexity: "O(1)",
		Summary: "Returns the oldest and the newest timestamp that can be read, the store's incarnation, and a token of the newest.",
		Run:     atHorizon,
	},
}

// atWords are the words of the command in AT's arguments.
func atWords(args [][]byte) [][]byte {
	words, _ := command.Wrapped(args)
	return words
}

// atRun runs the command in its arguments on a snapshot of the past.
func atRun(c *command.Call) error {
	s := sessionOf(c)
	ts, err := s.Moment(c.Args[0])
	if err != nil {
		return err
	}
	words, partial := command.Wrapped(c.Args)
	e, args, err := s.srv.commands.Resolve(words)
	if err != nil {
		return err
	}
	if !e.ReadsKeys() {
		return errATReads
	}
	if err := permit(s, e, args); err != nil {
		return err
	}
	inner := *c
	inner.Cmd, inner.Args = e, args
	start := len(c.Reply.Buf)
	err = c.Store.At(ts, func(snap *firn.Snapshot) error {
		if partial {
			snap.Partial()
		}
		inner.View = c.At(snap)
		return e.Run(&inner)
	})
	e.Calls.Add(1)
	c.Reply.Buf = inner.Reply.Buf
	if err != nil {
		c.Reply.Buf = c.Reply.Buf[:start]
	}
	return err
}

func atHorizon(c *command.Call) error {
	b := c.Store.Bounds()
	c.Reply.Map(4)
	c.Reply.BulkString("oldest")
	c.Reply.Int(int64(b.Oldest))
	c.Reply.BulkString("newest")
	c.Reply.Int(int64(b.Newest))
	c.Reply.BulkString("incarnation")
	c.Reply.BulkString(b.Incarnation)
	command.ReplyField(&c.Reply, "token", c.Store.Token(b.Newest))
	return nil
}

// atLast replies the session's last commit.
func atLast(c *command.Call) error {
	last := sessionOf(c).last
	switch {
	case len(c.Args) == 0:
		c.Reply.Int(int64(last))
	case !command.Is(c.Args[0], "TOKEN"):
		return command.ErrSyntax
	case last == 0:
		c.Reply.Null()
	default:
		c.Reply.BulkString(c.Store.Token(last))
	}
	return nil
}
