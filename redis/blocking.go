package redis

import (
	"math"
	"time"

	"github.com/firndb/firn/resp"
)

// wait is what a blocking command waits for.
type wait struct {
	keys    [][]byte           // of the selected database: any of them may bring what is missing
	kind    kind               // the type that the key must get
	timeout time.Duration      // 0: for ever
	args    [][]byte           // what the command runs with then; nil: as it was called
	nothing func(*resp.Writer) // appends the reply after the timeout, and where waiting is not allowed
}

// wait is what a command with the flag Blocks returns when there is nothing
// for it yet, and it has written nothing: the client waits, and the command
// runs again, with Waited, when a key of the kind has come. Where nobody may
// wait, as inside MULTI and in the past, it replies nothing at once.
func (c *Call) wait(w wait) error {
	w.nothing(&c.Reply)
	return nil
}

// parseTimeout reads the timeout of a blocking command, in seconds.
func parseTimeout(arg []byte) (time.Duration, error) {
	seconds, ok := resp.ParseDouble(arg)
	if !ok {
		return 0, Error("ERR timeout is not a float or out of range")
	}
	ms := math.Ceil(seconds * 1000)
	if ms >= math.MaxInt64 {
		ms = -1 // in Redis it wraps around
	}
	return timeoutOf(ms)
}

// parseTimeoutMillis reads the timeout of XREAD, in milliseconds.
func parseTimeoutMillis(arg []byte) (time.Duration, error) {
	ms, ok := resp.ParseInt(arg)
	if !ok {
		return 0, Error("ERR timeout is not an integer or out of range")
	}
	return timeoutOf(float64(ms))
}

func timeoutOf(ms float64) (time.Duration, error) {
	const most = float64(math.MaxInt64 / int64(time.Millisecond))
	switch {
	case ms < 0:
		return 0, Error("ERR timeout is negative")
	case ms > math.MaxInt64:
		return 0, Error("ERR timeout is out of range")
	case ms > most:
		return time.Duration(math.MaxInt64), nil
	}
	return time.Duration(ms) * time.Millisecond, nil
}
