package redis

import (
	"context"
	"fmt"
)

// Maintenance that the store also does by itself, to be run now.
var maintenanceCommands = []Command{
	{
		Name: "CHECKPOINT", Flags: Local | Admin | onWorker | NoMulti | OwnName, Group: "server", Since: "0.1.0", Complexity: "O(N) where N is the pages in the log",
		Summary: "Moves the write-ahead log into the database file and empties it; says how many pages the log had, and how many a reader kept in it.",
		Run:     runCheckpoint,
	},
	{
		Name: "VACUUM", Flags: Local | Admin | onWorker | NoMulti | OwnName, Group: "server", Since: "0.1.0", Complexity: "O(N) where N is the free pages of the file",
		Summary: "Returns free pages to the file system, in short steps, and says how many bytes that were.",
		Run:     runVacuum,
	},
}

func runCheckpoint(c *Call) error {
	srv := sessionOf(c).srv
	began := clock()
	logged, moved, err := srv.store.Truncate(context.Background())
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	srv.latency.add("checkpoint", srv.opts.Now(), clock()-began)
	c.Reply.Map(4)
	c.Reply.BulkString("log_pages")
	c.Reply.Int(logged)
	c.Reply.BulkString("moved_pages")
	c.Reply.Int(moved)
	c.Reply.BulkString("busy")
	replyFlag(c, moved < logged)
	c.Reply.BulkString("wal_bytes")
	c.Reply.Int(srv.store.Stats().WALBytes)
	return nil
}

func runVacuum(c *Call) error {
	freed, err := c.store.Vacuum(context.Background())
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	c.Reply.Int(freed)
	return nil
}
