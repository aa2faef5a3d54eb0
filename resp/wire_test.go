package resp

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/internal/seed"
)

// What a client sends is split into the same commands as in Redis, and
// refused with the same text. Each case is a whole conversation.

// wireCase is what a client sends and the commands that are in it, one a
// line and quoted as in Go. A line that begins with ! is the error that ends
// it, one with ? counts the bytes that are still waited with.
type wireCase struct {
	name  string
	in    string
	want  string
	guest bool // the client has not authenticated
	ours  bool // Redis answers otherwise, for the reason that name gives
}

var wireCases = []wireCase{
	{name: "command", in: "*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n", want: `"ECHO" "hi"`},
	{name: "pipeline", in: "PING\r\n*1\r\n$4\r\nPING\r\nPING\r\n", want: `"PING"|"PING"|"PING"`},
	{name: "binary argument", in: "*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\x00\xff\r\n", want: `"ECHO" "\r\n\x00\xff"`},
	{name: "empty arguments", in: "*2\r\n$4\r\nECHO\r\n$0\r\n\r\n", want: `"ECHO" ""`},
	{name: "empty name", in: "*1\r\n$0\r\n\r\nPING\r\n", want: `""|"PING"`},
	{name: "empty array", in: "*0\r\nPING\r\n", want: `"PING"`},
	{name: "null array", in: "*-1\r\nPING\r\n", want: `"PING"`},
	{name: "very negative array", in: "*-9223372036854775808\r\nPING\r\n", want: `"PING"`},
	{name: "bytes after bulk are not checked", in: "*1\r\n$4\r\nPINGxxPING\r\n", want: `"PING"|"PING"`},
	{name: "byte after carriage return is not checked", in: "*1\rx$4\rxPING\r\n", want: `"PING"`},
	{name: "unfinished array", in: "*2\r\n$4\r\nECHO\r\n", want: `?14`},
	{name: "unfinished bulk", in: "PING\r\n*1\r\n$4\r\nPIN", want: `"PING"|?11`},
	{name: "unfinished line break", in: "*1\r\n$4\r\nPING\r", want: `?13`},
	{name: "large bulk to come", in: "*1\r\n$536870912\r\n", want: `?16`},

	{name: "array length is no number", in: "*x\r\n", want: `!invalid multibulk length`},
	{name: "array length is missing", in: "*\r\n", want: `!invalid multibulk length`},
	{name: "array length with plus", in: "*+1\r\n$4\r\nPING\r\n", want: `!invalid multibulk length`},
	{name: "array length with leading zero", in: "*01\r\n$4\r\nPING\r\n", want: `!invalid multibulk length`},
	{name: "array length with blank", in: "* 1\r\n$4\r\nPING\r\n", want: `!invalid multibulk length`},
	{name: "array length and line feed only", in: "*1\n$4\nPING\n\r\n", want: `!invalid multibulk length`},
	{name: "huge array", in: "*2147483648\r\n", want: `!invalid multibulk length`},
	{name: "huger array", in: "*9000000000000000000\r\n", want: `!invalid multibulk length`},
	{name: "overflowing array", in: "*9223372036854775808\r\n", want: `!invalid multibulk length`},
	{name: "more arguments than Redis 6 allowed", in: "*1048577\r\n", want: `!invalid multibulk length`, ours: true},
	{name: "good before bad", in: "PING\r\n*1\r\n$4\r\nPING\r\n*x\r\nPING\r\n", want: `"PING"|"PING"|!invalid multibulk length`},

	{name: "negative bulk", in: "*1\r\n$-1\r\n", want: `!invalid bulk length`},
	{name: "bulk length is no number", in: "*1\r\n$x\r\n", want: `!invalid bulk length`},
	{name: "bulk length is missing", in: "*1\r\n$\r\n", want: `!invalid bulk length`},
	{name: "bulk length with leading zero", in: "*1\r\n$04\r\nPING\r\n", want: `!invalid bulk length`},
	{name: "bulk over limit", in: "*1\r\n$536870913\r\n", want: `!invalid bulk length`},
	{name: "huge bulk", in: "*1\r\n$5368709120\r\n", want: `!invalid bulk length`},
	{name: "bulk whose length overflows", in: "*1\r\n$9223372036854775807\r\n", want: `!invalid bulk length`},
	{name: "no bulk but integer", in: "*1\r\n:5\r\n", want: `!expected '$', got ':'`},
	{name: "no bulk but word", in: "*1\r\nPING\r\n", want: `!expected '$', got 'P'`},
	{name: "no bulk but line break", in: "*1\r\n\r\n", want: `!expected '$', got ' '`},
	{name: "no bulk but line feed", in: "*1\r\n\nx\r\n", want: `!expected '$', got ' '`},
	{name: "no bulk but high byte", in: "*1\r\n\xffx\r\n", want: "!expected '$', got '\xff'"},
	{name: "array in array", in: "*1\r\n*1\r\n$4\r\nPING\r\n", want: `!expected '$', got '*'`},

	{name: "line feed only", in: "PING\nPING\n", want: `"PING"|"PING"`},
	{name: "empty lines", in: "\r\n\r\n\nPING\r\n  \t\r\n", want: `"PING"`},
	{name: "words", in: "ECHO  \t hi \r\n", want: `"ECHO" "hi"`},
	{name: "vertical tab and form feed are skipped", in: "\v\fECHO \v\fhi\r\n", want: `"ECHO" "hi"`},
	{name: "vertical tab inside a word stays", in: "ECHO a\vb\f\r\n", want: `"ECHO" "a\vb\f"`},
	{name: "two carriage returns", in: "PING\r\r\n", want: `"PING"`},
	{name: "carriage return between words", in: "ECHO\rhi\r\n", want: `"ECHO" "hi"`},
	{name: "double quotes", in: `ECHO "a b"` + "\n", want: `"ECHO" "a b"`},
	{name: "escapes", in: `ECHO "\n\r\t\b\a\x00\xFf\q\"\\"` + "\n", want: `"ECHO" "\n\r\t\b\a\x00\xffq\"\\"`},
	{name: "escapes that are not hexadecimal", in: `ECHO "\xg0\x0g\x0"` + "\n", want: `"ECHO" "xg0x0gx0"`},
	{name: "single quotes", in: `ECHO 'a "\n\x41\' b'` + "\n", want: `"ECHO" "a \"\\n\\x41' b"`},
	{name: "quotes inside a word", in: `ECHO ab"c d" ` + "\n", want: `"ECHO" "abc d"`},
	{name: "empty quotes", in: `ECHO ""` + "\n" + `ECHO ''` + "\n", want: `"ECHO" ""|"ECHO" ""`},
	{name: "backslash outside quotes", in: `ECHO a\n"b"` + "\n", want: `"ECHO" "a\\nb"`},
	{name: "double quote does not close", in: `set "a` + "\n", want: `!unbalanced quotes in request`},
	{name: "single quote does not close", in: `set 'a` + "\n", want: `!unbalanced quotes in request`},
	{name: "word after double quotes", in: `set "a"b` + "\n", want: `!unbalanced quotes in request`},
	{name: "word after single quotes", in: `set 'a'b` + "\n", want: `!unbalanced quotes in request`},
	{name: "quotes after quotes", in: `set "a""b"` + "\n", want: `!unbalanced quotes in request`},
	{name: "backslash before the end", in: `set "a\` + "\n", want: `!unbalanced quotes in request`},
	{name: "escaped quote at the end", in: `set "a\"` + "\n", want: `!unbalanced quotes in request`},
	{name: "dollar begins no bulk here", in: "$4\r\nPING\r\n", want: `"$4"|"PING"`},
	{name: "NUL hides the line's end", in: "PI\x00NG\r\nPING\r\n", want: `?13`},
	{name: "NUL hides the bulk's length", in: "*1\r\n\x004\r\nPING\r\n", want: `?14`},
	{name: "NUL hides the array's length", in: "*1\x00\r\n$4\r\nPING\r\n", want: `?15`},

	{name: "line of 64 KiB", in: "ECHO " + strings.Repeat("a", 65531) + "\n", want: `"ECHO" "` + strings.Repeat("a", 65531) + `"`},
	{name: "endless line", in: strings.Repeat("a", 65537), want: `!too big inline request`},
	{name: "endless line behind a NUL", in: "\x00" + strings.Repeat("a", 65534) + "\r\n", want: `!too big inline request`},
	{name: "endless array length", in: "*" + strings.Repeat("1", 65536), want: `!too big mbulk count string`},
	{name: "endless bulk length", in: "*1\r\n$" + strings.Repeat("1", 65536), want: `!too big bulk count string`},
	{name: "long array length", in: "*" + strings.Repeat("1", 1000) + "\r\n", want: `!invalid multibulk length`},

	{name: "guest with ten arguments", guest: true, in: "*10\r\n" + strings.Repeat("$1\r\na\r\n", 10), want: strings.TrimSpace(strings.Repeat(`"a" `, 10))},
	{name: "guest with eleven arguments", guest: true, in: "PING\r\n*11\r\n", want: `"PING"|!unauthenticated multibulk length`},
	{name: "guest with 16 KiB", guest: true, in: "*1\r\n$16384\r\n", want: `?12`},
	{name: "guest with more", guest: true, in: "*1\r\n$16385\r\n", want: `!unauthenticated bulk length`},
	{name: "guest with wrong length", guest: true, in: "*1\r\n$-5\r\n", want: `!invalid bulk length`},
	{name: "guest with a long line", guest: true, ours: true, in: "PING\r\n" + strings.Repeat("a", 16<<10) + "\r\n", want: `"PING"|!too big inline request`},
	{name: "guest with many words", guest: true, ours: true, in: strings.Repeat("a ", 129) + "\r\n", want: `!unauthenticated multibulk length`},
	{name: "guest with a long command", guest: true, ours: true, in: "*3\r\n" + strings.Repeat("$16000\r\n"+strings.Repeat("a", 16000)+"\r\n", 2) + "$800\r\n", want: `!unauthenticated bulk length`},
	{name: "guest with words", guest: true, in: "a b c d e f g h i j k l\r\n", want: `"a" "b" "c" "d" "e" "f" "g" "h" "i" "j" "k" "l"`},
}

// transcript feeds in to r in pieces of at most size bytes and writes down
// what comes out, in the form of wireCase.want.
func transcript(r *Reader, in string, size int) string {
	var lines []string
	for {
		n := copy(r.Space(1), in[:min(size, len(in))])
		in = in[n:]
		r.Fill(n)
		// The commands are looked at when all have been taken: the first
		// must not suffer from the last.
		var batch [][][]byte
		args, ok, err := r.Next()
		for ; ok; args, ok, err = r.Next() {
			batch = append(batch, args)
		}
		for _, args := range batch {
			lines = append(lines, strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%q", args), "["), "]"))
		}
		if err != nil {
			return strings.Join(append(lines, "!"+strings.TrimPrefix(err.Error(), "Protocol error: ")), "|")
		}
		if len(in) == 0 {
			break
		}
	}
	if n := r.Buffered(); n > 0 {
		lines = append(lines, fmt.Sprintf("?%d", n))
	}
	return strings.Join(lines, "|")
}

func TestWireTable(t *testing.T) {
	for _, tt := range wireCases {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1 << 20, 4096, 7, 1} {
				r := NewReader(Limits{})
				r.SetAuthenticated(!tt.guest)
				if got := transcript(r, tt.in, size); got != tt.want {
					t.Errorf("in pieces of %d bytes:\n got %.200s\nwant %.200s", size, got, tt.want)
				}
			}
		})
	}
}

