package redis

import (
	"context"
	"fmt"
	"runtime"

	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/resp"
)

// SAVE and its kin. What was answered is in the file already, so all of them
// move the write-ahead log into it.
var saveCommands = []command.Command{
	{
		Name: "BGREWRITEAOF", Flags: command.Local | command.Admin | command.OnWorker | command.NoScript | command.NoAsyncLoading,
		Group: "server", Since: "1.0.0", Complexity: "O(n), n the pages in the log",
		Summary: "Moves the write-ahead log into the database file.",
		Differs: "Is done when it is answered.",
		Run:     func(c *command.Call) error { return checkpoint(c, "Background append only file rewriting started") },
	},
	{
		Name: "BGSAVE", Args: "[SCHEDULE]", Max: -1, Flags: command.Local | command.Admin | command.OnWorker | command.NoScript | command.NoAsyncLoading,
		Group: "server", Since: "1.0.0", Complexity: "O(n), n the pages in the log",
		Summary: "Moves the write-ahead log into the database file.",
		Differs: "Is done when it is answered.",
		Run:     bgSave,
	},
	{
		Name: "FAILOVER", Args: "[TO host port [FORCE]] [ABORT] [TIMEOUT milliseconds]", Max: -1,
		Flags: command.Local | command.Admin | command.NoScript | command.Stale,
		Group: "server", Since: "6.2.0", Complexity: "O(1)",
		Summary: "Refused: there are no replicas to hand over to.",
		Run:     failover,
	},
	{
		Name: "LASTSAVE", Flags: command.Local | command.Fast | command.Random | command.Loading | command.Stale,
		Categories: command.CatDangerous | command.CatAdmin,
		Group:      "server", Since: "1.0.0", Complexity: "O(1)",
		Tips:    []string{"nondeterministic_output"},
		Summary: "Returns the Unix time of the newest commit, or of the last SAVE if that came later.",
		Differs: "Every commit is saved when it is answered, so its time counts.",
		Run:     func(c *command.Call) error { c.Reply.Int(sessionOf(c).srv.lastSave()); return nil },
	},
	{
		Name: "LOLWUT", Args: "[VERSION version]", Max: -1, Flags: command.ReadOnly | command.Fast, Group: "server", Since: "5.0.0", Complexity: "O(1)",
		Summary: "Returns the versions of Redis that Firn speaks like, and of Firn.",
		Differs: "Draws nothing.",
		Run:     lolwut,
	},
	{
		Name: "REPLICAOF", Args: "<host port | NO ONE>", Min: 2,
		Flags: command.Local | command.Admin | command.NoScript | command.Stale | command.NoAsyncLoading,
		Group: "server", Since: "5.0.0", Complexity: "O(1)",
		Summary: "Accepts NO ONE, which the server is already; replicas of another server are refused.",
		Differs: "A Firn server does not follow a Redis server.",
		Run:     replicaOf,
	},
	{
		Name: "ROLE", Flags: command.Local | command.Fast | command.NoScript | command.Loading | command.Stale,
		Categories: command.CatDangerous | command.CatAdmin,
		Group:      "server", Since: "2.8.12", Complexity: "O(1)",
		Summary: "Returns the replication role.",
		Run:     role,
	},
	{
		Name: "SAVE", Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.NoScript | command.NoAsyncLoading,
		Group: "server", Since: "1.0.0", Complexity: "O(n), n the pages in the log",
		Summary: "Moves the write-ahead log into the database file.",
		Run:     func(c *command.Call) error { return checkpoint(c, "OK") },
	},
	{
		Name: "SLAVEOF", Args: "<host port | NO ONE>", Min: 2,
		Flags: command.Local | command.Admin | command.NoScript | command.Stale | command.NoAsyncLoading,
		Group: "server", Since: "1.0.0", Complexity: "O(1)",
		Summary: "The old name of REPLICAOF.",
		Run:     replicaOf,
	},
	{
		Name: "WAITAOF", Args: "numlocal numreplicas timeout", Min: 3, Flags: command.Local | command.NoScript,
		Categories: command.CatConnection | command.CatBlocking,
		Group:      "generic", Since: "7.2.0", Complexity: "O(1) with --fsync always, else O(n), n the pages in the log",
		Tips:    []string{"request_policy:all_shards", "response_policy:agg_min"},
		Summary: "Returns whether the connection's writes are on disk, and how many replicas have them: 0, there are none.",
		Differs: "With --fsync always every write is. Otherwise numlocal 1 has the disk catch up, whatever the timeout; nothing waits for replicas.",
		Run:     waitForDisk, Waits: func([][]byte) bool { return true },
	},
}

