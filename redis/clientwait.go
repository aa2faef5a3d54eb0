package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

func clientUnblock(c *command.Call) error {
	const unblocked = "UNBLOCKED client unblocked via CLIENT UNBLOCK"
	srv, failing := sessionOf(c).srv, false
	switch {
	case len(c.Args) > 2:
		return command.ErrSubcommand(c)
	case len(c.Args) == 2 && command.Is(c.Args[1], "ERROR"):
		failing = true
	case len(c.Args) == 2 && !command.Is(c.Args[1], "TIMEOUT"):
		return resp.Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")
	}
	id, ok := resp.ParseInt(c.Args[0])
	if !ok {
		return command.ErrNotInteger
	}
	done := false
	if other := srv.clients.find(id); other != nil {
		if w := other.waiter.Load(); w != nil {
			reply := w.nothing
			if failing {
				reply = func(out *resp.Writer) { out.Error(unblocked) }
			}
			if done = w.commit != nil && !failing; done {
				done = w.runAgainSoon(true)
			} else {
				done = w.end(reply)
			}
		}
	}
	if done && failing {
		srv.stats.countError(unblocked)
	}
	command.ReplyFlag(c, done)
	return nil
}

func clientPause(c *command.Call) error {
	mode := pauseAll
	switch {
	case len(c.Args) > 2:
		return command.ErrSubcommand(c)
	case len(c.Args) == 2 && command.Is(c.Args[1], "WRITE"):
		mode = pauseWrites
	case len(c.Args) == 2 && !command.Is(c.Args[1], "ALL"):
		return resp.Error("ERR CLIENT PAUSE mode must be WRITE or ALL")
	}
	d, err := command.ParseTimeoutMillis(c.Args[0])
	if err != nil {
		return err
	}
	sessionOf(c).srv.pause.begin(mode, d)
	c.Reply.Simple("OK")
	return nil
}

func clientUnpause(c *command.Call) error {
	sessionOf(c).srv.pause.end()
	c.Reply.Simple("OK")
	return nil
}
