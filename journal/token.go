package journal

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/firndb/firn/schema"
)

// Errors of this package. Callers test them with errors.Is.
var (
	// ErrToken means that a text is not a token.
	ErrToken = errors.New("journal: not a token")

	// ErrForked means that a token belongs to another line of history: the
	// store was restored or forked since, or is a different one.
	ErrForked = errors.New("journal: token of another incarnation")
)

// Token is where a reader stands: everything up to TS of the store with this
// incarnation.
type Token struct {
	Incarnation string // 32 hexadecimal digits
	TS          schema.Timestamp
}

// tokenMark starts every token, so that none can be taken for a number, a
// duration or a date.
const tokenMark = "@"

// tokenBytes is 16 of the incarnation and 8 of the timestamp, big endian.
const tokenBytes = 24

// tokenChars is the mark and tokenBytes in base64.
const tokenChars = 33

// String is the token as text: "@" and 32 characters of URL-safe base64.
func (t Token) String() string {
	raw, err := hex.DecodeString(t.Incarnation)
	if err != nil || len(raw) != tokenBytes-8 {
		raw = make([]byte, tokenBytes-8)
	}
	raw = binary.BigEndian.AppendUint64(raw, uint64(t.TS))
	return tokenMark + base64.RawURLEncoding.EncodeToString(raw)
}

// IsToken says whether a text can only be meant as a token.
func IsToken(text string) bool { return strings.HasPrefix(text, tokenMark) }

// ParseToken reads a token. What it accepts, String gives back.
func ParseToken(text string) (Token, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(text, tokenMark))
	// The text's length is compared too because the decoder skips line ends.
	if err != nil || !IsToken(text) || len(raw) != tokenBytes || len(text) != tokenChars {
		return Token{}, fmt.Errorf("%w: %q", ErrToken, text)
	}
	ts := schema.Timestamp(binary.BigEndian.Uint64(raw[tokenBytes-8:]))
	if ts < 0 {
		return Token{}, fmt.Errorf("%w: %q", ErrToken, text)
	}
	return Token{Incarnation: hex.EncodeToString(raw[:tokenBytes-8]), TS: ts}, nil
}

// In is the token's timestamp in the store with this incarnation; ErrForked
// if it belongs to another.
func (t Token) In(incarnation string) (schema.Timestamp, error) {
	if t.Incarnation != incarnation {
		return 0, fmt.Errorf("%w: %s, not %s", ErrForked, t.Incarnation, incarnation)
	}
	return t.TS, nil
}
