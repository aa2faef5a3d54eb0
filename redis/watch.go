package redis

import (
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// maxWatched bounds what one session watches.
const maxWatched = 1 << 20

var watchCommands = []command.Command{
	{
		Name: "WATCH", Args: "key [key ...]", Min: 1, Max: -1,
		Flags: command.ReadOnly | command.Fast | command.NoQueue | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Keys:  command.AllKeys(command.Looks),
		Group: "transactions", Since: "2.2.0", Complexity: "O(1) for every key",
		Summary: "Makes the next EXEC depend on the keys: it does nothing if one has changed.",
		Differs: "XSETID that sets ENTRIESADDED is a change of the stream; PFCOUNT, and LTRIM that removes nothing, are none.",
		Run:     watchKeys,
	},
	{
		Name: "UNWATCH", Flags: command.Local | command.Fast | command.NoScript | command.Loading | command.Stale | command.AllowBusy,
		Group: "transactions", Since: "2.2.0", Complexity: "O(1)",
		Summary: "Forgets about watched keys.",
		Run:     watchNone,
	},
}

func watchKeys(c *command.Call) error {
	s := sessionOf(c)
	if s.multi.on {
		return resp.Error("ERR WATCH inside MULTI is not allowed")
	}
	if len(s.multi.watch)+len(c.Args) > maxWatched {
		return resp.Error("ERR too many watched keys")
	}
	for _, key := range c.Args {
		state, err := c.KeyState(c.DB, key)
		if err != nil {
			return err
		}
		if s.multi.watch == nil {
			s.multi.watch = make(map[watched]keyspace.KeyState)
		}
		w := watched{c.DB, string(key)}
		if _, ok := s.multi.watch[w]; !ok { // what was seen first counts
			s.multi.watch[w] = state
		}
	}
	c.Reply.Simple("OK")
	return nil
}

func watchNone(c *command.Call) error {
	sessionOf(c).multi.watch = nil
	c.Reply.Simple("OK")
	return nil
}
