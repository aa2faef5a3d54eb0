package resp

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/internal/seed"
)

// Numbers are read, added and printed as Redis does it, to the last digit.
// The files in testdata were written by Redis 7.0.15; each line is a
// question and, behind a tab, its answer.

// replays is how many random questions a comparison with a running Redis
// asks.
var replays = flag.Int("replays", 4000, "random numbers to compare with a running Redis")

// numberFile is a table of questions about numbers, and two ways to answer.
type numberFile struct {
	path   string
	fixed  []string                     // questions that are always asked
	random func(rng *rand.Rand) string  // another question
	ours   func(question string) string // our answer
	redis  func(question string) [][]string
}

const (
	notFloat   = "-ERR value is not a valid float"
	notFinite  = "-ERR increment would produce NaN or Infinity"
	notInteger = "-ERR value is not an integer or out of range"
)

var numberFiles = []numberFile{
	{
		path:   "testdata/score.tsv",
		fixed:  floatTexts,
		random: randomFloatText,
		ours:   ourScore,
		redis: func(s string) [][]string {
			return [][]string{{"DEL", "z"}, {"ZADD", "z", s, "m"}, {"ZSCORE", "z", "m"}}
		},
	},
	{
		path:  "testdata/incrbyfloat.tsv",
		fixed: floatSums(),
		random: func(rng *rand.Rand) string {
			return randomFloatText(rng) + "," + randomFloatText(rng)
		},
		ours: ourSum,
		redis: func(s string) [][]string {
			a, b, _ := strings.Cut(s, ",")
			return [][]string{{"SET", "k", a}, {"INCRBYFLOAT", "k", b}}
		},
	},
	{
		path:   "testdata/incrby.tsv",
		fixed:  integerTexts,
		random: randomIntegerText,
		ours:   ourInteger,
		redis: func(s string) [][]string {
			return [][]string{{"DEL", "k"}, {"INCRBY", "k", s}}
		},
	},
}

var floatTexts = []string{
	"0", "-0", "-0.0", "1", "-1", "3", "0.1", "0.2", "1.1", "2.5", "100", "3.0e3", "1e5", "1e15", "1e16", "1e17", "1e20", "1e21", "-1e21",
	"123456789012345", "1234567890123456", "123456789012345680", "9007199254740993", "999999999999999", "1000000000000000",
	"1e-4", "1e-5", "0.00012345", "1.7976931348623157e308", "1.7976931348623159e308", "2.2250738585072014e-308", "1e-310",
	"5e-324", "2.4703282292062328e-324", "2.4703282292062327e-324", "2e-324", "1e400", "-1e400", "1e-400", "0e999999999999",
	"0x10", "0X1P-2", "0x.8", "0x8.", "0x1p4", "0x1p", "0x", "0x.", "0x1.fffffffffffff8p1023", "0x1p-1080", "0x1p-1074", "0xg", "-0x1p1", "0x1e1", "0x0p99999",
	"inf", "+inf", "-inf", "Inf", "INFINITY", "-Infinity", "infinit", "infi", "in", "nan", "-nan", "NaN", "nan(1)",
	"", " ", " 1", "1 ", "1\n", "+1", "++1", "+-1", "-", "+", ".", "-.", ".5", "5.", "-.5e1", "1e", "1e+", "1e+5", "1E-5", "1e5.", "1.2.3", "1,5",
	"1_000", "0x1_0", "1d", "1f", "1p4", "abc", "0b1", "0o7", "\x001", "1\x00", "００", "0000000001", "1e0000000001", "1" + strings.Repeat("0", 400),
	strings.Repeat("9", 5119), "0." + strings.Repeat("3", 5200), strings.Repeat("0", 5118) + "1", strings.Repeat("0", 5119) + "1",
	"1e4931", "1e4932", "1.18e4932", "1.189731495357231765e4932", "1.189731495357231766e4932", "1e4933", "-1e4932",
	"1e-4931", "1e-4950", "1.9e-4951", "1.8e-4951", "1e-4951", "0x1p-16445", "0x1p-16446", "0x1.8p-16446", "0x1p16383", "0x1p16384", "0x.8p16384",
	"18446744073709551615", "18446744073709551616", "18446744073709551617", "9223372036854775807", "36893488147419103233",
	"1e-17", "5e-18", "4.9e-18", "15e-18", "-1e-18", "1e-30", "-1e-30", "0.123456789012345678901234567890", "3.14159265358979323846",
}

