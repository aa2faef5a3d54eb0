package redis

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/firndb/firn"
	"github.com/firndb/firn/internal/hll"
	"github.com/firndb/firn/redis/command"
	"github.com/firndb/firn/redis/scripting"
	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/retention"
	"github.com/firndb/firn/schema"
)

// Errors that more than one command answers with, in Redis's words.
const (
	errNoAuth    = resp.Error("NOAUTH Authentication required.")
	errWrongPass = resp.Error("WRONGPASS invalid username-password pair or user is disabled.")
	errInMulti   = resp.Error("ERR Command not allowed inside a transaction")
	errExecAbort = resp.Error("EXECABORT Transaction discarded because of previous errors.")
	errASOF      = resp.Error("READONLY this connection reads as of a moment of the past; CLIENT ASOF OFF ends that")
	errATReads   = resp.Error("READONLY AT runs read commands only")
	errInternal  = resp.Error("ERR internal error")
)

// errMonitor refuses data to a client that looks on, in Redis's words.
const errMonitor = resp.Error("ERR Replica can't interact with the keyspace")

// errSubscriber refuses a command to a client of protocol 2 that listens: a
// message could not be told from its reply.
func errSubscriber(cmd *command.Entry) error {
	return resp.Error("ERR Can't execute '" + cmd.Full + "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
}

// errDebug refuses DEBUG, in Redis's words.
const errDebug = resp.Error("ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it " +
	"from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.")

// wire is the only place where an error becomes text for a client. What is
// not for clients is "ERR internal error" to them, and known is false: it
// belongs in the log.
func wire(err error) (text string, known bool) {
	if shown, ok := err.(resp.Error); ok {
		return string(shown), true
	}
	if shown, ok := errors.AsType[resp.Error](err); ok {
		return string(shown), true
	}
	if e, ok := errors.AsType[*firn.CompactedError](err); ok {
		return compacted(e), true
	}
	if e, ok := errors.AsType[*firn.MomentError](err); ok {
		return fmt.Sprintf("ERR invalid moment: %d microseconds are a moment of 1970: write %s for Unix time", e.Number, e.Meant), true
	}
	if e, ok := errors.AsType[*firn.FutureError](err); ok {
		return fmt.Sprintf("FUTURE newest timestamp is %d", e.Newest), true
	}
	for _, refused := range [...]error{retention.ErrHold, retention.ErrPolicy} {
		if errors.Is(err, refused) {
			return "ERR " + strings.TrimPrefix(err.Error(), "firn: "), true
		}
	}
	for _, c := range causes {
		if errors.Is(err, c.cause) {
			return c.text, c.known
		}
	}
	return string(errInternal), false
}

// asWritten is an error that names a subcommand, in the letters of the client.
func asWritten(words [][]byte, err error) error {
	e, ok := errors.AsType[command.SubcommandError](err)
	if !ok || len(words) < 2 || !command.Is(words[1], e.Name) {
		return err // AT has other words before it
	}
	return e.Written(words[1])
}

// compacted says from when on there is an answer, and why not before.
func compacted(e *firn.CompactedError) string {
	const wayOut = ": read later, or walk with AT when PARTIAL, which leaves out what is forgotten"
	text := fmt.Sprintf("COMPACTED oldest readable timestamp is %d", e.Oldest)
	switch {
	case e.Unborn():
		text += fmt.Sprintf(": the store began at %d", e.Began)
	case e.Scope.Member != "":
		text += fmt.Sprintf(": key %.64q of database %s %s", e.Scope.Member, e.Scope.Group, e.Kept()) + wayOut
	case e.Scope.Group != "":
		text += fmt.Sprintf(": database %s %s", e.Scope.Group, e.Kept()) + wayOut
	}
	return text
}

// causes are the store's errors and what clients are told about them.
var causes = []struct {
	cause error
	text  string
	known bool
}{
	{scripting.ErrEnded, "ERR the server is shutting down: the script was ended, and nothing of it was kept", true},
	{scripting.ErrHeld, "ERR the script writes, or tells others, too much at once, see script-max-memory: nothing of it is kept", false},
	{firn.ErrForked, "FORKED the token is from another history of this store", true},
	{firn.ErrMoment, "ERR invalid moment: give a timestamp in microseconds, <n>ms, <n>s, a date, an RFC 3339 time, -5m, -1d12h, -2w, now or a token", true},
	{firn.ErrFull, "MISCONF the disk is full: nothing was written", false},
	{firn.ErrInDoubt, "ERR outcome unknown: the commit may or may not have been kept; the server must be restarted", false},
	{schema.ErrBusy, "BUSY the file is locked by another process, nothing was written: try again later", true},
	{firn.ErrBusy, "BUSY too many writes are waiting, try again later", true},
	{retention.ErrUnfinished, "ERR the server is shutting down: the work is not finished, what is done of it stays", true},
	{firn.ErrClosed, "ERR the server is shutting down: nothing was written", true},
	{schema.ErrSize, "ERR key, field or member exceeds the maximum size of 1 MiB, or the value that of 768 MiB", true},
	{firn.ErrCompacted, "COMPACTED that moment can no longer be read", true},
	{firn.ErrFuture, "FUTURE that moment has not come", true},
	{hll.ErrDamaged, "INVALIDOBJ Corrupted HLL object detected", true},
}

// errWebRequest ends a client that speaks HTTP, without a word.
var errWebRequest = errors.New("redis: a web request")

// isWebRequest says whether an unknown command is a line of HTTP. Any page can
// make a browser send a form to a server on its own machine, whose body would
// be commands; so the connection ends before, as Redis's does.
func isWebRequest(name []byte) bool {
	return bytes.EqualFold(name, []byte("POST")) || bytes.EqualFold(name, []byte("Host:"))
}

// execAbort is the error of an EXEC that is itself refused.
func execAbort(err error) resp.Error {
	text, _ := wire(err)
	return resp.Error("EXECABORT Transaction discarded because of: " + strings.TrimPrefix(text, "ERR "))
}
