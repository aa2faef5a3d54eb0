package redis

var bitmapGrammar = grammar{
	templates: `
SETBIT $key $offset $bit
SETBIT $key $offset $bit
SETBIT $key $offset $bit
GETBIT $key $offset
BITCOUNT $key
BITCOUNT $key $small $small
BITCOUNT $key $small $small $unit
BITPOS $key $bit
BITPOS $key $bit $small
BITPOS $key $bit $small $small
BITPOS $key $bit $small $small $unit
BITOP $bitop $key $key
BITOP $bitop $key $key $key
BITOP NOT $key $key
BITOP $bitop $key $key $key $key
BITFIELD $key
BITFIELD $key $bitreadopt $bitreadopt
BITFIELD $key $bitwriteopt
BITFIELD $key $overflowopt $bitwriteopt $bitreadopt
BITFIELD $key $bitwriteopt $overflowopt $bitwriteopt $overflowopt $bitwriteopt
BITFIELD_RO $key $bitreadopt
BITFIELD_RO $key $bitreadopt $bitwriteopt
LCS $key $key
LCS $key $key $lcsopt
LCS $key $key $lcsopt $lcsopt $lcsopt
`,
	choices: map[string][]string{
		"$offset":      {"0", "1", "7", "8", "21", "64", "100", "-1", "x", "4294967296", "#1", ""},
		"$bit":         {"0", "1", "0", "1", "2", "-1", "x"},
		"$unit":        {"BIT", "BYTE", "bit", "byte", "BITS"},
		"$bitop":       {"AND", "OR", "XOR", "and", "NOT", "NAND"},
		"$overflowopt": {"OVERFLOW WRAP", "OVERFLOW SAT", "OVERFLOW FAIL", "overflow sat", "OVERFLOW X"},
		"$bitreadopt": {"GET u8 0", "GET i8 0", "GET u1 7", "GET i64 3", "GET u63 #1", "GET i5 #2", "get u16 100", "GET u64 0",
			"GET i65 0", "GET u0 0", "GET x8 0", "GET u8 -1", "GET u8 #x", "GET u8"},
		"$bitwriteopt": {"SET u8 0 255", "SET i8 0 -1", "SET i8 0 -129", "SET i8 #1 128", "SET u8 4 256", "SET u8 4 -1", "SET u63 1 -1",
			"SET i64 0 9223372036854775807", "SET i64 0 -9223372036854775808", "SET i8 0 -9223372036854775808", "SET i1 9 1", "SET u1 3 1",
			"INCRBY u8 0 1", "INCRBY u8 0 -1", "INCRBY u8 0 300", "INCRBY i8 0 100", "INCRBY i8 0 -100", "INCRBY i64 0 9223372036854775807",
			"INCRBY i64 0 -9223372036854775808", "INCRBY u63 #1 9223372036854775807", "INCRBY u63 #1 -9223372036854775808",
			"INCRBY i5 2 -9223372036854775808", "INCRBY i5 2 9223372036854775807", "SET u8 0 x", "SET u64 0 1", "SET u8 0", "INCRBY u8 4294967296 1"},
		"$lcsopt": {"LEN", "IDX", "WITHMATCHLEN", "MINMATCHLEN 2", "MINMATCHLEN 0", "MINMATCHLEN -1", "MINMATCHLEN x", "MINMATCHLEN", "idx", "FOO"},
	},
	reads: `
BITCOUNT $key
GETBIT $key $offset
BITPOS $key $bit
BITFIELD_RO $key $bitreadopt
LCS $key $key
`,
}
