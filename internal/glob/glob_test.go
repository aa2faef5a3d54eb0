package glob

import (
	"bytes"
	"strings"
	"testing"
)

// A pattern fits what it fits in Redis, and no pattern takes long.

var cases = []struct {
	pattern, s string
	want       bool
}{
	{"", "", true},
	{"", "a", false},
	{"*", "", false}, // odd, but so it is
	{"**", "", false},
	{"a", "", false},
	{"a", "a", true},
	{"a", "ab", false},
	{"ab", "a", false},
	{"*", "a", true},
	{"***", "abc", true},
	{"a*", "a", true},
	{"a**", "a", true},
	{"*a", "a", true},
	{"*a", "ba", true},
	{"*a", "ab", false},
	{"*aab", "aaab", true},
	{"a*c", "abcbc", true},
	{"a*b*c", "aXbYbZc", true},
	{"a*b*c", "aXbYbZ", false},
	{"*ab*ab*", "abab", true},
	{"*ab*ab*", "aba", false},
	{"?", "a", true},
	{"?", "", false},
	{"??", "a", false},
	{"a?c", "abc", true},
	{"*?", "a", true},
	{"*??", "a", false},
	{"[abc]", "b", true},
	{"[abc]", "d", false},
	{"[^abc]", "b", false},
	{"[^abc]", "d", true},
	{"[a-c]x", "bx", true},
	{"[c-a]x", "bx", true},
	{"[a-c", "b", true},
	{"[a-", "-", true},
	{"[a-]", "-", false}, // a range from a to the bracket
	{"[a-]", "]", true},
	{"[a-]", "^", true},
	{"[a-]x]", "]", true},
	{"[]", "a", false},
	{"[]a]", "a", false},
	{"[^]", "a", true},
	{"[", "[", false},
	{"[", "a", false},
	{"[^", "a", true},
	{"[^", "^", true},
	{"[\\]]", "]", true},
	{"[\\]", "]", true},
	{"[\\", "\\", true},
	{"[a\\-z]", "b", false},
	{"[a\\-z]", "-", true},
	{"[\\a-c]", "b", false},
	{"[*?]", "*", true},
	{"[*?]", "a", false},
	{"[a-\xff]", "b", false}, // \xff comes before a
	{"[a-\xff]", "Z", true},
	{"[\x80-\xff]", "\xc3", true},
	{"[\x80-\xff]", "a", false},
	{"a\\*", "a*", true},
	{"a\\*", "ab", false},
	{"a\\", "a\\", true},
	{"\\a\\b", "ab", true},
	{"\\\\", "\\", true},
	{"*\\*", "a*", true},
	{"*[a-c]?", "xbz", true},
	{"a\x00*", "a\x00b", true},
	{"é?", "éa", true},
	{"?", "é", false}, // two bytes
}