func TestWireTableHoldsInRedis(t *testing.T) {
	open := redistest.Start(t)
	guarded := redistest.Start(t, "--requirepass", "secret")
	for _, tt := range wireCases {
		if tt.ours {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			socket := open
			if tt.guest {
				socket = guarded
			}
			got := leaveOutWording(exchange(t, socket, tt.in))
			if want := answer(tt.in, Limits{}, tt.guest); got != want {
				t.Errorf("\n got %.200q from Redis\nwant %.200q", got, want)
			}
		})
	}
}

// TestRandomBytesMeanTheSameInRedis sends damaged conversations to both.
func TestRandomBytesMeanTheSameInRedis(t *testing.T) {
	socket := redistest.Start(t)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	// Redis 7 counts up to 2^31-1 arguments; the difference is not the point.
	limits := Limits{MaxArgs: 1<<31 - 1}
	commands := 0
	for range 3000 {
		in := damagedConversation(rng)
		got := leaveOutWording(exchange(t, socket, in))
		want := answer(in, limits, false)
		if got != want {
			t.Fatalf("seed %d: %q\n got %q from Redis\nwant %q", seed, in, got, want)
		}
		commands += strings.Count(want, "\r\n")
	}
	if commands < 3000 {
		t.Errorf("seed %d: got %d lines of replies, want at least 3000: the damage is too heavy", seed, commands)
	}
}

