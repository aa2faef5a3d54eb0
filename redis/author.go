package redis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firndb/firn"
	"github.com/firndb/firn/resp"
)

// Who wrote a version: each transaction of a session says so, and the store
// keeps it beside every row. What the server does of its own accord, as when
// it ends keys that have expired, says nobody.

// How much of each part is kept, 1 KiB in all: what the store takes.
const (
	maxAuthorNameBytes    = 192 // of a user's name, and of a client's: longer ones are cut
	maxAuthorAddressBytes = 128 // above the longest path of a Unix socket
	maxReasonBytes        = 512 // more is refused
)

const errReason = resp.Error("ERR reason must be one line of printable text, at most 512 bytes")

// identity is what a client says about itself.
type identity struct {
	name, library, libraryVersion string

	reason string // why it writes
}

// author is what a transaction says about who wrote: a user, and its client
// at address peer.
func (who *identity) author(user, peer string) firn.Author {
	return firn.Author{
		User:    authorText(user, maxAuthorNameBytes),
		Client:  authorText(who.name, maxAuthorNameBytes),
		Address: authorText(host(peer), maxAuthorAddressBytes),
		Reason:  who.reason,
	}
}

// authorText is text as the store takes it: what is cut ends with an ellipsis.
func authorText(text string, limit int) string {
	const replacement, ellipsis = "\uFFFD", "…"
	text = strings.ToValidUTF8(text, replacement)
	if len(text) <= limit {
		return text
	}
	end := limit - len(ellipsis)
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// host is an address without the port, which says nothing once the connection
// has ended: an IP address, or a Unix socket's path.
func host(address string) string {
	if i := strings.LastIndexByte(address, ':'); i >= 0 {
		address = address[:i]
	}
	return strings.TrimSuffix(strings.TrimPrefix(address, "["), "]")
}

// setReason is CLIENT SETINFO REASON.
func (who *identity) setReason(text []byte) error {
	if len(text) > maxReasonBytes || !utf8.Valid(text) {
		return errReason
	}
	reason := string(text)
	if strings.ContainsFunc(reason, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errReason
	}
	who.reason = reason
	return nil
}
