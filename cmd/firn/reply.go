package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reply is a reply of the server's commands, in RESP3.
type reply struct {
	mark     byte // the first byte of its form
	text     string
	null     bool
	elements []reply // of a map, keys and values in turn
}

// isError says whether the command was refused.
func (r *reply) isError() bool { return r.mark == '-' || r.mark == '!' }

var errReply = errors.New("a reply ends early")

// parseReply takes the first reply of b.
func parseReply(b []byte) (r reply, rest []byte, err error) {
	line, rest, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(line) == 0 {
		return r, nil, errReply
	}
	r.mark, r.text = line[0], string(line[1:])
	n := 0
	if strings.IndexByte("$=!*~%>", r.mark) >= 0 {
		if n, err = strconv.Atoi(r.text); err != nil {
			return r, nil, errReply
		}
	}
	switch {
	case r.mark == '_' || n < 0:
		r.null = true
		return r, rest, nil
	case strings.IndexByte("$=!", r.mark) >= 0:
		if len(rest) < n+2 {
			return r, nil, errReply
		}
		r.text = string(rest[:n])
		if r.mark == '=' && n >= 4 {
			r.text = r.text[4:] // its form: "txt:"
		}
		return r, rest[n+2:], nil
	case r.mark == '%':
		n *= 2
	case strings.IndexByte("*~>", r.mark) < 0:
		return r, rest, nil
	}
	r.text = ""
	for range n {
		var element reply
		if element, rest, err = parseReply(rest); err != nil {
			return r, nil, err
		}
		r.elements = append(r.elements, element)
	}
	return r, rest, nil
}

// field is the value of a map's key.
func (r *reply) field(name string) *reply {
	for i := 0; i+1 < len(r.elements); i += 2 {
		if r.elements[i].text == name {
			return &r.elements[i+1]
		}
	}
	return nil
}

func (r *reply) isAggregate() bool { return !r.null && strings.IndexByte("*~%>", r.mark) >= 0 }

// printRaw writes what redis-cli writes to a pipe.
func (r *reply) printRaw(w io.Writer) {
	if !r.isAggregate() {
		fmt.Fprintln(w, r.plain())
		return
	}
	for i := range r.elements {
		r.elements[i].printRaw(w)
	}
}

// plain is a single value without quotes; of nothing, nothing.
func (r *reply) plain() string {
	switch {
	case r.null:
		return ""
	case r.mark == '#':
		return strconv.FormatBool(r.text == "t")
	}
	return r.text
}

// print writes what redis-cli shows on a terminal.
func (r *reply) print(w io.Writer) { io.WriteString(w, r.format("")) }

func (r *reply) format(indent string) string {
	switch {
	case r.null:
		return "(nil)\n"
	case r.isError():
		return "(error) " + r.text + "\n"
	case r.mark == ':':
		return "(integer) " + r.text + "\n"
	case r.mark == ',':
		return "(double) " + r.text + "\n"
	case r.mark == '#':
		return "(" + r.plain() + ")\n"
	case r.mark == '$':
		return quoted(r.text) + "\n"
	case r.isAggregate():
		return r.formatElements(indent)
	}
	return r.text + "\n"
}

func (r *reply) formatElements(indent string) string {
	kind, step := map[byte]string{'*': "array", '~': "set", '%': "hash", '>': "push"}[r.mark], 1
	if len(r.elements) == 0 {
		return "(empty " + kind + ")\n"
	}
	sign := map[byte]string{'~': "~", '%': "#"}[r.mark]
	if sign == "" {
		sign = ")"
	}
	if r.mark == '%' {
		step = 2
	}
	width := len(strconv.Itoa(len(r.elements) / step))
	var out strings.Builder
	for i := 0; i+step <= len(r.elements); i += step {
		if i > 0 {
			out.WriteString(indent)
		}
		fmt.Fprintf(&out, "%*d%s ", width, i/step+1, sign)
		inner := indent + strings.Repeat(" ", width+2)
		element := r.elements[i].format(inner)
		if step == 2 {
			element = strings.TrimSuffix(element, "\n") + " => " + r.elements[i+1].format(inner)
		}
		out.WriteString(element)
	}
	return out.String()
}

// quoted is a string as redis-cli shows it: every byte that is not printable
// ASCII is escaped.
func quoted(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\' || c == '"':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c >= ' ' && c < 0x7f:
			out.WriteByte(c)
		default:
			escape := map[byte]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\a': `\a`, '\b': `\b`}[c]
			if escape == "" {
				escape = fmt.Sprintf(`\x%02x`, c)
			}
			out.WriteString(escape)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// word is a string for a column of a table: as it is if that is one word.
func word(s string) string {
	plain := s != "" && s != "-"
	for i := range len(s) {
		plain = plain && s[i] > ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return s
	}
	return quoted(s)
}

// MarshalJSON makes the reply JSON. A map stays in order; a string that is not
// UTF-8 becomes an object with its base64.
func (r *reply) MarshalJSON() ([]byte, error) {
	switch {
	case r.null:
		return []byte("null"), nil
	case r.mark == ':':
		return []byte(r.text), nil
	case r.mark == ',':
		if n, err := strconv.ParseFloat(r.text, 64); err == nil && json.Valid([]byte(r.text)) {
			return json.Marshal(n)
		}
		return json.Marshal(r.text) // inf, nan
	case r.mark == '#':
		return []byte(r.plain()), nil
	case r.mark == '%':
		return r.jsonMap()
	case r.isAggregate():
		return json.Marshal(r.elementPointers())
	}
	return json.Marshal(jsonText(r.text))
}

func (r *reply) elementPointers() []*reply {
	all := make([]*reply, len(r.elements))
	for i := range r.elements {
		all[i] = &r.elements[i]
	}
	return all
}

func (r *reply) jsonMap() ([]byte, error) {
	var o jsonObject
	for i := 0; i+1 < len(r.elements); i += 2 {
		key := r.elements[i].plain()
		if !utf8.ValidString(key) {
			key = quoted(key)
		}
		o.add(key, &r.elements[i+1])
	}
	return o.MarshalJSON()
}

// jsonText is a string for JSON.
func jsonText(s string) any {
	if utf8.ValidString(s) {
		return s
	}
	return map[string][]byte{"base64": []byte(s)}
}

// jsonObject is an object whose members stay in order.
type jsonObject []struct {
	name  string
	value any
}

func (o *jsonObject) add(name string, value any) {
	*o = append(*o, struct {
		name  string
		value any
	}{name, value})
}

// MarshalJSON writes the members as they come.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		out.Write(append(append(name, ':'), value...))
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
