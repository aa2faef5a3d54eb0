package command

import (
	"fmt"
	"strings"

	"github.com/firndb/firn/redis/keyspace"
	"github.com/firndb/firn/resp"
)

// unknownCommand is the error for a name that is not in the table, with the
// first 128 bytes of what came after it, as Redis shows it.
func unknownCommand(words [][]byte) resp.Error {
	var args strings.Builder
	for _, word := range words[1:] {
		if args.Len() >= 128 {
			break
		}
		fmt.Fprintf(&args, "'%s' ", CString(word, 128-args.Len()))
	}
	return resp.Error(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s",
		CString(words[0], 128), args.String()))
}

func unknownSubcommand(container string, word []byte) resp.Error {
	return resp.Error(fmt.Sprintf("ERR unknown subcommand '%s'. Try %s HELP.",
		CString(word, 128), strings.ToUpper(container)))
}

// SubcommandError is the answer to arguments that a subcommand does not take. It
// unwraps to its text, with the subcommand's name in upper case.
type SubcommandError struct{ Container, Name string }

func (e SubcommandError) Error() string { return e.Unwrap().Error() }

func (e SubcommandError) Unwrap() error { return WrongSubcommand(e.Container, e.Name) }

// Written is the error with the subcommand's name as the client wrote it.
func (e SubcommandError) Written(name []byte) error {
	return WrongSubcommand(e.Container, string(CString(name, 128)))
}

// ErrSubcommand is a SubcommandError about the call's command.
func ErrSubcommand(c *Call) error {
	container, _, _ := strings.Cut(c.Cmd.Full, "|")
	return SubcommandError{strings.ToUpper(container), c.Cmd.Name}
}

// WrongSubcommand is ErrSubcommand for a command that looks for its
// subcommands itself.
func WrongSubcommand(container, name string) resp.Error {
	return resp.Error("ERR unknown subcommand or wrong number of arguments for '" + name + "'. Try " + container + " HELP.")
}

func wrongArity(name string) resp.Error {
	return resp.Error("ERR wrong number of arguments for '" + name + "' command")
}

// CString is what C's %.*s prints of b: up to n bytes, and none from a NUL on.
func CString(b []byte, n int) []byte { return keyspace.CutAtZero(b[:min(n, len(b))]) }
