package glob

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"

	"github.com/firndb/firn/internal/redistest"
	"github.com/firndb/firn/internal/seed"
)

// Whether a pattern fits is decided by a redis-server of the version that we
// follow, when there is one.

// redisConn starts a redis-server on a socket of its own and connects to it.
// The test is skipped when there is none to start.
func redisConn(t *testing.T) *bufio.ReadWriter {
	t.Helper()
	conn, err := net.Dial("unix", redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return bufio.NewReadWriter(bufio.NewReader(conn), bufio.NewWriter(conn))
}

// command sends one command.
func command(conn *bufio.ReadWriter, args ...[]byte) {
	fmt.Fprintf(conn, "*%d\r\n", len(args))
	for _, arg := range args {
		fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(arg), arg)
	}
}

// length reads the number in a line that begins with mark.
func length(t *testing.T, conn *bufio.ReadWriter, mark string) (n int) {
	t.Helper()
	line, err := conn.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscanf(line, mark+"%d", &n); err != nil {
		t.Fatalf("got %q, want a number behind %s: %v", line, mark, err)
	}
	return n
}

// fits asks which keys each of the patterns fits.
func fits(t *testing.T, conn *bufio.ReadWriter, patterns [][]byte) []map[string]bool {
	t.Helper()
	go func() {
		for _, pattern := range patterns {
			command(conn, []byte("KEYS"), pattern)
		}
		conn.Flush()
	}()
	sets := make([]map[string]bool, len(patterns))
	for i := range sets {
		sets[i] = map[string]bool{}
		for range length(t, conn, "*") {
			name := make([]byte, length(t, conn, "$")+2)
			if _, err := io.ReadFull(conn, name); err != nil {
				t.Fatal(err)
			}
			sets[i][string(name[:len(name)-2])] = true
		}
	}
	return sets
}

// TestRandomPatternsFitTheSameInRedis asks about all short names of a small
// alphabet, which patterns of the same alphabet often fit.
func TestRandomPatternsFitTheSameInRedis(t *testing.T) {
	conn := redisConn(t)
	seed := seed.Fresh(t)
	rng := seed.Rand(0)
	names := [][]byte{{}}
	for range 300 {
		names = append(names, randomBytes(rng, "abAB-]^[\\*?\x00\x80\xff", 6))
	}
	for _, tt := range cases {
		names = append(names, []byte(tt.s))
	}
	set := map[string]bool{}
	for _, name := range names {
		set[string(name)] = true
		command(conn, []byte("SET"), name, []byte("x"))
	}
	conn.Flush()
	for range names {
		if line, _ := conn.ReadString('\n'); line != "+OK\r\n" {
			t.Fatalf("got %q, want OK", line)
		}
	}
	var patterns [][]byte
	for _, tt := range cases {
		if tt.pattern != "*" { // KEYS does not ask the matcher
			patterns = append(patterns, []byte(tt.pattern))
		}
	}
	for len(patterns) < 5_000 {
		pattern := randomBytes(rng, "abAB-]^[\\*?[]-*?\x00\x80\xff", 10)
		if string(pattern) != "*" {
			patterns = append(patterns, pattern)
		}
	}
	fitting := 0
	for i, want := range fits(t, conn, patterns) {
		fitting += len(want)
		for name := range set {
			if got := Match(patterns[i], []byte(name), false); got != want[name] {
				t.Fatalf("seed %d: pattern %q, name %q: got %v, want %v", seed, patterns[i], name, got, want[name])
			}
		}
	}
	if fitting < 5_000 {
		t.Errorf("seed %d: got %d names that fit, want at least 5000", seed, fitting)
	}
}

// TestCaseIsIgnoredAsInRedis asks CONFIG GET, which ignores it in patterns
// that have a special byte.
func TestCaseIsIgnoredAsInRedis(t *testing.T) {
	conn := redisConn(t)
	for _, pattern := range []string{
		"PORT*", "p[O]rt", "P[A-Z]RT", "p[\\O]rt", "p[\\o]rt", "[^P]ort", "[^\\P]ort", "p[n-P]rt", "p[P-n]rt", "p[N-p]rt", "p[Z-a]rt", "p[a-Z]rt", "p[_-p]rt", "p[P-_]rt", "P\\ORT*", "po?T", "p*T",
	} {
		command(conn, []byte("CONFIG"), []byte("GET"), []byte(pattern))
		conn.Flush()
		want := false
		for range length(t, conn, "*") {
			name := make([]byte, length(t, conn, "$")+2)
			if _, err := io.ReadFull(conn, name); err != nil {
				t.Fatal(err)
			}
			want = want || string(name) == "port\r\n"
		}
		if got := Match([]byte(pattern), []byte("port"), true); got != want {
			t.Errorf("%s: got %v, want %v", pattern, got, want)
		}
	}
}

// randomBytes returns up to most bytes of the alphabet.
func randomBytes(rng *rand.Rand, alphabet string, most int) []byte {
	b := make([]byte, rng.IntN(most+1))
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return b
}