// floatSums pairs the texts with partners that matter.
func floatSums() []string {
	var sums []string
	for _, text := range floatTexts {
		if !strings.Contains(text, ",") {
			sums = append(sums, text+",0", "1,"+text)
		}
	}
	return append(sums, "0.1,0.2", "10.5,0.1", "5000,2e2", "5,-5.5", "1e4932,1e4932", "-1e4932,-1e4932", "inf,-inf", "inf,inf",
		"1e17,0.5", "1e19,0.5", "18446744073709551615,0.5", "18446744073709551615,1", "18446744073709551616,1", "18446744073709551618,1",
		"9223372036854775807,0.5", "0.3,-0.3", "-0.3,0.3", "1e500,-1", "1e30,-1e30", "1.189731495357231765e4932,1e4912", "1.189731495357231765e4932,1e4913",
		"0.00000000000000001,0.000000000000000004", "3,-2.9", "1.1,2.2", "1e-4950,-1e-4950")
}

var integerTexts = []string{
	"0", "-0", "00", "01", "-01", "1", "-1", "+1", " 1", "1 ", "1\n", "", "-", "+", "--1", "1.0", "1e3", "0x1", "a", "1a", "\x001", "1\x00", "1_0",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"9999999999999999999", "-9999999999999999999", "10000000000000000000", "-10000000000000000000", "99999999999999999999", "100000000000000000000",
	"-1000000000000000000000", "922337203685477580", "-922337203685477581", "0000000000000000000000", "٣",
}

func ourScore(s string) string {
	f, ok := ParseDouble([]byte(s))
	if !ok {
		return notFloat
	}
	return string(AppendDouble(nil, f))
}

func ourSum(s string) string {
	a, b, _ := strings.Cut(s, ",")
	sum, err := AddFloat(a, b)
	switch {
	case err == nil:
		return sum
	case strings.Contains(err.Error(), ErrNotFinite.Error()):
		return notFinite
	}
	return notFloat
}

func ourInteger(s string) string {
	n, ok := ParseInt([]byte(s))
	if !ok {
		return notInteger
	}
	return strconv.FormatInt(n, 10)
}

// randomFloatText returns a float of some size and some form, and sometimes
// something that is nearly one.
func randomFloatText(rng *rand.Rand) string {
	var s string
	switch rng.IntN(7) {
	case 0:
		s = strconv.FormatFloat(math.Float64frombits(rng.Uint64()), 'g', -1, 64)
	case 1:
		s = strconv.FormatFloat(rng.NormFloat64()*math.Pow(10, float64(rng.IntN(30)-10)), 'f', rng.IntN(20), 64)
	case 2:
		s = strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10)
	case 3:
		s = strconv.FormatFloat(math.Float64frombits(rng.Uint64()), 'x', -1, 64)
	case 4:
		s = fmt.Sprintf("%d.%0*de%d", rng.Uint64()>>rng.IntN(64), 1+rng.IntN(30), rng.Uint64(), rng.IntN(9900)-4950)
	case 5:
		s = fmt.Sprintf("%d.%d", rng.IntN(1000), rng.IntN(1000))
	case 6:
		// Half-way between two long doubles, or nearly.
		s = fmt.Sprintf("%d.5%s%d", rng.Uint64()|1<<63, strings.Repeat("0", rng.IntN(40)), rng.IntN(2))
	}
	if rng.IntN(20) == 0 {
		const spice = "0123456789.eE+-xXpPinf_ "
		at := rng.IntN(len(s) + 1)
		s = s[:at] + string(spice[rng.IntN(len(spice))]) + s[at:]
	}
	return s
}

