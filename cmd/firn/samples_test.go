package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A sample is what somebody types, and what is answered, in a fenced block of
// a page. Three beginnings of a line make one:
//
//	$ firn log orders.db          a command line
//	$ redis-cli -3                the connection of the samples that follow
//	127.0.0.1:6379> GET price     a command on that connection
//
// The lines behind are the output, as it was once. What differs from run to
// run is compared in kind: a time it took, a size. A moment stands for one
// moment all over the page: whoever writes it in a command must have been told
// it before, and two moments are in the order of their numbers.

// sample is one command and its output.
type sample struct {
	line    int
	redis   bool // a command for the server, and not for the shell
	command string
	want    []string
}

// block is what stands between two fences.
type block struct {
	line     int
	language string
	text     []string
}

var prompt = regexp.MustCompile(`^127\.0\.0\.1:6379(\[\d+\])?> `)

// fenced finds the blocks of a page.
func fenced(page string) []block {
	var all []block
	inside, n := false, 0
	for line := range strings.Lines(page) {
		n++
		line = strings.TrimSuffix(line, "\n")
		language, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !inside:
			all = append(all, block{line: n, language: language})
			inside = true
		case fence:
			inside = false
		case inside:
			last := &all[len(all)-1]
			last.text = append(last.text, line)
		}
	}
	return all
}

// samples are those of one block: none, when it begins with something else.
func (b block) samples() []sample {
	var all []sample
	for i, line := range b.text {
		s := sample{line: b.line + 1 + i}
		if typed := prompt.FindString(line); typed != "" {
			s.redis, s.command = true, line[len(typed):]
		} else if command, found := strings.CutPrefix(line, "$ "); found {
			s.command = command
		} else if len(all) > 0 {
			last := &all[len(all)-1]
			last.want = append(last.want, line)
			continue
		} else {
			return nil
		}
		all = append(all, s)
	}
	return all
}

// changing is what differs from run to run: a moment as a number, a time or a token,
// and then how large, how fast, and how long.
var changing = regexp.MustCompile(`(` + aMoment + `)|(\b[\d.]+ [kMG]?B\b)|(\b[\d.]+(?:µs|ms|s)\b|"elapsed_ms" => \(integer\) \d+)`)

const aMoment = `\b1\d{15}\b|\b\d{4}-\d\d-\d\dT[\d:]+(?:\.\d+)?Z|@[-\w]{32}`

var typedMoment = regexp.MustCompile(aMoment)

// piece is some text, of a kind: 0 does not change.
type piece struct {
	kind int
	text string
}

// moment is the kind of what is the same all over a page.
const moment = 1

// pieces cuts a line where it changes. How many blanks there are is no matter:
// columns are as wide as what is in them.
func pieces(line string) []piece {
	line = strings.Join(strings.Fields(line), " ")
	var all []piece
	end := 0
	for _, at := range changing.FindAllStringSubmatchIndex(line, -1) {
		all = append(all, piece{0, line[end:at[0]]})
		for kind := 1; 2*kind < len(at); kind++ {
			if at[2*kind] >= 0 {
				all = append(all, piece{kind, line[at[0]:at[1]]})
			}
		}
		end = at[1]
	}
	return append(all, piece{0, line[end:]})
}

// moments are those of a page, and what they are this time.
type moments map[string]string

// fill puts the moments of this time into a command.
func (m moments) fill(command string) (string, error) {
	var unknown error
	filled := typedMoment.ReplaceAllStringFunc(command, func(text string) string {
		if now, known := m[text]; known {
			return now
		}
		unknown = fmt.Errorf("no output before says %q: whoever follows the page cannot know it", text)
		return text
	})
	return filled, unknown
}

// agree compares an output with the one on the page, and returns what is wrong.
func (m moments) agree(want, got []string) error {
	if len(want) != len(got) {
		return fmt.Errorf("got %d lines, want %d", len(got), len(want))
	}
	for i := range want {
		ours, theirs := pieces(want[i]), pieces(got[i])
		same := func(a, b piece) bool { return a.kind == b.kind && (a.kind != 0 || a.text == b.text) }
		if !slices.EqualFunc(ours, theirs, same) {
			return fmt.Errorf("line %d: got %q, want %q", i+1, got[i], want[i])
		}
		for j, p := range ours {
			if p.kind == moment {
				if err := m.bind(p.text, theirs[j].text); err != nil {
					return fmt.Errorf("line %d: %w", i+1, err)
				}
			}
		}
	}
	return nil
}

// bind says what a moment of the page is this time.
func (m moments) bind(page, now string) error {
	if before, known := m[page]; known {
		if before != now {
			return fmt.Errorf("%s is %s here, and was %s before", page, now, before)
		}
		return nil
	}
	for other, is := range m {
		ordered := !strings.HasPrefix(page, "@") // tokens are not in the order of their letters
		if ordered && len(other) == len(page) && len(is) == len(now) && strings.Compare(other, page) != strings.Compare(is, now) {
			return fmt.Errorf("%s and %s are in another order: %s and %s", other, page, is, now)
		}
	}
	m[page] = now
	return nil
}

func TestSamplesAreFoundInAPage(t *testing.T) {
	const page = "text\n```\n$ firn log a.db\none\ntwo\n127.0.0.1:6379[1]> GET k\n\"v\"\n```\n```go\nx := 1\n```\n```\nno sample\n$ firn\n```\n"
	var got []string
	for _, b := range fenced(page) {
		got = append(got, fmt.Sprintf("%d %s %+v", b.line, b.language, b.samples()))
	}
	want := []string{
		"2  [{line:3 redis:false command:firn log a.db want:[one two]} {line:6 redis:true command:GET k want:[\"v\"]}]",
		"9 go []",
		"12  []",
	}
	if !slices.Equal(got, want) {
		t.Errorf("blocks:\n got %q\nwant %q", got, want)
	}
}

func TestOutputsAgreeButForWhatChanges(t *testing.T) {
	for _, tt := range []struct {
		want, got string
		agree     bool
	}{
		{"OK", "OK", true},
		{"OK", "(error) ERR", false},
		{"a", "a\nb", false},
		{"a  12.8 MB in 22.5s", "a   2 kB in 1.000ms", true},
		{"a 12.8 MB", "a 12.8", false},
		{`"elapsed_ms" => (integer) 34`, `"elapsed_ms" => (integer) 0`, true},
		{`"versions" => (integer) 34`, `"versions" => (integer) 0`, false},
		{"ts 1795240549278055", "ts 1800000000000000", true},
		{"1795240549278055 1795240549278055", "1800000000000000 1800000000000000", true},
		{"1795240549278055 1795240549278055", "1800000000000000 1800000000000001", false},
		{"1795240549278055 1795240549278056", "1800000000000000 1800000000000000", false},
		{"1795240549278055 1795240549278056", "1800000000000001 1800000000000000", false},
		{"2026-11-21T11:49:00Z", "2027-01-01T00:00:00.123456Z", true},
		{"2026-11-21T11:49:00Z", "today", false},
		{"@lR5v8sy1TiGIn1bZ1qzSlAAGAZn5BWbA", "@AR5v8sy1TiGIn1bZ1qzSlAAGAZn5BWb_", true},
		{"@lR5v8sy1TiGIn1bZ1qzSlAAGAZn5BWbA", "@l", false},
	} {
		err := moments{}.agree(strings.Split(tt.want, "\n"), strings.Split(tt.got, "\n"))
		if (err == nil) != tt.agree {
			t.Errorf("%q and %q: got %v, want agreement %t", tt.want, tt.got, err, tt.agree)
		}
	}
}
