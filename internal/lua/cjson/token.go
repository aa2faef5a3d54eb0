package cjson

import (
	"strings"
	"unicode/utf8"

	"github.com/firndb/firn/internal/lua/number"
)

// kind is what a token is. Its text is how an error calls it.
type kind string

const (
	objectBegin kind = "T_OBJ_BEGIN"
	objectEnd   kind = "T_OBJ_END"
	arrayBegin  kind = "T_ARR_BEGIN"
	arrayEnd    kind = "T_ARR_END"
	text        kind = "T_STRING"
	numeric     kind = "T_NUMBER"
	boolean     kind = "T_BOOLEAN"
	null        kind = "T_NULL"
	colon       kind = "T_COLON"
	comma       kind = "T_COMMA"
	end         kind = "T_END"

	// The errors of a token.
	badToken   kind = "invalid token"
	badNumber  kind = "invalid number"
	badEscape  kind = "invalid escape code"
	badUnicode kind = "invalid unicode escape code"
	unfinished kind = "unexpected end of string"
)

// token is one word of JSON.
type token struct {
	kind   kind
	index  int     // where it begins, or where its error is
	text   string  // of text
	copied bool    // text had escapes, and is no part of the data
	value  float64 // of numeric
	truth  bool    // of boolean
}

// scanner cuts JSON into tokens. The JSON ends at its first NUL.
type scanner struct {
	data    string
	pos     int
	invalid bool // numbers are taken that JSON does not have
}

// at returns the byte at i, and NUL behind the end.
func (s *scanner) at(i int) byte {
	if i < len(s.data) {
		return s.data[i]
	}
	return 0
}

// next returns the next token. One that is an error, or the end, is returned
// again.
func (s *scanner) next() token {
	for isBlank(s.at(s.pos)) {
		s.pos++
	}
	t := token{index: s.pos}
	if kind := punctuation(s.at(s.pos)); kind != "" {
		t.kind = kind
		s.pos++
		return t
	}
	rest := s.data[min(s.pos, len(s.data)):]
	switch c := s.at(s.pos); {
	case c == 0:
		t.kind = end
	case c == '"':
		s.string(&t)
	case c == '-' || '0' <= c && c <= '9':
		if !s.invalid && isInvalid(rest) {
			t.kind = badNumber
			break
		}
		s.number(&t, rest)
	case s.word(rest, "true"):
		t.kind, t.truth = boolean, true
	case s.word(rest, "false"):
		t.kind = boolean
	case s.word(rest, "null"):
		t.kind = null
	case s.invalid && strings.IndexByte("+iInN", c) >= 0 && isInvalid(rest):
		s.number(&t, rest)
	default:
		t.kind = badToken
	}
	return t
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func punctuation(c byte) kind {
	switch c {
	case '{':
		return objectBegin
	case '}':
		return objectEnd
	case '[':
		return arrayBegin
	case ']':
		return arrayEnd
	case ':':
		return colon
	case ',':
		return comma
	}
	return ""
}

// word takes a word if it is next.
func (s *scanner) word(rest, word string) bool {
	if !strings.HasPrefix(rest, word) {
		return false
	}
	s.pos += len(word)
	return true
}

// isInvalid tells whether C reads a number here that JSON does not have: with a
// plus, leading zeros or hexadecimal digits, infinity, or not a number.
func isInvalid(rest string) bool {
	if rest[0] == '+' {
		return true
	}
	rest = strings.TrimPrefix(rest, "-")
	if len(rest) > 1 && rest[0] == '0' {
		return rest[1]|0x20 == 'x' || '0' <= rest[1] && rest[1] <= '9'
	}
	return len(rest) >= 3 && (strings.EqualFold(rest[:3], "inf") || strings.EqualFold(rest[:3], "nan"))
}

func (s *scanner) number(t *token, rest string) {
	value, n := number.Prefix(rest)
	t.kind, t.value = numeric, value
	if n == 0 {
		t.kind = badNumber
	}
	s.pos += n
}

// string reads a string, which begins with its quote. One without escapes is
// a part of the data and not copied.
func (s *scanner) string(t *token) {
	s.pos++
	start := s.pos
	var out []byte
	for {
		switch c := s.at(s.pos); c {
		case '"':
			t.kind = text
			t.text = s.data[start:s.pos]
			if out != nil {
				t.text, t.copied = string(append(out, t.text...)), true
			}
			s.pos++
			return
		case 0:
			t.kind, t.index = unfinished, s.pos
			return
		case '\\':
			out = append(out, s.data[start:s.pos]...)
			letter, problem := s.escape()
			if problem != "" {
				t.kind, t.index = problem, s.pos
				return
			}
			out = append(out, letter...)
			start = s.pos
		default:
			s.pos++
		}
	}
}

// escape reads what begins with a backslash. Where it is wrong the scanner
// stays there.
func (s *scanner) escape() (letter string, problem kind) {
	c := s.at(s.pos + 1)
	if c == 'u' {
		return s.unicode()
	}
	i := strings.IndexByte(`"\/btnfr`, c)
	if i < 0 || c == 0 {
		return "", badEscape
	}
	s.pos += 2
	return "\"\\/\b\t\n\f\r"[i : i+1], ""
}

// unicode reads \u and four digits, or two of those that are the halves of one
// code point.
func (s *scanner) unicode() (letter string, problem kind) {
	point, ok := s.hex4(s.pos + 2)
	size := len(`\u0000`)
	if ok && point&0xF800 == 0xD800 {
		low, lowOK := s.hex4(s.pos + size + 2)
		ok = point&0x400 == 0 && s.at(s.pos+size) == '\\' && s.at(s.pos+size+1) == 'u' && lowOK && low&0xFC00 == 0xDC00
		point = (point&0x3FF<<10 | low&0x3FF) + 0x10000
		size *= 2
	}
	if !ok {
		return "", badUnicode
	}
	s.pos += size
	return string(utf8.AppendRune(nil, point)), ""
}

// hex4 reads four hexadecimal digits.
func (s *scanner) hex4(at int) (v rune, ok bool) {
	for i := range 4 {
		c := s.at(at + i)
		switch lower := c | 0x20; {
		case '0' <= c && c <= '9':
			v = v<<4 | rune(c-'0')
		case 'a' <= lower && lower <= 'f':
			v = v<<4 | rune(lower-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
