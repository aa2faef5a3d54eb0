package rdb

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// What is appended decodes to the same value, and what comes from anybody is
// a value or ErrFormat, within bounds.

func TestChecksumIsThatOfTheCatalogue(t *testing.T) {
	if got, want := checksum([]byte("123456789")), uint64(0xe9c6d914c4b8d9ca); got != want {
		t.Errorf("got %#x\nwant %#x", got, want)
	}
}

func TestOpenTakesOnlyWholePayloads(t *testing.T) {
	sealed := Seal(Append(nil, &Value{String: []byte("hello")}))
	if _, err := Open(sealed); err != nil {
		t.Fatal(err)
	}
	for n := range sealed {
		if _, err := Open(sealed[:n]); !errors.Is(err, ErrFooter) {
			t.Errorf("the first %d bytes\n got %v\nwant %v", n, err, ErrFooter)
		}
		damaged := bytes.Clone(sealed)
		damaged[n] ^= 0x10
		if _, err := Open(damaged); !errors.Is(err, ErrFooter) {
			t.Errorf("byte %d damaged\n got %v\nwant %v", n, err, ErrFooter)
		}
	}
	newer := append(bytes.Clone(sealed[:len(sealed)-footerBytes]), newestVersion+1, 0)
	newer = appendUint(newer, checksum(newer), 8)
	if _, err := Open(newer); !errors.Is(err, ErrFooter) {
		t.Errorf("a newer version\n got %v\nwant %v", err, ErrFooter)
	}
}