// waitForDisk has what was committed made durable, where it is not already.
func waitForDisk(c *command.Call) error {
	local, ok := resp.ParseInt(c.Args[0])
	if !ok {
		return command.ErrNotInteger
	}
	if local < 0 || local > 1 {
		return resp.Error("ERR value is out of range, value must between 0 and 1")
	}
	if replicas, ok := resp.ParseInt(c.Args[1]); !ok || replicas < 0 {
		return command.ErrNotPositive
	}
	if _, err := command.ParseTimeoutMillis(c.Args[2]); err != nil {
		return err
	}
	srv := sessionOf(c).srv
	durable := srv.opts.Durability == "always"
	if !durable && local == 1 && c.Client.MayBlock() && !c.Client.InMulti() {
		if err := srv.store.Checkpoint(context.Background()); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		durable = true
	}
	c.Reply.Array(2)
	command.ReplyFlag(c, durable)
	c.Reply.Int(0)
	return nil
}

// checkpoint moves the write-ahead log into the file.
func checkpoint(c *command.Call, reply string) error {
	srv := sessionOf(c).srv
	srv.stats.countKeys(c.Work)
	began, written := command.Clock(), srv.stats.written.Load()
	if err := srv.store.Checkpoint(context.Background()); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	srv.latency.Add("checkpoint", srv.opts.Now(), command.Clock()-began)
	srv.stats.saves.Add(1)
	srv.stats.saved.Store(written)
	srv.stats.lastSave.Store(srv.opts.Now().Unix())
	c.Reply.Simple(reply)
	return nil
}

func bgSave(c *command.Call) error {
	if len(c.Args) > 1 || len(c.Args) == 1 && !command.Is(c.Args[0], "SCHEDULE") {
		return command.ErrSyntax
	}
	return checkpoint(c, "Background saving started")
}

// lastSave is when the newest commit or checkpoint was, in Unix seconds.
func (srv *Server) lastSave() int64 {
	return max(srv.store.Bounds().Newest.Time().Unix(), srv.stats.lastSave.Load())
}

func role(c *command.Call) error {
	c.Reply.Array(3)
	c.Reply.BulkString("master")
	c.Reply.Int(0)
	c.Reply.Array(0)
	return nil
}

func replicaOf(c *command.Call) error {
	if command.Is(c.Args[0], "NO") && command.Is(c.Args[1], "ONE") {
		c.Reply.Simple("OK")
		return nil
	}
	if port, ok := resp.ParseInt(c.Args[1]); !ok || port < 0 || port > 65535 {
		return resp.Error("ERR Invalid master port")
	}
	return resp.Error("ERR this server cannot be a replica of another")
}

func lolwut(c *command.Call) error {
	if len(c.Args) > 1 && command.Is(c.Args[0], "VERSION") {
		if _, ok := resp.ParseInt(c.Args[1]); !ok {
			return command.ErrNotInteger
		}
	}
	c.Reply.Verbatim("txt", fmt.Sprintf("Redis ver. %s\nFirn %s, %s\n", redisVersion, sessionOf(c).srv.opts.Version, runtime.Version()))
	return nil
}

// failover reads its arguments as Redis does, and finds no replica.
func failover(c *command.Call) error {
	if len(c.Args) == 1 && command.Is(c.Args[0], "ABORT") {
		return resp.Error("ERR No failover in progress.")
	}
	var timeout, target bool
	for rest := c.Args; len(rest) > 0; {
		switch {
		case command.Is(rest[0], "TIMEOUT") && len(rest) > 1 && !timeout:
			ms, ok := resp.ParseInt(rest[1])
			if !ok {
				return command.ErrNotInteger
			}
			if ms <= 0 {
				return resp.Error("ERR FAILOVER timeout must be greater than 0")
			}
			timeout, rest = true, rest[2:]
		case command.Is(rest[0], "TO") && len(rest) > 2 && !target:
			if _, ok := resp.ParseInt(rest[2]); !ok {
				return command.ErrNotInteger
			}
			target, rest = true, rest[3:]
		case command.Is(rest[0], "FORCE"):
			rest = rest[1:]
		default:
			return command.ErrSyntax
		}
	}
	return resp.Error("ERR FAILOVER requires connected replicas.")
}
