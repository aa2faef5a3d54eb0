package command

import (
	"bytes"
	"strings"

	"github.com/firndb/firn/resp"
)

const ErrSyntax = resp.Error("ERR syntax error")

const ErrNotInteger = resp.Error("ERR value is not an integer or out of range")

const ErrNotFloat = resp.Error("ERR value is not a valid float")

const errOutOfRange = resp.Error("ERR value is out of range")

const ErrNotPositive = resp.Error("ERR value is out of range, must be positive")

const ErrOverflow = resp.Error("ERR increment or decrement would overflow")

const ErrNaNInfinity = resp.Error("ERR increment would produce NaN or Infinity")

const ErrTooLong = resp.Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)")

const ErrNoSuchKey = resp.Error("ERR no such key")

const ErrSameObject = resp.Error("ERR source and destination objects are the same")

const ErrDatabase = resp.Error("ERR DB index is out of range")

// Is compares an argument with an option's name in upper case, as Redis does:
// without regard to case.
func Is(arg []byte, name string) bool {
	return len(arg) == len(name) && bytes.EqualFold(arg, []byte(name))
}

// ErrArity is the answer to a wrong number of arguments where the table's
// bounds do not tell, such as a key without its value.
func ErrArity(c *Call) error {
	return wrongArity(strings.ToLower(c.Cmd.Name))
}

// ErrExpireTime is the answer to an expiry that is not a moment.
func ErrExpireTime(c *Call) error {
	return resp.Error("ERR invalid expire time in '" + strings.ToLower(c.Cmd.Name) + "' command")
}
