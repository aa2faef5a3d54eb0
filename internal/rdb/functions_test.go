package rdb

// The rules: what Redis 7.0 has dumped is read and written to the byte; what is
// not a payload of libraries is an error and never anything else.

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

// dumpedLibraries is what FUNCTION DUMP of Redis 7.0.15 returned for code.
var dumpedLibraries = []struct{ code, payload string }{
	{"", "\x0a\x00\x5d\x9b\x5c\x40\x0f\x7f\xa2\xda"},
	{
		"#!lua name=one\nredis.register_function{function_name=\"f1\",callback=function(k,a) return 1 end,flags={\"no-writes\",\"allow-stale\"},description=\"d1\"}\nredis.register_function(\"f2\",function() return 2 end)",
		"\xf5\xc3@\x9e@\xc7\x1f#!lua name=one\nredis.register_fu\x06nction{\xc0\x08\x00_`)\r\"f1\",callback=\xc0\x1b\x1f(k,a) return 1 end,flags={\"no-wr\x06ites\",\" 6\x11ow-stale\"},descrip@d\x05=\"d1\"}\xe0\x0f\x82\x05(\"f2\",\xe0\x00k\xe0\x00h\x002 h\x01d)\x0a\x00\xea<\xc0\xdbo\xf8\x9a\x96",
	},
}

func TestLibrariesAreReadAndWrittenAsRedisDoes(t *testing.T) {
	for _, tt := range dumpedLibraries {
		body, err := Open([]byte(tt.payload))
		if err != nil {
			t.Fatal(err)
		}
		codes, err := DecodeLibraries(body)
		if got := string(slices.Concat(codes...)); got != tt.code || err != nil {
			t.Errorf("got %q %v\nwant %q", got, err, tt.code)
		}
		var again []byte
		for _, code := range codes {
			again = AppendLibrary(again, code)
		}
		codes, err = DecodeLibraries(again)
		if got := string(slices.Concat(codes...)); got != tt.code || err != nil {
			t.Errorf("again: got %q %v\nwant %q", got, err, tt.code)
		}
	}
}

func TestPayloadsWithoutLibrariesAreRefused(t *testing.T) {
	for _, tt := range []struct {
		payload string
		want    error
	}{
		{"\x00\x01a\x01b", ErrNotFunction},
		{"\xf6\x01a", ErrOldFunction},
		{"\xf5", ErrFormat},
		{"\xf5\x05ab", ErrFormat},
		{"\xf5\x01a\xf5", ErrFormat},
		{"\xf5\x01ax", ErrNotFunction},
		{strings.Repeat("\xf5\x00", maxLibraries+1), ErrFormat},
	} {
		if codes, err := DecodeLibraries([]byte(tt.payload)); err != tt.want || codes != nil {
			t.Errorf("%.10q: got %q %v, want %v", tt.payload, codes, err, tt.want)
		}
	}
}

func FuzzLibraries(f *testing.F) {
	for _, tt := range dumpedLibraries {
		f.Add([]byte(tt.payload[:len(tt.payload)-footerBytes]))
	}
	f.Add([]byte("\xf6\x01a"))
	f.Add([]byte("\xf5\xc0\x07\xf5\x01a"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		codes, err := DecodeLibraries(payload)
		if err != nil {
			if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrNotFunction) && !errors.Is(err, ErrOldFunction) {
				t.Error(err)
			}
			return
		}
		var again []byte
		for _, code := range codes {
			again = AppendLibrary(again, code)
		}
		read, err := DecodeLibraries(again)
		if err != nil || !slices.EqualFunc(read, codes, bytes.Equal) {
			t.Errorf("%x: got %x %v, want %x", again, read, err, codes)
		}
	})
}
