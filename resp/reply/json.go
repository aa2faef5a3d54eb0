package reply

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// BinaryForm says how AppendJSON writes strings that are not UTF-8, for those
// who have to be told.
const BinaryForm = "base64"

// errorMember is the only member of the object that an error is.
const errorMember = "error"

// AppendJSON appends the value as JSON on one line:
//
//   - Arrays and sets are arrays, maps objects in their order, numbers
//     numbers, and doubles that JSON does not have, inf and nan, strings.
//   - A string that is not UTF-8 is {"base64": "…"}, an error inside a reply
//     {"error": "…"}.
//   - A map that could be taken for one of these two, or of which a key is not
//     UTF-8, is an array of pairs: [["base64", "…"]].
func (v *Value) AppendJSON(dst []byte) []byte {
	switch {
	case v.Null:
		return append(dst, "null"...)
	case v.Mark == '#':
		return strconv.AppendBool(dst, v.Text == "t")
	case v.Mark == ':', v.Mark == ',', v.Mark == '(':
		return appendNumber(dst, v.Text)
	case v.Mark == '%' && v.isObject():
		return v.appendObject(dst)
	case v.Mark == '%':
		return v.appendPairs(dst)
	case v.IsAggregate():
		return v.appendArray(dst)
	case v.IsError():
		dst = append(dst, `{"`+errorMember+`":`...)
		return append(AppendString(dst, v.Text), '}')
	}
	return AppendString(dst, v.Text)
}

// appendNumber appends a number as it came, if JSON has it.
func appendNumber(dst []byte, text string) []byte {
	if json.Valid([]byte(text)) {
		return append(dst, text...)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil && f-f == 0 {
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return AppendString(dst, text)
}

// isObject says whether a map can be an object that is taken for nothing else.
func (v *Value) isObject() bool {
	for i := 0; i < len(v.Elements); i += 2 {
		key := &v.Elements[i]
		if key.IsAggregate() || !utf8.ValidString(key.Text) {
			return false
		}
	}
	return len(v.Elements) != 2 || v.Elements[0].Text != BinaryForm && v.Elements[0].Text != errorMember
}

func (v *Value) appendObject(dst []byte) []byte {
	dst = append(dst, '{')
	for i := 0; i+1 < len(v.Elements); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(AppendString(dst, v.Elements[i].Text), ':')
		dst = v.Elements[i+1].AppendJSON(dst)
	}
	return append(dst, '}')
}

func (v *Value) appendPairs(dst []byte) []byte {
	dst = append(dst, '[')
	for i := 0; i+1 < len(v.Elements); i += 2 {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.Elements[i].AppendJSON(append(dst, '['))
		dst = v.Elements[i+1].AppendJSON(append(dst, ','))
		dst = append(dst, ']')
	}
	return append(dst, ']')
}

func (v *Value) appendArray(dst []byte) []byte {
	dst = append(dst, '[')
	for i := range v.Elements {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = v.Elements[i].AppendJSON(dst)
	}
	return append(dst, ']')
}

// AppendString appends a string as JSON, or an object with its base64 if it is
// not UTF-8. U+2028 and U+2029 are escaped, which some take for line ends.
func AppendString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		dst = append(dst, `{"`+BinaryForm+`":"`...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(s))
		return append(dst, `"}`...)
	}
	dst = append(dst, '"')
	plain := 0 // where what needs no escape begins
	for i, r := range s {
		if r >= ' ' && r != '"' && r != '\\' && r != '\u2028' && r != '\u2029' {
			continue
		}
		dst = append(append(dst, s[plain:i]...), escaped(r)...)
		plain = i + utf8.RuneLen(r)
	}
	return append(append(dst, s[plain:]...), '"')
}

// escaped is how JSON writes a character that may not stand for itself.
func escaped(r rune) string {
	switch r {
	case '"', '\\':
		return `\` + string(r)
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	const digits = "0123456789abcdef"
	return `\u` + string([]byte{digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15]})
}
