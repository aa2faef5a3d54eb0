package lua

import (
	"errors"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/lua/val"
)

// The libraries that Redis ships are there, and what a program sets in them is
// gone in the next one.

func TestLibrariesForgetOptions(t *testing.T) {
	s := New(nil)
	const set = `cjson.encode_sparse_array(true) cjson.encode_number_precision(3) cjson.decode_max_depth(2)
		return cjson.encode({[100]=1/3})`
	const show = `return tostring(cjson.encode_sparse_array())..cjson.encode_number_precision()..cjson.decode_max_depth()`
	for _, program := range []struct{ source, want string }{
		{set, `{"100":0.333}`},
		{show, "false141000"},
	} {
		if got, err := run(t, s, nil, program.source); got != program.want || err != nil {
			t.Errorf("%s\n got %s, %v\nwant %s", program.source, got, err, program.want)
		}
	}
}

func TestLibrariesAreThere(t *testing.T) {
	s := New(nil)
	for _, program := range []struct{ source, want string }{
		{"return bit.tohex(bit.bor(1, 0x80000000))", "80000001"},
		{"return cmsgpack.unpack(cmsgpack.pack({1, {a='x'}}))[2].a", "x"},
		{"return struct.unpack('>I2', struct.pack('>I2', 513))", "513"},
		{"return cjson.encode({a={1, cjson.null}})", `{"a":[1,null]}`},
		{"return (select(2, pcall(function() return cjson:encode(1) end)))", "user_script:1: calling 'encode' on bad self (expected 1 argument)"},
	} {
		if got, err := run(t, s, nil, program.source); got != program.want || err != nil {
			t.Errorf("%s\n got %s, %v\nwant %s", program.source, got, err, program.want)
		}
	}
}

// What a library makes of little is bounded like what a program makes itself,
// and so is the work.
func TestLibrariesAreBounded(t *testing.T) {
	for _, program := range []string{
		"cjson.encode_sparse_array(false, 0) return cjson.encode({[2^31-1]=1})",
		"local t = {1} for i = 1, 40 do t = {t, t} end return cjson.encode(t)",
		"local t = string.rep('x', 1000) for i = 1, 15 do t = {t, t, t, t, t, t, t, t} end return cmsgpack.pack(t)",
		"return cjson.decode('['..string.rep('[1],', 200000)..'1]')",
		"return cjson.decode('['..string.rep('{\"a\":1},', 100000)..'1]')",
		"return cmsgpack.unpack('\\221\\000\\002\\000\\000'..string.rep('\\129\\001\\001', 131072))",
	} {
		if _, err := run(t, New(nil), &Guard{Bytes: 4 << 20}, program); !errors.Is(err, ErrMemory) {
			t.Errorf("%s\n got %v, want %v", program, err, ErrMemory)
		}
	}
	const long = "local t = {} for i = 1, 1000 do t[i] = i end for i = 1, 1000 do t[i] = nil end local all = {} for i = 1, 100000 do all[i] = t end return #cmsgpack.pack(all)"
	if _, err := run(t, New(nil), &Guard{Steps: 2_000_000}, long); !errors.Is(err, ErrSteps) {
		t.Errorf("%s\n got %v, want %v", long, err, ErrSteps)
	}
}

// TestLibrariesSpendOnTheirInput: a client may send a script a text of any length,
// and what is made of it must not take longer than the script may.
func TestLibrariesSpendOnTheirInput(t *testing.T) {
	const length = 200_000
	for _, tt := range []struct{ program, piece, end string }{
		{"return cjson.decode('[' .. (...) .. '1]')", "1,", ""},
		{"return cjson.decode((...))", " ", "1"},
		{"return cjson.encode((...))", "x", ""},
		{"return cmsgpack.unpack('\\221\\000\\003\\013\\064' .. (...))", "\x01", ""},
		{"return struct.size((...))", "b", ""},
	} {
		chunk, err := Compile("user_script", tt.program)
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range map[int]error{100: nil, length: ErrSteps} {
			s := New(nil)
			_, err := s.Call(s.Load(chunk), &Guard{Steps: 10_000}, val.String(strings.Repeat(tt.piece, n)+tt.end))
			if !errors.Is(err, want) && !(want == nil && errors.As(err, new(*Error))) {
				t.Errorf("%s of %d: got %v, want %v", tt.program, n, err, want)
			}
		}
	}
}