func randomIntegerText(rng *rand.Rand) string {
	s := strconv.FormatInt(int64(rng.Uint64())>>rng.IntN(64), 10)
	switch rng.IntN(6) {
	case 0:
		s += strconv.Itoa(rng.IntN(100))
	case 1:
		at := rng.IntN(len(s) + 1)
		s = s[:at] + string("0-+ .e"[rng.IntN(6)]) + s[at:]
	}
	return s
}

// questions returns the file's fixed questions and count random ones.
func (f numberFile) questions(rng *rand.Rand, count int) []string {
	asked := append([]string(nil), f.fixed...)
	for range count {
		asked = append(asked, f.random(rng))
	}
	return asked
}

// askRedis returns Redis's answers.
func (f numberFile) askRedis(t *testing.T, socket string, questions []string) []string {
	t.Helper()
	var commands [][]string
	per := len(f.redis(""))
	for _, question := range questions {
		commands = append(commands, f.redis(question)...)
	}
	replies := ask(t, socket, commands)
	answers := make([]string, len(questions))
	for i := range answers {
		// The last command answers, unless one before it failed.
		for _, reply := range replies[i*per : (i+1)*per] {
			answers[i] = reply
			if strings.HasPrefix(reply, "-ERR") {
				break
			}
		}
	}
	return answers
}

