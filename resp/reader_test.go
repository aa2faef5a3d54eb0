package resp

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// A Reader keeps what it handed out, holds little, and reads no byte twice.

// feed gives all of in to r, in pieces of at most size bytes, and returns
// the number of commands in it.
func feed(tb testing.TB, r *Reader, in []byte, size int) int {
	tb.Helper()
	commands := 0
	for len(in) > 0 {
		n := copy(r.Space(1), in[:min(size, len(in))])
		in = in[n:]
		r.Fill(n)
		for {
			_, ok, err := r.Next()
			if err != nil {
				tb.Fatalf("unexpected error: %v", err)
			}
			if !ok {
				break
			}
			commands++
		}
	}
	return commands
}

func set(key, value string) []byte {
	return AppendCommand(nil, []byte("SET"), []byte(key), []byte(value))
}

// TestCommandsOfOneBatchStayApart takes more commands from one buffer than
// the headers of a page can hold, and looks at them afterwards.
func TestCommandsOfOneBatchStayApart(t *testing.T) {
	var in []byte
	const count = 2 * pageArgs
	for i := range count {
		in = append(in, set(fmt.Sprint("key", i), fmt.Sprint("value", i))...)
	}
	r := NewReader(Limits{})
	r.Fill(copy(r.Space(len(in)), in))
	var batch [][][]byte
	for {
		args, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		batch = append(batch, args)
	}
	if len(batch) != count {
		t.Fatalf("got %d commands, want %d", len(batch), count)
	}
	for i, args := range batch {
		got, want := fmt.Sprintf("%s", args), fmt.Sprintf("[SET key%d value%d]", i, i)
		if got != want {
			t.Errorf("command %d: got %s, want %s", i, got, want)
		}
	}
}

func TestArgumentsCannotGrowIntoTheirNeighbours(t *testing.T) {
	r := NewReader(Limits{})
	r.Fill(copy(r.Space(1), set("k", "v")))
	args, _, _ := r.Next()
	_ = append(args[1], "overwritten"...)
	if got, want := fmt.Sprintf("%s", args), "[SET k v]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := cap(args), len(args); got != want {
		t.Errorf("headers: got capacity %d, want %d", got, want)
	}
}

