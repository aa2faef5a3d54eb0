package lua

import (
	"strings"

	"github.com/firndb/firn/internal/lua/val"
)

// Limits of matching.
const (
	maxCaptures = 32 // LUA_MAXCAPTURES

	// maxMatchDepth is how many pieces of a pattern may wait for each other.
	// Lua 5.1 has no limit, and ends when C's stack does.
	maxMatchDepth = 20_000
)

// Lengths of captures that are none.
const (
	captureOpen     = -1
	capturePosition = -2
)

// matcher matches a pattern. Each step is counted, so that one which goes back
// for ever ends when its program does.
type matcher struct {
	th    *thread
	s, p  string
	start int // of the pattern, behind its anchor
	level int
	depth int
	cap   [maxCaptures]struct{ at, size int }
}

// newMatcher begins to match. A pattern ends at its first zero, as in C.
func newMatcher(th *thread, s, p string) *matcher {
	p, _, _ = strings.Cut(p, "\x00")
	return &matcher{th: th, s: s, p: p}
}

// anchor takes the anchor off the pattern.
func (m *matcher) anchor() bool {
	if strings.HasPrefix(m.p, "^") {
		m.start = 1
		return true
	}
	return false
}

// from matches at a position, and is where the match ends or -1.
func (m *matcher) from(at int) int {
	m.level = 0
	return m.match(at, m.start)
}

// match matches the pattern from p on with the string from s on.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		m.th.libError("pattern too complex")
	}
	defer func() { m.depth-- }()
	for p < len(m.p) {
		m.th.m.spend(1)
		switch c := m.p[p]; {
		case c == '(':
			return m.open(s, p)
		case c == ')':
			return m.close(s, p+1)
		case c == '%' && p+1 < len(m.p) && (m.p[p+1] == 'b' || m.p[p+1] == 'f' || isDigit(m.p[p+1])):
			var ok bool
			if s, p, ok = m.special(s, p+1); !ok {
				return -1
			}
			continue
		case c == '$' && p+1 == len(m.p):
			if s == len(m.s) {
				return s
			}
			return -1
		}
		end := m.classEnd(p)
		next := byte(0)
		if end < len(m.p) {
			next = m.p[end]
		}
		switch next {
		case '?':
			if m.single(s, p, end) {
				if r := m.match(s+1, end+1); r >= 0 {
					return r
				}
			}
			p = end + 1
		case '*':
			return m.longest(s, p, end)
		case '+':
			if !m.single(s, p, end) {
				return -1
			}
			return m.longest(s+1, p, end)
		case '-':
			return m.shortest(s, p, end)
		default:
			if !m.single(s, p, end) {
				return -1
			}
			s, p = s+1, end
		}
	}
	return s
}

// special matches %b, %f and %1 to %9.
func (m *matcher) special(s, p int) (int, int, bool) {
	switch c := m.p[p]; c {
	case 'b':
		s = m.balance(s, p+1)
		return s, p + 3, s >= 0
	case 'f':
		if p++; p >= len(m.p) || m.p[p] != '[' {
			m.th.libError("missing '[' after '%%f' in pattern")
		}
		end := m.classEnd(p)
		before, now := byte(0), byte(0)
		if s > 0 {
			before = m.s[s-1]
		}
		if s < len(m.s) {
			now = m.s[s]
		}
		return s, end, !m.inSet(before, p, end-1) && m.inSet(now, p, end-1)
	default:
		s = m.back(s, c)
		return s, p + 1, s >= 0
	}
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.p) {
		m.th.libError("unbalanced pattern")
	}
	if s >= len(m.s) || m.s[s] != m.p[p] {
		return -1
	}
	first, last, depth := m.p[p], m.p[p+1], 1
	for i := s + 1; i < len(m.s); i++ {
		switch m.s[i] {
		case last:
			if depth--; depth == 0 {
				m.th.m.spend(int64(i-s) >> 4)
				return i + 1
			}
		case first:
			depth++
		}
	}
	m.th.m.spend(int64(len(m.s)-s) >> 4)
	return -1
}

func (m *matcher) back(s int, c byte) int {
	l := int(c) - '1'
	if l < 0 || l >= m.level || m.cap[l].size == captureOpen {
		m.th.libError("invalid capture index")
	}
	size := m.cap[l].size
	if size < 0 {
		return -1 // a position has no text to match again
	}
	if len(m.s)-s >= size && m.s[m.cap[l].at:m.cap[l].at+size] == m.s[s:s+size] {
		return s + size
	}
	return -1
}