// TestNumbersAreAsRedisWroteThem reads testdata. With UPDATE=1 and a Redis to
// ask, the files are written anew.
func TestNumbersAreAsRedisWroteThem(t *testing.T) {
	for _, f := range numberFiles {
		t.Run(f.path, func(t *testing.T) {
			if os.Getenv("UPDATE") == "1" {
				f.write(t)
			}
			text, err := os.ReadFile(f.path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if len(lines) < len(f.fixed) {
				t.Fatalf("got %d lines, want at least %d", len(lines), len(f.fixed))
			}
			for i, line := range lines {
				quoted, want, _ := strings.Cut(line, "\t")
				question, err := strconv.Unquote(quoted)
				if err != nil {
					t.Fatalf("%s:%d: %v", f.path, i+1, err)
				}
				if got := f.ours(question); got != want {
					t.Errorf("%s:%d: %.100q:\n got %.100s\nwant %.100s", f.path, i+1, question, got, want)
				}
			}
		})
	}
}

func (f numberFile) write(t *testing.T) {
	socket := numberServer(t)
	var text strings.Builder
	questions := f.questions(seed.Value(1).Rand(1), 100)
	for i, answer := range f.askRedis(t, socket, questions) {
		fmt.Fprintf(&text, "%q\t%s\n", questions[i], answer)
	}
	if err := os.WriteFile(f.path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// numberServer starts a Redis that keeps every zset in a skip list: in its
// list packs -0 becomes 0, which is not a matter of printing.
func numberServer(t *testing.T) string {
	return redistest.Start(t, "--zset-max-listpack-entries", "0")
}

func TestRandomNumbersAreTheSameInRedis(t *testing.T) {
	socket := numberServer(t)
	for _, f := range numberFiles {
		t.Run(f.path, func(t *testing.T) {
			seed := seed.Fresh(t)
			questions := f.questions(seed.Rand(0), *replays)
			good := 0
			for i, want := range f.askRedis(t, socket, questions) {
				if got := f.ours(questions[i]); got != want {
					t.Errorf("seed %d: %.200q:\n got %.200s\nwant %.200s", seed, questions[i], got, want)
				}
				if want[0] != '-' || want[1] != 'E' {
					good++
				}
			}
			if good < *replays/2 {
				t.Errorf("seed %d: got %d numbers, want at least %d: too many are none", seed, good, *replays/2)
			}
		})
	}
}

func TestDoublesAreTheSameInProtocol3(t *testing.T) {
	socket := redistest.Start(t)
	for _, s := range []string{"0.1", "3", "1e21", "1e-5", "inf", "-inf"} {
		replies := exchange(t, socket, "HELLO 3\r\nDEL z\r\nZADD z "+s+" m\r\nZSCORE z m\r\n")
		f, _ := ParseDouble([]byte(s))
		w := Writer{Proto: 3}
		w.Double(f)
		if got, want := string(w.Buf), replies; !strings.HasSuffix(want, got) {
			t.Errorf("%s: got %q, want the end of %q", s, got, want)
		}
	}
}

func TestHumanDoublesHaveNoTrailingZeros(t *testing.T) {
	for _, tt := range []struct {
		f    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "0"}, {-1e-30, "0"}, {10, "10"}, {-100, "-100"}, {2.5, "2.5"}, {0.1, "0.10000000000000001"},
		{13.361389338970184, "13.36138933897018433"}, {1e22, "10000000000000000000000"}, {math.Inf(-1), "-inf"}, {math.NaN(), "nan"},
	} {
		if got := string(AppendHumanDouble([]byte("x"), tt.f)); got != "x"+tt.want {
			t.Errorf("%v: got %s, want x%s", tt.f, got, tt.want)
		}
	}
}

// TestWholeDoublesTakeNoOtherForm compares the fast way with the general one
// around its borders.
func TestWholeDoublesTakeNoOtherForm(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 1e14, 999999999999999, 1e15, -1e15, 1e15 + 1, 1e16, 1e17, 1e300, math.MaxInt64, math.MinInt64, 0.5} {
		got, want := string(AppendDouble(nil, f)), strconv.FormatFloat(f, 'g', 17, 64)
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParsingAllocatesNothing(t *testing.T) {
	integer, double := []byte("-9223372036854775808"), []byte("3.1415926535897931")
	got := testing.AllocsPerRun(100, func() {
		if _, ok := ParseInt(integer); !ok {
			t.Fatal("no integer")
		}
		if _, ok := ParseDouble(double); !ok {
			t.Fatal("no float")
		}
	})
	if got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

// FuzzNumbers reads anything. What is an integer prints as itself, what is a
// double is a long double as well, and a sum with zero can be read again.
func FuzzNumbers(f *testing.F) {
	for _, text := range append(append([]string(nil), floatTexts...), integerTexts...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := ParseInt([]byte(text))
		if ok && strconv.FormatInt(n, 10) != text {
			t.Errorf("integer %q: got %d, want the same text", text, n)
		}
		double, isDouble := ParseDouble([]byte(text))
		if ok && (!isDouble || double != float64(n)) {
			t.Errorf("%q: got %v %v as a double, want %d", text, double, isDouble, n)
		}
		if again, ok := ParseDouble(AppendDouble(nil, double)); isDouble && (!ok || again != double) {
			t.Errorf("%q: got %v from what %v prints", text, again, double)
		}
		if _, err := ParseLongDouble([]byte(text)); isDouble && err != nil && len(text) <= longMaxText {
			t.Errorf("%q: got %v as a long double, want what the double %v is", text, err, double)
		}
		sum, err := AddFloat(text, "0")
		if err != nil {
			return
		}
		if again, err := AddFloat("0", sum); err != nil || again != sum {
			t.Errorf("%q: got %q %v, want %q again", text, again, err, sum)
		}
	})
}

func BenchmarkNumbers(b *testing.B) {
	b.Run("parse=double", func(b *testing.B) {
		text := []byte("1234.5678")
		for b.Loop() {
			ParseDouble(text)
		}
	})
	b.Run("append=double", func(b *testing.B) {
		var buf [32]byte
		for b.Loop() {
			AppendDouble(buf[:0], 1234.5678)
		}
	})
	b.Run("add=float", func(b *testing.B) {
		for b.Loop() {
			AddFloat("1234.5678", "0.1")
		}
	})
}