// TestRandomPiecesMakeTheSameCommands cuts a long stream of commands of all
// sizes at random points, releasing the buffer now and then.
func TestRandomPiecesMakeTheSameCommands(t *testing.T) {
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	var in []byte
	var want []string
	for range 400 {
		value := bytes.Repeat([]byte{byte(rng.Uint32())}, 1<<rng.IntN(18))
		args := [][]byte{[]byte("SET"), []byte("key")}
		for range rng.IntN(4) {
			args = append(args, value[:rng.IntN(len(value))])
		}
		if rng.IntN(2) == 0 {
			args = [][]byte{[]byte("ECHO"), bytes.Repeat([]byte("a"), 1+rng.IntN(60_000))}
			in = append(append(in, bytes.Join(args, []byte(" "))...), '\n')
		} else {
			in = AppendCommand(in, args...)
		}
		want = append(want, fmt.Sprintf("%x", args))
	}
	r := NewReader(Limits{})
	for len(in) > 0 {
		if rng.IntN(4) == 0 {
			r.Release()
		}
		least := 1 << rng.IntN(16)
		room := r.Space(least)
		if len(room) < least {
			t.Fatalf("seed %d: got room for %d, want %d", seed, len(room), least)
		}
		n := copy(room[:1+rng.IntN(len(room))], in)
		in = in[n:]
		r.Fill(n)
		for {
			args, ok, err := r.Next()
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if !ok {
				break
			}
			if got := fmt.Sprintf("%x", args); got != want[0] {
				t.Fatalf("seed %d: got %.100s, want %.100s", seed, got, want[0])
			}
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("seed %d: got %d commands too few", seed, len(want))
	}
}

func TestAnnouncedBytesTakeNoMemory(t *testing.T) {
	r := NewReader(Limits{})
	feed(t, r, []byte("*1048576\r\n$536870912\r\nabc"), 1<<20)
	r.Space(MinSpace)
	if got, want := len(r.buf), pageBytes; got != want {
		t.Errorf("got a buffer of %d, want %d", got, want)
	}
}

func TestBufferIsNotMuchLargerThanItsCommand(t *testing.T) {
	const size = 5<<20 + 1
	in := set("k", strings.Repeat("v", size))
	r := NewReader(Limits{})
	feed(t, r, in[:len(in)-1], 16<<10)
	if got, most := len(r.buf), len(in)+MinSpace; got > most {
		t.Errorf("got a buffer of %d for a command of %d", got, len(in))
	}
	if got := feed(t, r, in[len(in)-1:], 1); got != 1 {
		t.Errorf("got %d commands, want 1", got)
	}
	r.Space(1)
	if got, want := len(r.buf), pageBytes; got != want {
		t.Errorf("afterwards: got a buffer of %d, want %d", got, want)
	}
}

// TestOldBuffersAreForgotten looks for headers that keep them alive, after a
// command that needed more headers than a page has.
func TestOldBuffersAreForgotten(t *testing.T) {
	args := make([][]byte, 2*pageArgs)
	args[0] = make([]byte, 2*idleBytes)
	r := NewReader(Limits{})
	feed(t, r, append(set("k", "v"), AppendCommand(nil, args...)...), 16<<10)
	r.Space(1)
	for name, slab := range map[string][][]byte{"page": r.page.args[:], "slab": r.slab} {
		for i, arg := range slab {
			if arg != nil {
				t.Fatalf("header %d in the %s still holds the old buffer", i, name)
			}
		}
	}
}

func TestManyArgumentsAreForgottenAfterwards(t *testing.T) {
	args := make([][]byte, idleArgs+1)
	r := NewReader(Limits{})
	if got := feed(t, r, AppendCommand(nil, args...), 16<<10); got != 1 {
		t.Fatalf("got %d commands, want 1", got)
	}
	r.Space(1)
	if got, want := len(r.slab), pageArgs; got != want {
		t.Errorf("got %d headers, want %d", got, want)
	}
	if got, want := cap(r.places), pagePlaces; got != want {
		t.Errorf("got %d places, want %d", got, want)
	}
}

// TestSmallPiecesAreCopiedSeldom counts how often the buffer is moved while
// commands arrive in small reads. The count must grow with the logarithm.
func TestSmallPiecesAreCopiedSeldom(t *testing.T) {
	many := bytes.Split(bytes.Repeat([]byte(strings.Repeat("v", 100)+","), 50_000), []byte(","))
	for name, in := range map[string][]byte{
		"one large argument":   set("k", strings.Repeat("v", 8<<20)),
		"many small arguments": AppendCommand(nil, many...),
	} {
		t.Run(name, func(t *testing.T) {
			r := NewReader(Limits{})
			sizes := map[int]bool{}
			for len(in) > 0 {
				n := copy(r.Space(1), in[:min(4096, len(in))])
				in = in[n:]
				r.Fill(n)
				sizes[len(r.buf)] = true
				if _, _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if got, most := len(sizes), 12; got > most {
				t.Errorf("got buffers of %d sizes, want at most %d", got, most)
			}
		})
	}
}

func TestReleaseKeepsAnUnfinishedCommand(t *testing.T) {
	in := set("k", "v")
	r := NewReader(Limits{})
	feed(t, r, in[:len(in)-3], 1<<10)
	if r.Release() {
		t.Errorf("got a release in the middle of a command")
	}
	if got := feed(t, r, in[len(in)-3:], 1<<10); got != 1 {
		t.Errorf("got %d commands, want 1", got)
	}
	if !r.Release() || r.buf != nil || r.page != nil {
		t.Errorf("got no release with all commands taken")
	}
	if got := feed(t, r, in, 1<<10); got != 1 {
		t.Errorf("after the release: got %d commands, want 1", got)
	}
}

// TestReleasedPagesReferToNothing guards against a page in the pool that
// keeps large buffers alive.
func TestReleasedPagesReferToNothing(t *testing.T) {
	r := NewReader(Limits{})
	var in []byte
	for range pageArgs { // three headers each: a second slab is needed
		in = append(in, set("k", strings.Repeat("v", 100))...)
	}
	r.Fill(copy(r.Space(len(in)), in))
	for {
		if _, ok, _ := r.Next(); !ok {
			break
		}
	}
	page := r.page
	r.Release()
	for i, arg := range page.args {
		if arg != nil {
			t.Fatalf("header %d of %d is still set", i, pageArgs)
		}
	}
}

func TestLimitsAreEnforced(t *testing.T) {
	limits := Limits{MaxBulk: 10, MaxArgs: 3, MaxInline: 40, MaxCommandBytes: 50}
	for _, tt := range []struct{ name, in, want string }{
		{"bulk at the limit", "*1\r\n$10\r\n0123456789\r\n", `"0123456789"`},
		{"bulk above it", "*1\r\n$11\r\n", `!invalid bulk length`},
		{"arguments at the limit", "*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n", `"a" "b" "c"`},
		{"arguments above it", "*4\r\n", `!invalid multibulk length`},
		{"line at the limit", strings.Repeat("a", 40) + "\n", `"` + strings.Repeat("a", 40) + `"`},
		{"line above it", strings.Repeat("a", 41) + "\n", `!too big inline request`},
		{"command at the limit", "*3\r\n$10\r\n0123456789\r\n$9\r\n012345678\r\n$8\r\n01234567\r\n", `"0123456789" "012345678" "01234567"`},
		{"command above it", "*3\r\n$10\r\n0123456789\r\n$9\r\n012345678\r\n$9\r\n", `!too big command`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1 << 10, 1} {
				if got := transcript(NewReader(limits), tt.in, size); got != tt.want {
					t.Errorf("in pieces of %d bytes: got %s, want %s", size, got, tt.want)
				}
			}
		})
	}
}

