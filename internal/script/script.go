// Package script runs tests that are written as text.
//
// A script is a file of stanzas. A stanza is a line with a verb and its
// arguments, more input lines if it needs any, a line of four dashes, and the
// output that is expected, up to a blank line:
//
//	# A reader between two versions sees the older one.
//	get id=a at=3
//	----
//	one @1 prev=0
//
// Arguments are separated by spaces. One is either key=value or a word alone.
// A value or a word may be a quoted Go string ("a b\x00" or `a b`); a quoted
// word is never split at its =. Lines that start with # between stanzas are
// comments.
//
// An output with a blank line in it, or one that could be mistaken for the
// end of a stanza, stands between two doubled lines of dashes:
//
//	dump
//	----
//	----
//	first
//
//	second
//	----
//	----
//
// [Run] gives every stanza to a function and compares what it returns. With
// UPDATE=1 in the environment the outputs in the file are rewritten instead,
// and a stanza may still lack its dashes. Comments and order are kept.
//
// The package does not know what a verb means, keeps no state between
// stanzas and sets none up between files: use [Each] and [Play] where a file
// needs something of its own.
package script

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// updateVariable is the environment variable that turns a run into a rewrite
// of the expected outputs. Only the value 1 does.
const updateVariable = "UPDATE"

// Call is one stanza's question.
type Call struct {
	Verb  string            // the first word; never empty
	Args  map[string]string // the key=value arguments; a key stands once
	Words []string          // the words without a key, in order
	Line  string            // the verb's line as it stands in the file
	Input string            // the lines between that line and the dashes, joined by newlines
	Pos   string            // file:line of the verb
}

// Has reports whether key was given, as key=value or as a word alone.
func (c Call) Has(key string) bool {
	if _, ok := c.Args[key]; ok {
		return true
	}
	for _, word := range c.Words {
		if word == key {
			return true
		}
	}
	return false
}

// Int is the argument key as a decimal integer, or otherwise if key was not
// given. A value that is no integer ends the test.
func (c Call) Int(t testing.TB, key string, otherwise int64) int64 {
	t.Helper()
	value, ok := c.Args[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		t.Fatalf("%s: %s=%q is not an integer", c.Pos, key, value)
	}
	return n
}

// Run plays every file that matches glob in a subtest of its own, named after
// the file. A glob that matches nothing fails the test.
func Run(t *testing.T, glob string, answer func(t *testing.T, c Call) string) {
	t.Helper()
	Each(t, glob, func(t *testing.T, path string) {
		Play(t, path, func(c Call) string { return answer(t, c) })
	})
}

// Each runs one subtest for every file that matches glob. A glob that matches
// nothing fails the test.
func Each(t *testing.T, glob string, each func(t *testing.T, path string)) {
	t.Helper()
	paths, err := filepath.Glob(glob)
	if err != nil {
		t.Fatalf("script: glob %q: %v", glob, err)
	}
	if len(paths) == 0 {
		t.Fatalf("script: nothing matches %q", glob)
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		t.Run(name, func(t *testing.T) { each(t, path) })
	}
}

// Play runs the script at path. A stanza whose answer differs from the file
// fails the test, and the ones after it still run. When UPDATE=1 is set the
// file is rewritten with the answers, unless the test has failed by then.
func Play(t *testing.T, path string, answer func(c Call) string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("script: %v", err)
	}
	parsed, err := parse(path, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(updateVariable) != "1" {
		for _, complaint := range parsed.compare(answer) {
			t.Error(complaint)
		}
		return
	}
	if err := parsed.record(answer); err != nil {
		t.Fatal(err)
	}
	updated := parsed.String()
	if t.Failed() || updated == string(text) {
		return
	}
	if err := os.WriteFile(path, []byte(updated), 0o644); err != nil {
		t.Fatalf("script: %v", err)
	}
}

// compare returns one complaint for every stanza that answers otherwise than
// the file says.
func (f *file) compare(answer func(c Call) string) []string {
	var complaints []string
	for _, s := range f.stanzas {
		got := trimNewline(answer(s.call))
		switch {
		case !s.hasOutput:
			complaints = append(complaints, fmt.Sprintf(
				"%s: %s\nno line of dashes follows; UPDATE=1 adds it\n got %s", s.call.Pos, s.call.Line, show(got)))
		case got != s.output:
			complaints = append(complaints, fmt.Sprintf(
				"%s: %s\n got %s\nwant %s", s.call.Pos, s.call.Line, show(got), show(s.output)))
		}
	}
	return complaints
}

// record makes every answer the expected output. It returns an error for an
// answer that the format cannot hold.
func (f *file) record(answer func(c Call) string) error {
	for _, s := range f.stanzas {
		got := trimNewline(answer(s.call))
		if !encodable(got) {
			return fmt.Errorf("%s: two lines of dashes in a row cannot be part of an output", s.call.Pos)
		}
		s.output, s.hasOutput = got, true
	}
	return nil
}

// trimNewline drops one newline at the end, which the format cannot tell from
// none.
func trimNewline(output string) string { return strings.TrimSuffix(output, "\n") }

// show prints an output for a person: as it is when it fits on its line,
// below otherwise, and quoted where spaces at the end would be lost.
func show(output string) string {
	switch {
	case output == "" || strings.TrimSpace(output) != output || strings.ContainsRune(output, '\r'):
		return strconv.Quote(output)
	case strings.Contains(output, "\n"):
		return "\n\t" + strings.ReplaceAll(output, "\n", "\n\t")
	}
	return output
}
