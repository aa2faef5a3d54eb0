package command

import (
	"errors"
	"math"
	"time"

	"github.com/firndb/firn"
	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// Wait is what a blocking command waits for.
type Wait struct {
	Keys    [][]byte           // of the selected database: any of them may bring what is missing
	Kind    keyspace.Kind      // the type that the key must get
	Timeout time.Duration      // 0: for ever
	Args    [][]byte           // what the command runs with then; nil: as it was called
	Nothing func(*resp.Writer) // appends the reply after the timeout, and where waiting is not allowed

	// ForCommit says that it waits for a commit after a moment, and not for keys.
	// Nothing is not used: after the timeout the command runs once more, and
	// replies at once.
	ForCommit bool
	After     firn.Timestamp
}

// Patience is what a command does that finds nothing, and could wait.
type Patience int

const (
	RepliesAtOnce Patience = iota // nobody may wait here
	ParksLater                    // it runs again in a transaction, and waits then
	ParksNow
)

// ErrParks is the error of a command that found nothing in a snapshot and may
// wait: what it waits for could have come since. It runs again in a
// transaction, where looking and beginning to wait are one step.
var ErrParks = errors.New("redis: to wait takes a transaction")

// Wait is what a command with the flag Blocks returns when there is nothing
// for it yet, and it has written nothing: the client waits, and the command
// runs again, with Waited, when a key of the kind has come. Where nobody may
// wait, as inside MULTI and in the past, it replies nothing at once.
// Who waits for a commit asks for Patience before.
func (c *Call) Wait(w Wait) error {
	if w.ForCommit {
		c.Wants = &w
		return nil
	}
	switch c.Patience {
	case RepliesAtOnce:
		w.Nothing(&c.Reply)
	case ParksLater:
		return ErrParks
	case ParksNow:
		c.Wants = &w
	}
	return nil
}

// ParseTimeout reads the timeout of a blocking command, in seconds. It is a long
// double in Redis; what is beyond its milliseconds wraps around to a negative one.
func ParseTimeout(arg []byte) (time.Duration, error) {
	if n, ok := resp.ParseInt(arg); ok && 0 <= n && n <= math.MaxInt32 {
		return time.Duration(n) * time.Second, nil
	}
	seconds, err := resp.ParseLongDouble(arg)
	if err != nil {
		return 0, resp.Error("ERR timeout is not a float or out of range")
	}
	ms, ok := seconds.Millis()
	if !ok {
		ms = -1
	}
	return timeoutOf(ms)
}

// ParseTimeoutMillis reads a timeout in milliseconds, as of XREAD.
func ParseTimeoutMillis(arg []byte) (time.Duration, error) {
	ms, ok := resp.ParseInt(arg)
	if !ok {
		return 0, resp.Error("ERR timeout is not an integer or out of range")
	}
	return timeoutOf(ms)
}

func timeoutOf(ms int64) (time.Duration, error) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	switch {
	case ms < 0:
		return 0, resp.Error("ERR timeout is negative")
	case ms > most:
		return time.Duration(math.MaxInt64), nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