func TestLimitsAreLiftedByAuthentication(t *testing.T) {
	in := "*11\r\n" + strings.Repeat("$1\r\na\r\n", 11)
	r := NewReader(Limits{})
	r.SetAuthenticated(false)
	r.Fill(copy(r.Space(1), "AUTH secret\r\n"+in))
	if args, ok, err := r.Next(); len(args) != 2 || !ok || err != nil {
		t.Fatalf("got %q %v %v, want AUTH", args, ok, err)
	}
	r.SetAuthenticated(true)
	if args, ok, err := r.Next(); len(args) != 11 || !ok || err != nil {
		t.Errorf("got %q %v %v, want 11 arguments", args, ok, err)
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	in := bytes.Repeat(set("key:000000000001", strings.Repeat("v", 64)), 16)
	in = append(in, "ECHO \"an inline command\"\r\n"...)
	r := NewReader(Limits{})
	for _, size := range []int{len(in), 100} {
		got := testing.AllocsPerRun(100, func() {
			if got, want := feed(t, r, in, size), 17; got != want {
				t.Fatalf("got %d commands, want %d", got, want)
			}
		})
		if got != 0 {
			t.Errorf("in pieces of %d bytes: got %v allocations, want 0", size, got)
		}
	}
}

// FuzzReader cuts any input at any point: the commands and the error are the
// same as in one piece, and the limits are kept.
func FuzzReader(f *testing.F) {
	for i, tt := range wireCases {
		if len(tt.in) < 1000 {
			f.Add([]byte(tt.in), uint16(i))
		}
	}
	f.Add([]byte("*4\r\n$1\r\na\r\n$0\r\n\r\n$10\r\n0123456789\r\n$3\r\nabc\r\n"), uint16(5))
	f.Fuzz(func(t *testing.T, in []byte, cut uint16) {
		limits := Limits{MaxBulk: 200, MaxArgs: 20, MaxInline: 64, MaxCommandBytes: 500}
		want := transcript(NewReader(limits), string(in), 1<<20)
		at := int(cut) % (len(in) + 1)
		r := NewReader(limits)
		got := transcript(r, string(in[:at]), 1<<20)
		got = join(cutWaiting(got), got, transcript(r, string(in[at:]), 1<<20))
		if got != want {
			t.Errorf("cut at %d:\n got %s\nwant %s", at, got, want)
		}
		if got := transcript(NewReader(limits), string(in), 1); got != want {
			t.Errorf("byte by byte:\n got %s\nwant %s", got, want)
		}
		if len(r.buf) > pageBytes && len(in) < pageBytes/2 {
			t.Errorf("got a buffer of %d for %d bytes", len(r.buf), len(in))
		}
	})
}

// join puts two transcripts of one Reader together. An error is in both.
func join(first, whole, second string) string {
	switch {
	case strings.Contains(whole, "!") && strings.HasPrefix(second, "!") && strings.HasSuffix(whole, second):
		return whole
	case first == "" || second == "":
		return first + second
	}
	return first + "|" + second
}

// cutWaiting removes the count of waiting bytes from a transcript.
func cutWaiting(s string) string {
	at := strings.LastIndexByte(s, '|') + 1
	if !strings.HasPrefix(s[at:], "?") {
		return s
	}
	return strings.TrimSuffix(s[:at], "|")
}

// FuzzCommand encodes any arguments and reads them again.
func FuzzCommand(f *testing.F) {
	f.Add([]byte("SET,key,value"), byte(','))
	f.Add([]byte("a\r\n\x00b\r\n$5\r\n"), byte('\n'))
	f.Add([]byte(""), byte(' '))
	f.Fuzz(func(t *testing.T, text []byte, separator byte) {
		want := bytes.Split(text, []byte{separator})
		r := NewReader(Limits{})
		in := AppendCommand(nil, want...)
		r.Fill(copy(r.Space(len(in)), in))
		got, ok, err := r.Next()
		if !ok || err != nil {
			t.Fatalf("got %v %v, want a command", ok, err)
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if r.Buffered() != 0 {
			t.Errorf("got %d bytes left, want 0", r.Buffered())
		}
	})
}

func BenchmarkReader(b *testing.B) {
	for _, pipeline := range []int{1, 16, 128} {
		b.Run(fmt.Sprintf("pipeline=%d", pipeline), func(b *testing.B) {
			in := bytes.Repeat(set("key:000000000001", strings.Repeat("v", 64)), pipeline)
			r := NewReader(Limits{})
			b.SetBytes(int64(len(in) / pipeline))
			b.ReportAllocs()
			for n := 0; n < b.N; n += pipeline {
				feed(b, r, in, len(in))
				r.Release()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commands/s")
		})
	}
	for _, size := range []int{64 << 10, 16 << 20} {
		b.Run(fmt.Sprintf("value=%dKiB/read=16KiB", size>>10), func(b *testing.B) {
			in := set("k", strings.Repeat("v", size))
			r := NewReader(Limits{})
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				feed(b, r, in, 16<<10)
			}
		})
	}
}
