package redis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firndb/firn/redis/command"
)

// hidesSecret says whether a command is AT with one in its arguments that is
// not shown, or not as it is: AT refuses those, but a password was typed.
func hidesSecret(t *command.Registry, e *command.Entry, args [][]byte) bool {
	for e != nil && e.Wraps != nil && len(args) > 1 {
		words := e.Wraps(args)
		if len(words) == 0 {
			return false
		}
		if e, _, _ = t.Resolve(words); e == nil { // it may be a container, with a subcommand misspelt
			e, _, _ = t.Resolve(words[:1])
		}
		if e != nil && (isSecret(e) || slices.ContainsFunc(e.Sub, isSecret)) {
			return true
		}
		args = words[1:]
	}
	return false
}

// isSecret says whether a command's arguments are nobody else's business.
func isSecret(e *command.Entry) bool { return e.Flags&(command.Admin|command.Skip) != 0 }

// monitorLine is a command as MONITOR shows it: run at now in a database, for
// the client at address peer.
func monitorLine(now time.Time, db int, peer string, e *command.Entry, words [][]byte) []byte {
	at := now.UnixMicro()
	line := fmt.Appendf(nil, "+%d.%06d [%d ", at/1e6, at%1e6, db)
	if path, ok := strings.CutSuffix(peer, ":0"); ok && strings.HasPrefix(path, "/") {
		line = append(append(line, "unix:"...), path...)
	} else {
		line = append(line, peer...)
	}
	line = append(line, ']')
	var secret []int
	if e.Secrets != nil {
		secret = e.Secrets(words[1:])
	}
	for i, word := range words {
		line = append(line, ' ')
		if slices.Contains(secret, i-1) {
			line = append(line, `"(redacted)"`...)
			continue
		}
		line = appendQuoted(line, word)
	}
	return append(line, '\r', '\n')
}

// appendQuoted appends b in double quotes, with what cannot be printed
// escaped as Redis does it.
func appendQuoted(dst, b []byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range b {
		switch c {
		case '\\', '"':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		case '\a':
			dst = append(dst, `\a`...)
		case '\b':
			dst = append(dst, `\b`...)
		default:
			if ' ' <= c && c <= '~' {
				dst = append(dst, c)
			} else {
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, '"')
}
