package resp

import "bytes"

// readInline reads a command that is a line of words. It returns false if the
// line is not there yet, or is wrong. The words are left in places; a blank
// line has none.
func (r *Reader) readInline() bool {
	at := r.findLineEnd('\n', errInline)
	if at < 0 {
		return false
	}
	line := r.buf[r.pos : r.pos+at]
	if at > 0 && line[at-1] == '\r' {
		line = line[:at-1]
	}
	s := splitter{line: line}
	for s.skipBlanks() {
		from := s.out + r.pos - r.start
		if !s.word() {
			r.err = errQuotes
			return false
		}
		if r.guest && len(r.places) == guestMaxWords {
			r.err = errGuestMultibulkLength
			return false
		}
		r.places = append(r.places, place{from, s.out + r.pos - r.start})
	}
	r.pos += at + 1
	return true
}

// Words takes a line apart into words as an inline command's is, see splitter.
// They are copies. ok is false if quotes do not close, or close within a word.
func Words(line []byte) (words [][]byte, ok bool) {
	s := splitter{line: bytes.Clone(line)}
	for s.skipBlanks() {
		from := s.out
		if !s.word() {
			return nil, false
		}
		words = append(words, s.line[from:s.out:s.out])
	}
	return words, true
}

// splitter takes a line apart into words, as redis-cli and Redis do:
//
//	plain          any bytes up to a blank
//	"double"       with \n \r \t \a \b, \xHH for a byte, \c for any other c
//	'single'       with \' only
//
// Quotes may begin inside a word, but a blank or the end has to follow
// where they close. Words are written back into the line: unquoting makes
// none longer.
type splitter struct {
	line []byte
	in   int // the next byte to read
	out  int // where the next byte of a word goes; out <= in
}

// skipBlanks goes to the next word. It returns false if there is none.
func (s *splitter) skipBlanks() bool {
	for s.in < len(s.line) && isBlank(s.line[s.in]) {
		s.in++
	}
	s.out = s.in
	return s.in < len(s.line)
}

// word reads one word. It returns false if its quotes do not close, or close
// in front of something else than a blank.
func (s *splitter) word() bool {
	for s.in < len(s.line) {
		c := s.line[s.in]
		s.in++
		switch c {
		case ' ', '\n', '\r', '\t':
			return true
		case '"', '\'':
			return s.quoted(c)
		default:
			s.put(c)
		}
	}
	return true
}

// quoted reads up to the quote that closes a word.
func (s *splitter) quoted(quote byte) bool {
	for s.in < len(s.line) {
		c := s.line[s.in]
		s.in++
		switch c {
		case quote:
			return s.in == len(s.line) || isBlank(s.line[s.in])
		case '\\':
			if quote == '"' {
				s.put(s.doubleEscape())
			} else {
				s.put(s.singleEscape())
			}
		default:
			s.put(c)
		}
	}
	return false
}

// doubleEscape reads what follows a backslash in double quotes, and returns
// the byte that it stands for.
func (s *splitter) doubleEscape() byte {
	rest := s.line[s.in:]
	if len(rest) == 0 {
		return '\\'
	}
	if len(rest) >= 3 && rest[0] == 'x' {
		high, ok1 := hexDigit(rest[1])
		low, ok2 := hexDigit(rest[2])
		if ok1 && ok2 {
			s.in += 3
			return high<<4 | low
		}
	}
	s.in++
	switch rest[0] {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'a':
		return '\a'
	case 'b':
		return '\b'
	}
	return rest[0]
}

// singleEscape does the same in single quotes, where a backslash mostly
// stands for itself.
func (s *splitter) singleEscape() byte {
	if s.in < len(s.line) && s.line[s.in] == '\'' {
		s.in++
		return '\''
	}
	return '\\'
}

func (s *splitter) put(c byte) {
	s.line[s.out] = c
	s.out++
}

// isBlank is C's isspace.
func isBlank(c byte) bool { return c == ' ' || (c >= '\t' && c <= '\r') }

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}
