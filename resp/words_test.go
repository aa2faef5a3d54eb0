package resp

// A line is taken apart as that of an inline command, and left alone.

import (
	"strings"
	"testing"
)

func TestWordsOfALine(t *testing.T) {
	for _, tt := range []struct {
		line, want string
		ok         bool
	}{
		{"", "", true},
		{" #!lua \t name=x\r", "#!lua|name=x", true},
		{`a "b c"'d'`, "", false},
		{`a "b c" 'd\'e'`, "a|b c|d'e", true},
		{`name="\x6f"`, "name=o", true},
		{`"open`, "", false},
	} {
		line := []byte(tt.line)
		words, ok := Words(line)
		var got []string
		for _, w := range words {
			got = append(got, string(w))
		}
		if strings.Join(got, "|") != tt.want || ok != tt.ok || string(line) != tt.line {
			t.Errorf("%q: got %q %t, want %q %t", tt.line, got, ok, tt.want, tt.ok)
		}
	}
}
