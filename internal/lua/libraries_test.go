package lua

import "testing"

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
