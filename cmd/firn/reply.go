package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	answer "github.com/firndb/firn/resp/reply"
)

// printRaw writes what redis-cli writes to a pipe.
func printRaw(w io.Writer, v *answer.Value) {
	if !v.IsAggregate() {
		fmt.Fprintln(w, plain(v))
		return
	}
	for i := range v.Elements {
		printRaw(w, &v.Elements[i])
	}
}

// plain is a single value without quotes; of nothing, nothing.
func plain(v *answer.Value) string {
	switch {
	case v.Null:
		return ""
	case v.Mark == '#':
		return strconv.FormatBool(v.Text == "t")
	}
	return v.Text
}

// shown is a reply as redis-cli shows it on a terminal; what it consists of is
// behind indent, but for the first line.
func shown(v *answer.Value, indent string) string {
	switch {
	case v.Null:
		return "(nil)\n"
	case v.IsError():
		return "(error) " + v.Text + "\n"
	case v.Mark == ':':
		return "(integer) " + v.Text + "\n"
	case v.Mark == ',':
		return "(double) " + v.Text + "\n"
	case v.Mark == '#':
		return "(" + plain(v) + ")\n"
	case v.Mark == '$':
		return quoted(v.Text) + "\n"
	case v.IsAggregate():
		return shownElements(v, indent)
	}
	return v.Text + "\n"
}

func shownElements(v *answer.Value, indent string) string {
	kind, step := map[byte]string{'*': "array", '~': "set", '%': "hash", '>': "push"}[v.Mark], 1
	if len(v.Elements) == 0 {
		return "(empty " + kind + ")\n"
	}
	sign := map[byte]string{'~': "~", '%': "#"}[v.Mark]
	if sign == "" {
		sign = ")"
	}
	if v.Mark == '%' {
		step = 2
	}
	width := len(strconv.Itoa(len(v.Elements) / step))
	var out strings.Builder
	for i := 0; i+step <= len(v.Elements); i += step {
		if i > 0 {
			out.WriteString(indent)
		}
		fmt.Fprintf(&out, "%*d%s ", width, i/step+1, sign)
		inner := indent + strings.Repeat(" ", width+2)
		element := shown(&v.Elements[i], inner)
		if step == 2 {
			element = strings.TrimSuffix(element, "\n") + " => " + shown(&v.Elements[i+1], inner)
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

// jsonText is a string for JSON.
func jsonText(s string) json.RawMessage { return answer.AppendString(nil, s) }

// printJSON writes a reply as a line of JSON.
func printJSON(w io.Writer, v *answer.Value) error {
	_, err := w.Write(append(v.AppendJSON(nil), '\n'))
	return err
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