// damagedConversation returns a few commands with a few wrong bytes.
func damagedConversation(rng *rand.Rand) string {
	const spice = "*$:\r\n\n\r 0123456789-+\"'\\x\x00\xffPa\t\v"
	var in []byte
	for range 1 + rng.IntN(6) {
		switch rng.IntN(4) {
		case 0:
			in = append(in, "PING\r\n"...)
		case 1:
			in = append(in, `ECHO "a\x41 \n'" `+"\n"...)
		case 2:
			in = append(in, "ECHO 'it\\'s'\r\n"...)
		case 3:
			in = AppendCommand(in, []byte("ECHO"), []byte("some\r\nbytes")[:rng.IntN(12)])
		}
	}
	for range rng.IntN(4) {
		at, c := rng.IntN(len(in)), spice[rng.IntN(len(spice))]
		switch rng.IntN(3) {
		case 0:
			in[at] = c
		case 1:
			in = append(in[:at], append([]byte{c}, in[at:]...)...)
		case 2:
			in = append(in[:at], in[min(at+1+rng.IntN(3), len(in)):]...)
		}
		if len(in) == 0 {
			return "\n"
		}
	}
	return string(in)
}

// answer is what a server that knows PING and ECHO says to in.
func answer(in string, limits Limits, guest bool) string {
	r := NewReader(limits)
	r.SetAuthenticated(!guest)
	var w Writer
	for {
		n := copy(r.Space(1), in)
		in = in[n:]
		r.Fill(n)
		args, ok, err := r.Next()
		for ; ok; args, ok, err = r.Next() {
			reply(&w, args, guest)
		}
		if err != nil {
			w.Error("ERR " + err.Error())
		}
		if err != nil || in == "" {
			return string(w.Buf)
		}
	}
}