// texts are strings around the borders of all forms.
func texts() [][]byte {
	all := [][]byte{{}, []byte("a"), []byte("01"), []byte("-0"), []byte("+1"), []byte("9223372036854775808"), {0, 0xff, 0}}
	for _, n := range []int{20, 21, 63, 64, 125, 126, 127, 128, 4095, 4096, 16370, 16383, 16384, 70000} {
		all = append(all, bytes.Repeat([]byte{'x'}, n), noise(n))
	}
	for shift := range 64 {
		for _, d := range []int64{-1, 0, 1} {
			all = append(all, strconv.AppendInt(nil, 1<<shift+d, 10), strconv.AppendInt(nil, -(1<<shift)+d, 10))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, bytes.Equal)
}

// noise is bytes that do not compress, the same each time.
func noise(n int) []byte {
	random := seed.Value(1).Rand(uint64(n))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return b
}

func checkRoundTrip(t *testing.T, v *Value) {
	t.Helper()
	payload := Append(nil, v)
	got, err := Decode(payload)
	if err != nil {
		t.Fatalf("%v of %d bytes: %v", v.Kind, len(payload), err)
	}
	got.Compact = v.Compact
	if v.Kind == Stream {
		got.Stream.Tail = v.Stream.Tail // not written
	}
	if !reflect.DeepEqual(got, v) {
		t.Errorf("got %s\nwant %s", brief(got), brief(v))
	}
}

func brief(v *Value) string {
	text := fmt.Sprintf("%+v", v)
	return text[:min(len(text), 2000)]
}

func TestValuesComeBack(t *testing.T) {
	all := texts()
	scores := make([]float64, len(all))
	for i := range scores {
		scores[i] = []float64{0, 1, -1.5, 0.1, 1e300, 5e-324, math.Inf(1), math.Inf(-1), 9007199254740993}[i%9]
	}
	even := all[:len(all)/2*2]
	for _, text := range all {
		checkRoundTrip(t, &Value{Kind: String, String: text})
	}
	for _, compact := range []bool{false, true} {
		checkRoundTrip(t, &Value{Kind: List, Items: all, Compact: compact})
		checkRoundTrip(t, &Value{Kind: Set, Items: all, Compact: compact})
		checkRoundTrip(t, &Value{Kind: ZSet, Items: all, Scores: scores, Compact: compact})
		checkRoundTrip(t, &Value{Kind: Hash, Items: even, Compact: compact})
	}
	checkRoundTrip(t, &Value{Kind: List, Items: slices.Repeat(all, 3)})
	checkRoundTrip(t, &Value{Kind: Set, Compact: true, Items: numbers(-3, 0, 7)})
	checkRoundTrip(t, &Value{Kind: Set, Compact: true, Items: numbers(-40000, 0, 7)})
	checkRoundTrip(t, &Value{Kind: Set, Compact: true, Items: numbers(math.MinInt64, 0, math.MaxInt64)})
}

func numbers(all ...int64) (items [][]byte) {
	for _, n := range all {
		items = append(items, strconv.AppendInt(nil, n, 10))
	}
	return items
}

// sampleLog is a stream with everything in it.
func sampleLog() *Log {
	l := &Log{Last: ID{math.MaxUint64, 5}, MaxDeleted: ID{7, 1}, Added: 1000}
	for i := range uint64(350) {
		fields := [][]byte{[]byte("f"), strconv.AppendUint(nil, i, 10), []byte("g"), bytes.Repeat([]byte{'v'}, int(i))}
		if i%7 == 0 {
			fields = append(fields, []byte("h"), nil)
			fields[5] = []byte{}
		}
		l.Entries = append(l.Entries, Entry{ID{i / 3 * 1000, i%3*5 + 1}, fields, i%90 == 0})
	}
	l.Entries = append(l.Entries, Entry{ID{1 << 63, 0}, [][]byte{{}, {}}, true}, Entry{ID{math.MaxUint64, 2}, [][]byte{{}, {}}, false})
	l.Groups = []Group{
		{Name: []byte("empty"), Read: -1},
		{
			Name: []byte("g"), Last: ID{1000, 1}, Read: 4,
			Pending: []Pending{{ID{0, 1}, 1700000000000, 1, 1}, {ID{0, 6}, 1700000000001, 70000, 0}, {ID{1000, 1}, 5, 2, 1}},
			Consumers: []Consumer{
				{[]byte("a"), 1700000000002, -1}, {[]byte("b"), 0, -1}, {[]byte("idle"), 1, -1},
			},
		},
	}
	return l
}

func TestStreamsComeBack(t *testing.T) {
	checkRoundTrip(t, &Value{Kind: Stream, Stream: sampleLog()})
	checkRoundTrip(t, &Value{Kind: Stream, Stream: &Log{Last: ID{5, 5}, MaxDeleted: ID{5, 5}, Added: 3}})
	checkRoundTrip(t, &Value{Kind: Stream, Stream: &Log{}})
	got, err := Decode(Append(nil, &Value{Kind: Stream, Stream: sampleLog()}))
	if err != nil {
		t.Fatal(err)
	}
	// 7 bytes around it, 2, 0, 1, a field of 0 bytes, 0; of each entry flags, ms, seq, value and count.
	if want := (Node{ID{1 << 63, 0}, [][]byte{{}}, 2, 7 + 5*2 + 5*2 + 4*2 + 10}); !reflect.DeepEqual(got.Stream.Tail, want) {
		t.Errorf("last node: got %+v, want %+v", got.Stream.Tail, want)
	}
}

func TestLZFUnpacksWhatItPacks(t *testing.T) {
	seed := seed.Fresh(t)
	random := seed.Rand(0)
	for range 2000 {
		b := make([]byte, random.IntN(3000))
		letters := 1 + random.IntN(20)
		for i := range b {
			b[i] = byte(random.IntN(letters))
		}
		packed, ok := packLZF(b)
		if !ok {
			continue
		}
		if got, ok := unpackLZF(packed, uint64(len(b))); !ok || !bytes.Equal(got, b) || len(packed) > len(b)-4 {
			t.Fatalf("seed %d: %d bytes, packed %d\n got %x, %v\nwant %x", seed, len(b), len(packed), got, ok, b)
		}
	}
	if packed, ok := packLZF(bytes.Repeat([]byte("ab"), 50_000)); !ok || len(packed) > 1200 {
		t.Errorf("100000 bytes of one pattern\n got %d, %v\nwant a small fraction", len(packed), ok)
	}
}

// oldForms are values in forms that are only read, as their format describes
// them.
var oldForms = []struct{ name, payload, want string }{
	{"zset with text scores", "\x03\x03\x01a\x031.5\x01b\xfe\x01c\xff", "a=1.5 b=+Inf c=-Inf"},
	{"zipmap", "\x09\x11\x02\x01a\x03\x00xyz\x02bb\x01\x02q??\xff", "a xyz bb q"},
	{"ziplist list", "\x0a\x17\x17\x00\x00\x00\x10\x00\x00\x00\x04\x00\x00\x01a\x03\xf4\x02\xfe\xff\x03\xc0\xe8\x03\xff", "a 3 -1 1000"},
	{"ziplist hash", "\x0d\x11\x11\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x01f\x03\x01v\xff", "f v"},
	{"quicklist of ziplists", "\x0e\x01\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01a\xff", "a"},
	{"set listpack of 7.2", "\x14\x0a\x0a\x00\x00\x00\x01\x00\x81a\x02\xff", "a"},
	{"intset", "\x0b\x0a\x02\x00\x00\x00\x01\x00\x00\x00\xff\xff", "-1"},
}

func TestOldFormsAreRead(t *testing.T) {
	for _, tt := range oldForms {
		v, err := Decode([]byte(tt.payload))
		var got []string
		if err == nil {
			for i, item := range v.Items {
				text := string(item)
				if v.Scores != nil {
					text += "=" + strconv.FormatFloat(v.Scores[i], 'g', -1, 64)
				}
				got = append(got, text)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s\n got %q, %v\nwant %q", tt.name, got, err, tt.want)
		}
	}
}

func TestMalformedValuesAreRefused(t *testing.T) {
	for _, payload := range []string{
		"", "\x00", "\x06\x01a", "\x00\x05abc", "\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff", "\x00\x01ab",
		"\x01\x00",                     // no items
		"\x02\x02\x01a\x01a",           // twice
		"\x01\x80\xff\xff\xff\xff\x01", // more than there are bytes
		"\x04\x01\x01a",                // no value
		"\x05\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f",                      // NaN
		"\x03\x01\x01a\xfd",                                                  // NaN as text
		"\x00\xc3\x02\x81\x00\x00\x00\x7f\xff\xff\xff\xff\x00a",              // unpacks to terabytes
		"\x0b\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x02\x00\x01\x00",           // intset out of order
		"\x12\x01\x03\x01a",                                                  // a node of no kind
		"\x10\x0b\x0b\x00\x00\x00\x02\x00\x81a\x02\x01\xff",                  // size
		"\x13\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00",                       // length without entries
		"\x0f\x00\x00\x00\x00\x02\x01g\x00\x00\x00\x00\x01g\x00\x00\x00\x00", // a group twice
	} {
		if v, err := Decode([]byte(payload)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q\n got %+v, %v\nwant %v", payload, v, err, ErrFormat)
		}
	}
}

// TestAShortPayloadUnpacksToAMillionElementsAtMost: more would take memory that
// nobody has sent.
func TestAShortPayloadUnpacksToAMillionElementsAtMost(t *testing.T) {
	for _, tt := range []struct {
		form byte
		n    int
		want error
	}{
		{typeListQuicklist2, freeElements, nil}, {typeListQuicklist2, freeElements + 1, ErrFormat},
		{typeZSetListpack, freeElements + 2, ErrFormat}, {typeHashPackEnds, freeElements + 2, ErrFormat},
		{typeHashListpack, freeElements + 2, ErrFormat},
	} {
		var pack listpack
		for range tt.n {
			pack.addInt(1)
		}
		payload := []byte{tt.form}
		switch tt.form {
		case typeListQuicklist2:
			payload = append(payload, 1, nodePacked)
		case typeHashPackEnds:
			payload = append(payload, make([]byte, 8)...)
		}
		payload = appendString(payload, pack.finish())
		v, err := Decode(payload)
		if len(payload) > tt.n/10 || !errors.Is(err, tt.want) || err == nil && len(v.Items) != tt.n {
			t.Errorf("%d elements of type %d in %d bytes\n got %v\nwant %v", tt.n, tt.form, len(payload), err, tt.want)
		}
	}
}

// FuzzDecode: whatever decodes is appended and decodes to the same value, and
// allocates in proportion to the payload.
func FuzzDecode(f *testing.F) {
	all := texts()
	for _, v := range []*Value{
		{Kind: String, String: []byte("12")}, {Kind: String, String: bytes.Repeat([]byte("ab"), 30)},
		{Kind: List, Items: all[:9]}, {Kind: Set, Items: all[:9]}, {Kind: Set, Items: numbers(1, 2), Compact: true},
		{Kind: Hash, Items: all[:10]}, {Kind: Hash, Items: all[:10], Compact: true},
		{Kind: ZSet, Items: all[:2], Scores: []float64{1, 2.5}}, {Kind: ZSet, Items: all[:2], Scores: []float64{1, 2.5}, Compact: true},
		{Kind: Stream, Stream: sampleLog()},
	} {
		f.Add(Append(nil, v))
	}
	for _, old := range oldForms {
		f.Add([]byte(old.payload))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		v, err := Decode(payload)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("got %v\nwant %v", err, ErrFormat)
			}
			return
		}
		again, err := Decode(Append(nil, v))
		if err != nil {
			t.Fatalf("%s\n got %v\nwant it back", brief(v), err)
		}
		if got, want := len(again.Items), len(v.Items); got != want || !bytes.Equal(again.String, v.String) {
			t.Errorf("got %s\nwant %s", brief(again), brief(v))
		}
	})
}