func TestMatchTable(t *testing.T) {
	for _, tt := range cases {
		if got := Match([]byte(tt.pattern), []byte(tt.s), false); got != tt.want {
			t.Errorf("pattern %q, string %q: got %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestCaseCanBeIgnored(t *testing.T) {
	for _, tt := range []struct {
		pattern, s      string
		want, wantExact bool
	}{
		{"HeLLo", "hEllO", true, false},
		{"[A-C]", "b", true, false},
		{"[a-c]", "B", true, false},
		{"[\\A]", "a", false, false}, // behind a backslash case counts
		{"\\A", "a", true, false},
		{"[^a]", "A", false, true},
		{"[`-{]", "@", false, false},
		{"\xc4", "\xe4", false, false},
	} {
		if got := Match([]byte(tt.pattern), []byte(tt.s), true); got != tt.want {
			t.Errorf("pattern %q, string %q, without case: got %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
		if got := Match([]byte(tt.pattern), []byte(tt.s), false); got != tt.wantExact {
			t.Errorf("pattern %q, string %q, with case: got %v, want %v", tt.pattern, tt.s, got, tt.wantExact)
		}
	}
}

// TestNoPatternTakesLong tries what takes others exponential time, and counts
// steps: at most as many as the lengths multiplied.
func TestNoPatternTakesLong(t *testing.T) {
	s := bytes.Repeat([]byte("a"), 1<<10)
	for _, pattern := range []string{
		strings.Repeat("a*", 100) + "b",
		strings.Repeat("*a", 100) + "*b",
		strings.Repeat("*[a-z]?", 100) + "b",
		strings.Repeat("*", 1<<16) + "b",
		"[" + strings.Repeat("b", 1<<16),
	} {
		m := matcher{pattern: []byte(pattern), budget: maxSteps}
		if m.match(s) {
			t.Errorf("%.20s…: got a match, want none", pattern)
		}
		if got, most := maxSteps-m.budget, len(pattern)*len(s); got > most {
			t.Errorf("%.20s…: got %d steps, want at most %d", pattern, got, most)
		}
	}
}

// TestWorkIsBounded asks for 2^38 steps with a budget of 2^20.
func TestWorkIsBounded(t *testing.T) {
	pattern := append([]byte("*"), bytes.Repeat([]byte("a"), 1<<18)...)
	m := matcher{pattern: pattern, budget: 1 << 20}
	if m.match(append(bytes.Repeat([]byte("a"), 1<<20), 'b')) {
		t.Errorf("got a match, want none")
	}
	if got := m.budget; got > 0 || got < -1 {
		t.Errorf("got a budget of %d left, want none", got)
	}
}

// TestLongLiteralsFit makes sure that the bound is not for the harmless.
func TestLongLiteralsFit(t *testing.T) {
	s := bytes.Repeat([]byte("a"), maxSteps+1)
	if !Match(s, s, false) {
		t.Errorf("got no match of a string with itself")
	}
}

func TestLiteralTable(t *testing.T) {
	for _, tt := range []struct {
		pattern, prefix string
		exact           bool
	}{
		{"", "", true},
		{"abc", "abc", true},
		{"abc*", "abc", false},
		{"*abc", "", false},
		{"ab?c", "ab", false},
		{"ab[c]", "ab", false},
		{"a\\*b*", "a*b", false},
		{"a\\*b", "a*b", true},
		{"a\\", "a\\", true},
		{"a\\\\", "a\\", true},
		{"a]b", "a]b", true},
		{"\x00\xff*", "\x00\xff", false},
	} {
		before := []byte(tt.pattern)
		prefix, exact := Literal(before)
		if string(prefix) != tt.prefix || exact != tt.exact {
			t.Errorf("%q: got %q %v, want %q %v", tt.pattern, prefix, exact, tt.prefix, tt.exact)
		}
		if string(before) != tt.pattern {
			t.Errorf("%q: the pattern became %q", tt.pattern, before)
		}
	}
}

// recursive is the definition: slow, and short enough to be believed. It
// shares only the comparison of single elements with the matcher.
func recursive(m *matcher, p int, s []byte) bool {
	switch {
	case p == len(m.pattern):
		return len(s) == 0
	case m.pattern[p] == '*':
		return recursive(m, p+1, s) || (len(s) > 0 && recursive(m, p, s[1:]))
	case len(s) == 0:
		return false
	}
	width, fits := m.element(p, s[0])
	return fits && recursive(m, p+width, s[1:])
}

// FuzzMatch compares with the definition, and with what Literal promises.
func FuzzMatch(f *testing.F) {
	for _, tt := range cases {
		f.Add([]byte(tt.pattern), []byte(tt.s), false)
		f.Add([]byte(tt.pattern), []byte(tt.s), true)
	}
	f.Fuzz(func(t *testing.T, pattern, s []byte, nocase bool) {
		if len(pattern) > 16 || len(s) > 16 {
			return // the definition takes exponential time
		}
		got := Match(pattern, s, nocase)
		m := &matcher{pattern: pattern, nocase: nocase}
		want := recursive(m, 0, s) && (len(s) > 0 || len(pattern) == 0)
		if got != want {
			t.Errorf("pattern %q, string %q: got %v, want %v", pattern, s, got, want)
		}
		prefix, exact := Literal(pattern)
		if got && !nocase && !bytes.HasPrefix(s, prefix) {
			t.Errorf("pattern %q, string %q: got a match without the prefix %q", pattern, s, prefix)
		}
		if exact && !nocase && got != bytes.Equal(s, prefix) {
			t.Errorf("pattern %q, string %q: got %v, want only %q to fit", pattern, s, got, prefix)
		}
	})
}

func TestMatchingAllocatesNothing(t *testing.T) {
	pattern, s := []byte("user:*:[a-z]?name"), []byte("user:12345:xyname")
	got := testing.AllocsPerRun(100, func() {
		if !Match(pattern, s, false) {
			t.Fatal("no match")
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func BenchmarkMatch(b *testing.B) {
	s := []byte("user:12345:session:token")
	for _, pattern := range []string{"user:*", "*token", "user:*:session:*", "user:[0-9]*:sess?on:token"} {
		b.Run("pattern="+pattern, func(b *testing.B) {
			for b.Loop() {
				Match([]byte(pattern), s, false)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "matches/s")
		})
	}
}