func reply(w *Writer, args [][]byte, guest bool) {
	name := strings.ToUpper(string(args[0]))
	switch {
	case guest && (name == "PING" || name == "ECHO"):
		w.Error("NOAUTH Authentication required.")
	case name == "PING" && len(args) == 1:
		w.Simple("PONG")
	case (name == "ECHO" || name == "PING") && len(args) == 2:
		w.Bulk(args[1])
	case name == "ECHO" || name == "PING":
		w.Error("ERR wrong number")
	default:
		w.Error("ERR unknown command")
	}
}

// leaveOutWording cuts the errors that do not concern this package down to
// their beginning.
func leaveOutWording(replies string) string {
	lines := strings.SplitAfter(replies, "\r\n")
	for i, line := range lines {
		for _, cut := range []string{"-ERR unknown command", "-ERR wrong number"} {
			if strings.HasPrefix(line, cut) {
				lines[i] = cut + "\r\n"
			}
		}
	}
	return strings.Join(lines, "")
}

func TestProtocolErrorMatchesItsSentinel(t *testing.T) {
	r := NewReader(Limits{})
	r.Fill(copy(r.Space(1), "*x\r\n"))
	for range 2 {
		_, _, err := r.Next()
		if !errors.Is(err, ErrProtocol) {
			t.Errorf("got %v, want ErrProtocol", err)
		}
	}
}