func (m *matcher) open(s, p int) int {
	size := captureOpen
	if p++; p < len(m.p) && m.p[p] == ')' {
		size = capturePosition
		p++
	}
	if m.level >= maxCaptures {
		m.th.libError("too many captures")
	}
	m.cap[m.level].at, m.cap[m.level].size = s, size
	m.level++
	r := m.match(s, p)
	if r < 0 {
		m.level--
	}
	return r
}

func (m *matcher) close(s, p int) int {
	l := m.level - 1
	for l >= 0 && m.cap[l].size != captureOpen {
		l--
	}
	if l < 0 {
		m.th.libError("invalid pattern capture")
	}
	m.cap[l].size = s - m.cap[l].at
	r := m.match(s, p)
	if r < 0 {
		m.cap[l].size = captureOpen
	}
	return r
}

func (m *matcher) longest(s, p, end int) int {
	i := 0
	for m.single(s+i, p, end) {
		i++
	}
	m.th.m.spend(int64(i) >> 3)
	for ; i >= 0; i-- {
		if r := m.match(s+i, end+1); r >= 0 {
			return r
		}
	}
	return -1
}

func (m *matcher) shortest(s, p, end int) int {
	for {
		if r := m.match(s, end+1); r >= 0 {
			return r
		}
		if !m.single(s, p, end) {
			return -1
		}
		s++
	}
}

// classEnd is where the single-character class at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.p[p]
	p++
	switch c {
	case '%':
		if p >= len(m.p) {
			m.th.libError("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if p < len(m.p) && m.p[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.p) || m.p[p] != ']'; first = false {
			if p >= len(m.p) {
				m.th.libError("malformed pattern (missing ']')")
			}
			if m.p[p] == '%' && p+1 < len(m.p) {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

// single says whether the class from p to end matches the byte at s.
func (m *matcher) single(s, p, end int) bool {
	if s >= len(m.s) {
		return false
	}
	c := m.s[s]
	switch m.p[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.p[p+1])
	case '[':
		return m.inSet(c, p, end-1)
	}
	return m.p[p] == c
}

// inSet says whether a byte is in the set from p to its closing bracket.
func (m *matcher) inSet(c byte, p, end int) bool {
	in := true
	if p++; m.p[p] == '^' {
		in = false
		p++
	}
	for ; p < end; p++ {
		switch {
		case m.p[p] == '%':
			p++
			if inClass(c, m.p[p]) {
				return in
			}
		case p+2 < end && m.p[p+1] == '-':
			if m.p[p] <= c && c <= m.p[p+2] {
				return in
			}
			p += 2
		case m.p[p] == c:
			return in
		}
	}
	return !in
}

func inClass(c, class byte) bool {
	var in bool
	letter := c|0x20 >= 'a' && c|0x20 <= 'z'
	switch class | 0x20 {
	case 'a':
		in = letter
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = isDigit(c)
	case 'l':
		in = c >= 'a' && c <= 'z'
	case 'p':
		in = c > 32 && c < 127 && !letter && !isDigit(c)
	case 's':
		in = isSpace(c)
	case 'u':
		in = c >= 'A' && c <= 'Z'
	case 'w':
		in = letter || isDigit(c)
	case 'x':
		in = isHex(c)
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if class >= 'a' {
		return in
	}
	return class >= 'A' && !in || class < 'A' && class == c
}

// capture is capture l of a match; the whole match when there are none.
func (m *matcher) capture(l, at, end int) value {
	if l >= m.level {
		if l != 0 {
			m.th.libError("invalid capture index")
		}
		return pieceOf(m.th, m.s, at, end)
	}
	c := m.cap[l]
	switch c.size {
	case captureOpen:
		m.th.libError("unfinished capture")
	case capturePosition:
		return val.Number(c.at + 1)
	}
	return pieceOf(m.th, m.s, c.at, c.at+c.size)
}

// captures are all captures of a match, or the match when whole is asked for.
func (m *matcher) captures(at, end int, whole bool) []value {
	n := m.level
	if n == 0 && whole {
		n = 1
	}
	r := make([]value, n)
	for i := range r {
		r[i] = m.capture(i, at, end)
	}
	return r
}
