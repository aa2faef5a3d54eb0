// Package reply reads what a server answers, and writes it as JSON.
//
// It is the other side of resp.Writer: [Parse] takes one reply of RESP2 or
// RESP3 from the front of some bytes. A reply is kept as it came, with the
// mark of its form, so that a set can be told from an array and an error from
// a string.
package reply

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// Errors of Parse.
var (
	// ErrShort means that the bytes end before the reply does.
	ErrShort = errors.New("reply: ends early")

	// ErrForm means that the bytes are no reply.
	ErrForm = errors.New("reply: not RESP")
)

// maxDepth is how deep replies may be nested. Those of EXEC, of HISTORY and of
// LIVE with CHANGES in it need less than ten.
const maxDepth = 64

// Value is a reply, or a part of one.
type Value struct {
	Mark     byte // the first byte of its form, as in resp.Writer
	Text     string
	Null     bool
	Elements []Value // of a map: keys and values in turn
}

// IsError says whether the value is an error; Text is what it says.
func (v *Value) IsError() bool { return v.Mark == '-' || v.Mark == '!' }

// IsPush says whether the value was sent without having been asked for.
func (v *Value) IsPush() bool { return v.Mark == '>' }

// IsAggregate says whether the value consists of Elements.
func (v *Value) IsAggregate() bool { return !v.Null && aggregates(v.Mark) }

func aggregates(mark byte) bool { return strings.IndexByte("*~%>|", mark) >= 0 }

func isBulk(mark byte) bool { return strings.IndexByte("$=!", mark) >= 0 }

// Int is an integer's value; 0 for what is none.
func (v *Value) Int() int64 {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Field is the value of a map's key; nil if it has none.
func (v *Value) Field(name string) *Value {
	for i := 0; i+1 < len(v.Elements); i += 2 {
		if v.Elements[i].Text == name {
			return &v.Elements[i+1]
		}
	}
	return nil
}

// Parse takes the first reply of b. Its text is copied. Attributes, which say
// something about the reply after them, are left out.
func Parse(b []byte) (v Value, rest []byte, err error) { return parse(b, 0) }

func parse(b []byte, depth int) (v Value, rest []byte, err error) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	switch {
	case !ok:
		return v, nil, ErrShort
	case len(line) == 0 || depth > maxDepth:
		return v, nil, ErrForm
	}
	v.Mark = line[0]
	if isBulk(v.Mark) || aggregates(v.Mark) {
		return parseCounted(v, string(line[1:]), rest, depth)
	}
	if strings.IndexByte("+-:,#(_", v.Mark) < 0 {
		return v, nil, ErrForm
	}
	v.Text, v.Null = string(line[1:]), v.Mark == '_'
	return v, rest, nil
}

// parseCounted takes what a number comes before: of bytes or of elements.
func parseCounted(v Value, count string, rest []byte, depth int) (Value, []byte, error) {
	n, err := strconv.Atoi(count)
	switch {
	case err != nil || n < -1:
		return v, nil, ErrForm
	case n < 0:
		v.Null = true
		return v, rest, nil
	case isBulk(v.Mark):
		return parseBulk(v, n, rest)
	case v.Mark == '%' || v.Mark == '|':
		n *= 2
	}
	if n > len(rest) { // an element takes a byte at least
		return v, nil, ErrShort
	}
	v.Elements = make([]Value, n)
	for i := range v.Elements {
		if v.Elements[i], rest, err = parse(rest, depth+1); err != nil {
			return v, nil, err
		}
	}
	if v.Mark == '|' {
		return parse(rest, depth+1)
	}
	return v, rest, nil
}

func parseBulk(v Value, n int, rest []byte) (Value, []byte, error) {
	if n > len(rest)-2 {
		return v, nil, ErrShort
	}
	if string(rest[n:n+2]) != "\r\n" {
		return v, nil, ErrForm
	}
	v.Text = string(rest[:n])
	if v.Mark == '=' && n >= 4 {
		v.Text = v.Text[4:] // its form: "txt:"
	}
	return v, rest[n+2:], nil
}
