package storefile

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/firndb/firn/schema"
)

// Restore makes a store at out from that at in as of a moment, 0 for the
// newest, with the history up to there. in may be in use. The new store has a
// line of history of its own.
func Restore(in, out string, at schema.Timestamp, progress func(done, total int64), target schema.Options) (err error) {
	engine, err := schema.Open(in, schema.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	session, err := engine.Session()
	if err != nil {
		return err
	}
	defer session.Close()
	c := Copy{From: session, Source: engine.Path(), At: at, Target: target, Progress: progress}
	c.Now = schema.TimestampOf(time.Now())
	return c.WriteInOneState(context.Background(), out)
}

// FileBytes is the size of a store's files.
func FileBytes(path string) (bytes int64) {
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
