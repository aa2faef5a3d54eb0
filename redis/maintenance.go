package redis

import (
	"context"
	"fmt"

	"github.com/firndb/firn/redis/command"
)

// Maintenance that the store also does by itself, to be run now.
var maintenanceCommands = []command.Command{
	{
		Name: "CHECKPOINT", Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName,
		Group: "server", Since: "0.1.0", Complexity: "O(n), n the pages in the log",
		Summary: "Moves the write-ahead log into the database file and empties it; says how many pages the log had, and how many a reader kept in it.",
		Run:     runCheckpoint,
	},
	{
		Name: "VACUUM", Flags: command.Local | command.Admin | command.OnWorker | command.NoMulti | command.OwnName,
		Group: "server", Since: "0.1.0", Complexity: "O(n), n the free pages of the file",
		Summary: "Returns free pages to the file system, in short steps, and says how many bytes that were.",
		Run:     runVacuum,
	},
}

func runCheckpoint(c *command.Call) error {
	srv := sessionOf(c).srv
	began := command.Clock()
	logged, moved, err := srv.store.Truncate(context.Background())
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	srv.latency.Add("checkpoint", srv.opts.Now(), command.Clock()-began)
	c.Reply.Map(4)
	c.Reply.BulkString("log_pages")
	c.Reply.Int(logged)
	c.Reply.BulkString("moved_pages")
	c.Reply.Int(moved)
	c.Reply.BulkString("busy")
	command.ReplyFlag(c, moved < logged)
	c.Reply.BulkString("wal_bytes")
	c.Reply.Int(srv.store.Stats().WALBytes)
	return nil
}

func runVacuum(c *command.Call) error {
	freed, err := c.Store.Vacuum(context.Background())
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	c.Reply.Int(freed)
	return nil
}
