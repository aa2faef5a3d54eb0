package tuple

// Keys keep the order of what they encode: comparing bytes compares tuples.
// What decodes encodes to the same bytes.

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// element is a []byte, an int64 or a float64.
type element any

func appendElement(dst []byte, e element) []byte {
	switch e := e.(type) {
	case []byte:
		return AppendBytes(dst, e)
	case int64:
		return AppendInt(dst, e)
	case float64:
		return AppendFloat(dst, e)
	}
	panic(fmt.Sprintf("no element: %T", e))
}

func encode(tuple ...element) []byte {
	var key []byte
	for _, e := range tuple {
		key = appendElement(key, e)
	}
	return key
}

// decode reads a key of any elements.
func decode(key []byte) (tuple []element, err error) {
	for len(key) > 0 {
		var e element
		switch c := key[0]; {
		case c == codeBytes:
			e, key, err = TakeBytes(key)
		case c == codeFloat:
			e, key, err = TakeFloat(key)
		default:
			e, key, err = TakeInt(key)
		}
		if err != nil {
			return nil, err
		}
		tuple = append(tuple, e)
	}
	return tuple, nil
}

func rank(e element) int {
	switch e.(type) {
	case []byte:
		return 0
	case int64:
		return 1
	}
	return 2
}

func compareElements(a, b element) int {
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case []byte:
		return bytes.Compare(a, b.([]byte))
	case int64:
		return cmp.Compare(a, b.(int64))
	}
	x, y := a.(float64), b.(float64)
	if math.IsNaN(x) || math.IsNaN(y) {
		// cmp puts NaN first, keys put it last.
		return cmp.Compare(b2i(math.IsNaN(x)), b2i(math.IsNaN(y)))
	}
	return cmp.Compare(x, y)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compareTuples(a, b []element) int {
	for i := range min(len(a), len(b)) {
		if c := compareElements(a[i], b[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

var edges = []element{
	[]byte(""), []byte("\x00"), []byte("\x00\x00"), []byte("\x00\xff"), []byte("\x00\x01"), []byte("\x01"),
	[]byte("a"), []byte("a\x00"), []byte("a\x00b"), []byte("a\x01"), []byte("aa"), []byte("b"), []byte("\xff"), []byte("\xff\x00"), []byte("\xff\xff"),
	int64(math.MinInt64), int64(math.MinInt64 + 1), int64(-1 << 56), int64(-1<<56 + 1), int64(-65536), int64(-65535), int64(-257), int64(-256), int64(-255), int64(-2), int64(-1),
	int64(0), int64(1), int64(2), int64(127), int64(128), int64(255), int64(256), int64(1000), int64(65535), int64(65536), int64(1 << 56), int64(math.MaxInt64 - 1), int64(math.MaxInt64),
	math.Inf(-1), -math.MaxFloat64, -1.5, -1.0, -math.SmallestNonzeroFloat64, 0.0, math.SmallestNonzeroFloat64, 1.0, 1.5, math.MaxFloat64, math.Inf(1), math.NaN(),
}

func TestKeysKeepTheOrderOfTheirTuples(t *testing.T) {
	tuples := [][]element{nil}
	for _, a := range edges {
		tuples = append(tuples, []element{a})
		for _, b := range edges {
			tuples = append(tuples, []element{a, b})
		}
	}
	seed := seed.Fresh(t)
	random := seed.Rand(0)
	for range 200_000 {
		a, b := tuples[random.IntN(len(tuples))], tuples[random.IntN(len(tuples))]
		if got, want := bytes.Compare(encode(a...), encode(b...)), compareTuples(a, b); got != want {
			t.Fatalf("seed %d: order of %v and %v:\n got %d\nwant %d", seed, a, b, got, want)
		}
	}
}

func TestKeysOfTheRegister(t *testing.T) {
	for _, tt := range []struct {
		tuple []element
		want  string
	}{
		{[]element{[]byte("")}, "10 00"},
		{[]element{[]byte("a")}, "10 61 00"},
		{[]element{[]byte("a\x00b")}, "10 61 00 FF 62 00"},
		{[]element{int64(math.MinInt64)}, "20 7F FF FF FF FF FF FF FF"},
		{[]element{int64(-256)}, "26 FE FF"},
		{[]element{int64(-1)}, "27 FE"},
		{[]element{int64(0)}, "28"},
		{[]element{int64(1)}, "29 01"},
		{[]element{int64(1000)}, "2A 03 E8"},
		{[]element{int64(math.MaxInt64)}, "30 7F FF FF FF FF FF FF FF"},
		{[]element{-1.0}, "40 40 0F FF FF FF FF FF FF"},
		{[]element{0.0}, "40 80 00 00 00 00 00 00 00"},
		{[]element{math.Copysign(0, -1)}, "40 80 00 00 00 00 00 00 00"},
		{[]element{1.5}, "40 BF F8 00 00 00 00 00 00"},
		{[]element{math.Inf(1)}, "40 FF F0 00 00 00 00 00 00"},
		{[]element{math.Float64frombits(0xfff0000000000001)}, "40 FF F8 00 00 00 00 00 00"},
		{[]element{[]byte("u"), int64(7)}, "10 75 00 29 07"},
	} {
		if got := fmt.Sprintf("% X", encode(tt.tuple...)); got != tt.want {
			t.Errorf("key of %v:\n got %s\nwant %s", tt.tuple, got, tt.want)
		}
	}
}

func TestKeysThatAreNotCanonicalAreRefused(t *testing.T) {
	for _, key := range []string{
		"", "\x10", "\x10a", "\x10\x00\xff", "\x00", "\x1f", "\x31", "\x41", "\xff",
		"\x29", "\x29\x00", "\x2a\x01", "\x2a\x00\x01", "\x27\xff", "\x26\xff\xfe",
		"\x30\x80\x00\x00\x00\x00\x00\x00\x00", "\x20\x7f\xff\xff\xff\xff\xff\xff\xfe",
		"\x40", "\x40\x80\x00\x00\x00\x00\x00\x00", "\x40\x7f\xff\xff\xff\xff\xff\xff\xff",
		"\x40\xff\xf0\x00\x00\x00\x00\x00\x01",
	} {
		if s, _, err := TakeString(key); !errors.Is(err, ErrMalformed) {
			t.Errorf("TakeString(% x): got %q, %v, want ErrMalformed", key, s, err)
		}
		if v, _, err := TakeInt(key); !errors.Is(err, ErrMalformed) {
			t.Errorf("TakeInt(% x): got %d, %v, want ErrMalformed", key, v, err)
		}
		if v, _, err := TakeFloat(key); !errors.Is(err, ErrMalformed) {
			t.Errorf("TakeFloat(% x): got %v, %v, want ErrMalformed", key, v, err)
		}
	}
}

func TestPrefixLenCountsElements(t *testing.T) {
	tuple := []element{[]byte("a\x00b"), int64(-70000), 1.5, int64(0), []byte("")}
	key := string(encode(tuple...))
	for n := range len(tuple) + 1 {
		want := len(encode(tuple[:n]...))
		if got, ok := PrefixLen(key, n); got != want || !ok {
			t.Errorf("PrefixLen(key, %d): got %d, %t, want %d, true", n, got, ok, want)
		}
	}
	if got, ok := PrefixLen(key, len(tuple)+1); ok {
		t.Errorf("PrefixLen of too few elements: got %d, true, want false", got)
	}
	for cut := range len(key) {
		whole := 0
		for _, e := range tuple {
			if size := len(encode(e)); whole+size <= cut {
				whole += size
				continue
			}
			break
		}
		if _, ok := PrefixLen(key[:cut], len(tuple)); ok {
			t.Errorf("PrefixLen of a key cut at %d: got true, want false", cut)
		}
	}
	if allocs := testing.AllocsPerRun(100, func() { PrefixLen(key, 5) }); allocs != 0 {
		t.Errorf("allocations of PrefixLen: got %v, want 0", allocs)
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, tt := range []struct{ prefix, want string }{
		{"a", "b"}, {"a\xff", "b"}, {"a\xff\xff", "b"}, {"a\x00", "a\x01"}, {"\xfe\xff", "\xff"},
	} {
		if got := PrefixEnd([]byte(tt.prefix)); string(got) != tt.want {
			t.Errorf("PrefixEnd(%q):\n got %q\nwant %q", tt.prefix, got, tt.want)
		}
	}
	for _, prefix := range []string{"", "\xff", "\xff\xff"} {
		if got := PrefixEnd([]byte(prefix)); got != nil {
			t.Errorf("PrefixEnd(%q):\n got %q\nwant nil", prefix, got)
		}
	}
}

// FuzzKey reads arbitrary bytes as a key: an error, or the same bytes again.
func FuzzKey(f *testing.F) {
	for _, e := range edges {
		f.Add(encode(e))
		f.Add(encode(e, int64(1), e))
	}
	f.Add([]byte("\x2a\x00\x01"))
	f.Add([]byte("\x10\x00\xff\x00\xff"))
	f.Fuzz(func(t *testing.T, key []byte) {
		before := bytes.Clone(key)
		tuple, err := decode(key)
		if !bytes.Equal(key, before) {
			t.Fatalf("decoding changed the key:\n got % x\nwant % x", key, before)
		}
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error of % x:\n got %v\nwant ErrMalformed", key, err)
			}
			return
		}
		if got := encode(tuple...); !bytes.Equal(got, key) {
			t.Fatalf("round trip of %v:\n got % x\nwant % x", tuple, got, key)
		}
		if n, ok := PrefixLen(string(key), len(tuple)); n != len(key) || !ok {
			t.Fatalf("PrefixLen of % x:\n got %d, %t\nwant %d, true", key, n, ok, len(key))
		}
	})
}

// FuzzKeyOrder compares the keys of two pairs of values with the pairs.
func FuzzKeyOrder(f *testing.F) {
	f.Add([]byte("a"), int64(1), 1.0, []byte("a\x00"), int64(-1), -1.0)
	f.Add([]byte(""), int64(255), 0.0, []byte("\x00"), int64(256), math.Inf(1))
	f.Add([]byte("\xff"), int64(math.MinInt64), math.NaN(), []byte("\xff"), int64(math.MinInt64), math.Inf(-1))
	f.Fuzz(func(t *testing.T, b1 []byte, i1 int64, f1 float64, b2 []byte, i2 int64, f2 float64) {
		for _, pair := range [][2][]element{
			{{b1, i1, f1}, {b2, i2, f2}},
			{{f1, b1, i1}, {f2, b2, i2}},
			{{i1, f1, b1}, {i2, f2, b2}},
			{{b1, i1}, {b1, f2}},
			{{b1}, {b1, b2}},
		} {
			got := bytes.Compare(encode(pair[0]...), encode(pair[1]...))
			if want := compareTuples(pair[0], pair[1]); got != want {
				t.Fatalf("order of %v and %v:\n got %d\nwant %d", pair[0], pair[1], got, want)
			}
		}
	})
}
