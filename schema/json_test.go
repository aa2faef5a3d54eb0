package schema

// The rule: what is stored as JSON is JSON to every program that reads it.

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

var (
	goodJSON = []string{`{}`, `[]`, `null`, `true`, `0`, `-1.5e9`, `"x"`, " {\"a\": [1, 2]}\n", `"\ud800"`, `"é"`, `{"a":1,"a":2}`}
	badJSON  = map[string]string{
		"": "unexpected end", "{": "unexpected end", "{}{}": "after top-level value", `{"a":1} x`: "'x' after top-level value",
		"x": "'x'", "{a:1}": "'a'", "'a'": "", "01": "", "NaN": "'N'", "\x00": "", "{}\x00": "", "\"a\nb\"": "in string literal",
		"\"\xff\"": "not UTF-8", "{\"\xed\xa0\x80\":1}": "not UTF-8", "\xef\xbb\xbf{}": "",
	}
)

func TestCheckJSON(t *testing.T) {
	for _, text := range goodJSON {
		if err := CheckJSON([]byte(text)); err != nil {
			t.Errorf("%q: got %v, want nil", text, err)
		}
	}
	for text, why := range badJSON {
		if err := CheckJSON([]byte(text)); !errors.Is(err, ErrJSON) || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: got %v, want %v that says %q", text, err, ErrJSON, why)
		}
	}
}

// FuzzCheckJSON compares with the decoder, which reads values one by one.
func FuzzCheckJSON(f *testing.F) {
	for _, text := range goodJSON {
		f.Add([]byte(text))
	}
	for text := range badJSON {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d := json.NewDecoder(strings.NewReader(string(text)))
		var value json.RawMessage
		ok := d.Decode(&value) == nil && utf8.Valid(text)
		if ok {
			_, err := d.Token()
			ok = err != nil && strings.Trim(string(text[d.InputOffset():]), " \t\r\n") == ""
		}
		if err := CheckJSON(text); (err == nil) != ok {
			t.Errorf("%q: got %v, want an error %t", text, err, !ok)
		}
	})
}
