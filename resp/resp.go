// Package resp is the wire format: it turns the bytes a client sent into
// commands, and replies into bytes, as Redis 7.0.15 does.
//
// A [Reader] is fed with bytes and asked for commands. A [Writer] appends
// replies to a byte slice, in protocol 2 or 3. Both are plain values: nothing
// here reads a socket, starts a goroutine, takes a lock or knows a command.
// The driver of a connection is a short loop around them:
//
//	n, err := conn.Read(r.Space(resp.MinSpace))
//	r.Fill(n)
//	for {
//		args, ok, err := r.Next()
//		…
//	}
//
// # Commands
//
// A command arrives as an array of bulk strings,
//
//	*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n
//
// or, for people with telnet, as a line of words: echo "hi"\n. Whatever
// Redis accepts is accepted and whatever it refuses is refused with the same
// text, its oddities included: the two bytes after a bulk are skipped unseen,
// a line that holds a NUL byte never ends, and *0 is no command at all.
//
// # Numbers
//
// Redis prints a float in two ways, and clients compare the text. Scores are
// printed with 17 significant digits ([AppendDouble]); INCRBYFLOAT works in
// the 80-bit format of the x87 ([LongDouble]). Numbers that clients send are
// read as strictly as Redis reads them ([ParseInt], [ParseDouble]).
package resp

import "errors"

// Error is an error whose text is for the client, code first: "WRONGTYPE …".
type Error string

func (e Error) Error() string { return string(e) }

// ErrProtocol matches every [ProtocolError] under errors.Is.
var ErrProtocol = errors.New("resp: protocol error")

// ProtocolError is what a client is told when its bytes make no sense. The
// text is Redis's, without the ERR in front. After it the connection has to
// be closed: there is no telling where the next command begins.
type ProtocolError string

func (e ProtocolError) Error() string { return string(e) }

// Is reports whether target is ErrProtocol.
func (e ProtocolError) Is(target error) bool { return target == ErrProtocol }

const (
	errMultibulkLength      ProtocolError = "Protocol error: invalid multibulk length"
	errBulkLength           ProtocolError = "Protocol error: invalid bulk length"
	errMultibulkLine        ProtocolError = "Protocol error: too big mbulk count string"
	errBulkLine             ProtocolError = "Protocol error: too big bulk count string"
	errInline               ProtocolError = "Protocol error: too big inline request"
	errQuotes               ProtocolError = "Protocol error: unbalanced quotes in request"
	errGuestMultibulkLength ProtocolError = "Protocol error: unauthenticated multibulk length"
	errGuestBulkLength      ProtocolError = "Protocol error: unauthenticated bulk length"

	// Redis closes the connection without a word when a command passes
	// client-query-buffer-limit. A reason costs nothing.
	errCommand ProtocolError = "Protocol error: too big command"
)

// errExpectedBulk says which byte stood where a bulk string should begin.
// A line break is shown as a space, since the text has to fit on a line.
func errExpectedBulk(got byte) ProtocolError {
	if got == '\r' || got == '\n' {
		got = ' '
	}
	return ProtocolError("Protocol error: expected '$', got '" + string([]byte{got}) + "'")
}

// Limits bounds what one client can make a [Reader] hold. The zero value
// stands for Redis's defaults; a field that is not positive takes its own.
type Limits struct {
	// MaxBulk is the longest argument in bytes, proto-max-bulk-len in Redis.
	// Default 512 MiB.
	MaxBulk int

	// MaxArgs is how many arguments a command can have. Default 1024 * 1024,
	// as in Redis 6; 7.0 raised it to 2^31-1, which no command needs.
	MaxArgs int

	// MaxInline is the longest line in bytes, be it an inline command or
	// the number in front of an array or a bulk. Default 64 KiB, and at
	// least 32 bytes, so that every number fits.
	MaxInline int

	// MaxCommandBytes is the longest command in bytes, with all that
	// surrounds its arguments: client-query-buffer-limit in Redis.
	// Default 1 GiB.
	MaxCommandBytes int
}

// What a client may send before it has authenticated: enough for AUTH and
// HELLO with all their options. The first two are Redis's; the others bound
// what it can make a Reader hold, so that many of them cost little.
const (
	guestMaxArgs         = 10
	guestMaxBulk         = 16 << 10
	guestMaxInline       = 16 << 10   // a line
	guestMaxWords        = pagePlaces // in a line
	guestMaxCommandBytes = 32 << 10
)

// withDefaults fills in the fields that were left out.
func (l Limits) withDefaults() Limits {
	l.MaxBulk = orDefault(l.MaxBulk, 512<<20)
	l.MaxArgs = orDefault(l.MaxArgs, 1024*1024)
	l.MaxInline = max(orDefault(l.MaxInline, 64<<10), 32)
	l.MaxCommandBytes = orDefault(l.MaxCommandBytes, 1<<30)
	return l
}

func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}
