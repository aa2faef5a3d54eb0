// Package glob matches byte strings with the patterns of KEYS, SCAN and
// PSUBSCRIBE.
//
//	pattern  fits
//	*        any bytes, or none
//	?        one byte
//	[abc]    one of these bytes; [^abc] none of them; [a-z] a range
//	\c       the byte c
//
// The grammar is Redis 7.0.15's, and in Redis every byte string is a
// pattern: a class that is not closed reaches to the end of the pattern, a
// backslash at the end stands for itself, and bytes above 0x7f come before
// all others in a range. What matches here matches there.
//
// A byte is a byte: there is no UTF-8 here, and ignoring case concerns A to
// Z only.
package glob

import "bytes"

// maxSteps bounds the work of one Match. A star can make it try the rest of
// the pattern at every byte of the string, which is the product of their
// lengths: for a megabyte each, a quarter of an hour. 64 Mi steps take well
// under a second, and are enough for a pattern of 1 KiB and a string of
// 64 KiB.
const maxSteps = 64 << 20

// Match reports whether the whole of s fits the pattern. As in Redis, an
// empty s fits an empty pattern only, not even *; KEYS and SCAN answer for a
// lone * without asking.
//
// The work is bounded: a pattern and a string that are both very long and
// need more than 64 Mi steps beyond reading the pattern once do not match.
func Match(pattern, s []byte, nocase bool) bool {
	if len(s) == 0 {
		return len(pattern) == 0
	}
	m := matcher{pattern: pattern, nocase: nocase, budget: maxSteps + len(pattern)}
	return m.match(s)
}

// Literal returns the bytes that everything that fits the pattern begins
// with, so that a scan can start there. exact is true if they are all of it:
// then nothing but the prefix itself fits. Both hold only where case counts.
//
// The prefix aliases the pattern unless that contains a backslash.
func Literal(pattern []byte) (prefix []byte, exact bool) {
	special := bytes.IndexAny(pattern, `*?[\`)
	if special < 0 {
		return pattern, true
	}
	prefix = pattern[:special:special]
	for i := special; i < len(pattern); i++ {
		c := pattern[i]
		switch {
		case c == '*' || c == '?' || c == '[':
			return prefix, false
		case c == '\\' && i+1 < len(pattern):
			i++
			c = pattern[i]
		}
		prefix = append(prefix, c)
	}
	return prefix, true
}

// matcher holds what one Match knows.
type matcher struct {
	pattern []byte
	nocase  bool
	budget  int // steps left
}

// match walks along the pattern and s. When they part it returns to the last
// star and lets that take one byte more. Earlier stars need no second try:
// whatever they could take, the last one can take as well, so the time is
// the product of the lengths at worst and never exponential.
func (m *matcher) match(s []byte) bool {
	p, i := 0, 0
	afterStar, taken := -1, 0 // the pattern behind the last star, and the end of what that took
	for i < len(s) {
		if p < len(m.pattern) && m.pattern[p] == '*' {
			p++
			afterStar, taken = p, i
			continue
		}
		if p < len(m.pattern) {
			width, fits := m.element(p, s[i])
			m.budget -= width
			if m.budget < 0 {
				return false
			}
			if fits {
				p += width
				i++
				continue
			}
		}
		if afterStar < 0 {
			return false
		}
		if afterStar == len(m.pattern) {
			return true
		}
		m.budget--
		taken++
		p, i = afterStar, taken
	}
	for p < len(m.pattern) && m.pattern[p] == '*' {
		p++
	}
	return p == len(m.pattern)
}

// element compares c with the element at p, which is no star, and returns
// the element's length.
func (m *matcher) element(p int, c byte) (width int, fits bool) {
	switch m.pattern[p] {
	case '?':
		return 1, true
	case '[':
		return m.class(p, c)
	case '\\':
		if p+1 < len(m.pattern) {
			return 2, m.equal(m.pattern[p+1], c)
		}
	}
	return 1, m.equal(m.pattern[p], c)
}

// class compares c with the class at p. A class ends with the first bracket
// that is not escaped and not the end of a range, even if it is empty then.
func (m *matcher) class(p int, c byte) (width int, fits bool) {
	from := p
	p++
	negated := p < len(m.pattern) && m.pattern[p] == '^'
	if negated {
		p++
	}
	for p < len(m.pattern) && m.pattern[p] != ']' {
		rest := m.pattern[p:]
		switch {
		case rest[0] == '\\' && len(rest) >= 2:
			fits = fits || rest[1] == c // in any case, case counts here
			p += 2
		case len(rest) >= 3 && rest[1] == '-':
			fits = fits || m.within(rest[0], rest[2], c)
			p += 3
		default:
			fits = fits || m.equal(rest[0], c)
			p++
		}
	}
	if p < len(m.pattern) {
		p++ // the bracket
	}
	return p - from, fits != negated
}

// within reports whether c lies between two bytes, given in either order.
// Redis compares them as C's char, which has a sign.
func (m *matcher) within(from, to, c byte) bool {
	low, high, at := int8(from), int8(to), int8(c)
	if low > high {
		low, high = high, low
	}
	if m.nocase {
		low, high, at = int8(lower(byte(low))), int8(lower(byte(high))), int8(lower(c))
	}
	return low <= at && at <= high
}

func (m *matcher) equal(a, b byte) bool {
	return a == b || (m.nocase && lower(a) == lower(b))
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
