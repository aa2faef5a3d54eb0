package script

import (
	"fmt"
	"strconv"
	"strings"
)

// dashes ends a stanza's input.
const dashes = "----"

// file is a script taken apart so that it can be put together again: each
// stanza with the comment lines before it, and the lines after the last.
type file struct {
	stanzas  []*stanza
	trailing []string
}

// stanza is one question and its expected answer.
type stanza struct {
	before    []string // comment and blank lines above the verb
	input     []string // lines from the verb to the dashes
	call      Call
	hasOutput bool // false when the dashes are missing
	output    string
}

// parse takes a script apart. It returns an error, with file and line, for
// arguments that cannot be read, for output that has no end, and for a script
// without any stanza.
func parse(path, text string) (*file, error) {
	p := &parser{path: path, lines: splitLines(text)}
	f := &file{}
	for {
		before := p.comments()
		if p.done() {
			f.trailing = before
			break
		}
		s, err := p.stanza()
		if err != nil {
			return nil, err
		}
		s.before = before
		f.stanzas = append(f.stanzas, s)
	}
	if len(f.stanzas) == 0 {
		return nil, fmt.Errorf("%s: the script has no stanza", path)
	}
	return f, nil
}

// String is the script as text, in the one form that parse and String agree on.
func (f *file) String() string {
	var b strings.Builder
	for _, s := range f.stanzas {
		writeLines(&b, s.before)
		writeLines(&b, s.input)
		if s.hasOutput {
			writeOutput(&b, s.output)
		} else {
			b.WriteByte('\n')
		}
	}
	writeLines(&b, f.trailing)
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func writeLines(b *strings.Builder, lines []string) {
	for _, line := range lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
}

// writeOutput writes the dashes, the output and the blank line that ends it.
func writeOutput(b *strings.Builder, output string) {
	b.WriteString(dashes + "\n")
	if needsDoubling(output) {
		b.WriteString(dashes + "\n" + output + "\n" + dashes + "\n" + dashes + "\n\n")
		return
	}
	if output != "" {
		b.WriteString(output + "\n")
	}
	b.WriteByte('\n')
}

// needsDoubling reports whether output would end early, or begin the doubled
// form by accident, if it stood there as it is.
func needsDoubling(output string) bool {
	lines := strings.Split(output, "\n")
	if lines[0] == dashes {
		return true
	}
	for _, line := range lines {
		if line == "" && output != "" {
			return true
		}
	}
	return false
}

// encodable reports whether the format can hold output: within the doubled
// form two lines of dashes are the end. That includes dashes in the last
// line, because the end's own dashes follow them.
func encodable(output string) bool {
	if !needsDoubling(output) {
		return true
	}
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		if line == dashes && (i == len(lines)-1 || lines[i+1] == dashes) {
			return false
		}
	}
	return true
}

// parser walks over the lines of one file.
type parser struct {
	path  string
	lines []string
	next  int // index of the next line to read
}

func (p *parser) done() bool { return p.next >= len(p.lines) }

// comments takes comment lines and blank lines.
func (p *parser) comments() []string {
	start := p.next
	for !p.done() && (p.lines[p.next] == "" || strings.HasPrefix(p.lines[p.next], "#")) {
		p.next++
	}
	return p.lines[start:p.next]
}

// stanza takes one stanza, with the blank line that ends it.
func (p *parser) stanza() (*stanza, error) {
	start := p.next
	pos := fmt.Sprintf("%s:%d", p.path, start+1)
	call, err := parseCall(p.lines[start])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pos, err)
	}
	s := &stanza{call: call}
	p.next++
	for !p.done() && p.lines[p.next] != dashes && p.lines[p.next] != "" {
		p.next++
	}
	s.input = p.lines[start:p.next]
	s.call.Pos = pos
	s.call.Input = strings.Join(s.input[1:], "\n")
	if p.done() || p.lines[p.next] == "" {
		p.blank()
		return s, nil
	}
	p.next++
	s.hasOutput = true
	if s.output, err = p.output(); err != nil {
		return nil, fmt.Errorf("%s: %w", pos, err)
	}
	return s, nil
}

// output takes what follows the dashes, in either form.
func (p *parser) output() (string, error) {
	start := p.next
	if !p.done() && p.lines[start] == dashes {
		return p.doubledOutput()
	}
	for !p.done() && p.lines[p.next] != "" {
		p.next++
	}
	output := strings.Join(p.lines[start:p.next], "\n")
	p.blank()
	return output, nil
}

func (p *parser) doubledOutput() (string, error) {
	start := p.next + 1
	for end := start; end+1 < len(p.lines); end++ {
		if p.lines[end] == dashes && p.lines[end+1] == dashes {
			p.next = end + 2
			p.blank()
			return strings.Join(p.lines[start:end], "\n"), nil
		}
	}
	return "", fmt.Errorf("the doubled dashes are never closed")
}

// blank takes the blank line behind a stanza if it is there.
func (p *parser) blank() {
	if !p.done() && p.lines[p.next] == "" {
		p.next++
	}
}

func splitLines(text string) []string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// parseCall reads a verb's line.
func parseCall(line string) (Call, error) {
	call := Call{Line: line, Args: map[string]string{}}
	rest := strings.TrimLeft(line, " \t")
	for n := 0; rest != ""; n++ {
		key, value, hasKey, after, err := takeArgument(rest)
		if err != nil {
			return Call{}, err
		}
		rest = strings.TrimLeft(after, " \t")
		switch {
		case n == 0 && hasKey:
			return Call{}, fmt.Errorf("a verb is expected before %q", key+"=")
		case n == 0:
			call.Verb = value
		case !hasKey:
			call.Words = append(call.Words, value)
		default:
			if _, twice := call.Args[key]; twice {
				return Call{}, fmt.Errorf("argument %q stands twice", key)
			}
			call.Args[key] = value
		}
	}
	if call.Verb == "" || line == dashes {
		return Call{}, fmt.Errorf("a verb is expected in %q", line)
	}
	return call, nil
}

// takeArgument takes one key=value or one word from the front of s.
func takeArgument(s string) (key, value string, hasKey bool, rest string, err error) {
	if i := strings.IndexAny(s, "= \t\"`"); i > 0 && s[i] == '=' {
		key, hasKey, s = s[:i], true, s[i+1:]
	}
	value, rest, err = takeWord(s)
	return key, value, hasKey, rest, err
}

// takeWord takes a quoted string or the characters up to the next space.
func takeWord(s string) (word, rest string, err error) {
	if s == "" || s[0] != '"' && s[0] != '`' {
		end := strings.IndexAny(s, " \t")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", "", fmt.Errorf("the quoted string %s does not end", s)
	}
	rest = s[len(quoted):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", fmt.Errorf("a space is expected after %s", quoted)
	}
	word, err = strconv.Unquote(quoted)
	return word, rest, err
}
