package resp

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/firndb/firn/internal/seed"
)

// peeked is what Peek shows.
func peeked(r *Reader, most int) (all [][]string) {
	r.Peek(most, func(args [][]byte) { all = append(all, texts(args)) })
	return all
}

func texts(args [][]byte) (words []string) {
	for _, arg := range args {
		words = append(words, string(arg))
	}
	return words
}

// TestPeekChangesNothing has the same bytes read with and without it, in
// pieces: commands and errors are the same, and come in the same order.
func TestPeekChangesNothing(t *testing.T) {
	rnd := seed.Fresh(t).Rand(0)
	for range 300 {
		input := randomPipeline(rnd)
		plain, peeking := NewReader(Limits{}), NewReader(Limits{})
		for len(input) > 0 {
			n := 1 + rnd.IntN(min(len(input), 200))
			for _, r := range []*Reader{plain, peeking} {
				copy(r.Space(n), input[:n])
				r.Fill(n)
			}
			input = input[n:]
			for range rnd.IntN(40) { // some are left to the next round
				seen := peeked(peeking, rnd.IntN(80))
				got, ok, err := peeking.Next()
				want, wantOK, wantErr := plain.Next()
				if !reflect.DeepEqual(texts(got), texts(want)) || ok != wantOK || err != wantErr {
					t.Fatalf("next: got %q %t %v, want %q %t %v", got, ok, err, want, wantOK, wantErr)
				}
				if !ok && plain.Buffered() != peeking.Buffered() {
					t.Fatalf("buffered: got %d, want %d", peeking.Buffered(), plain.Buffered())
				}
				if len(seen) > 0 && !reflect.DeepEqual(seen[0], texts(want)) {
					t.Fatalf("peek: got %q, want %q first", seen, want)
				}
			}
		}
	}
}

// randomPipeline is commands of all forms, perhaps with an error behind them.
func randomPipeline(rnd *rand.Rand) string {
	var b strings.Builder
	for range rnd.IntN(300) {
		switch rnd.IntN(8) {
		case 0:
			fmt.Fprintf(&b, "PING %d\r\n", rnd.IntN(100))
		case 1:
			b.WriteString("\r\n*0\r\n")
		default:
			n := 1 + rnd.IntN(4)
			fmt.Fprintf(&b, "*%d\r\n", n)
			for range n {
				word := strings.Repeat("x", rnd.IntN(90))
				fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
			}
		}
	}
	if rnd.IntN(2) == 0 {
		b.WriteString("*1\r\n!1\r\n")
	}
	return b.String()
}

// TestPeekWaitsForAuthentication: the client's limits, and what its next
// command is, depend on the one before.
func TestPeekWaitsForAuthentication(t *testing.T) {
	r := NewReader(Limits{})
	r.SetAuthenticated(false)
	r.Fill(copy(r.Space(100), "PING\r\nPING\r\n"))
	if got := peeked(r, 9); len(got) > 0 {
		t.Errorf("of a guest: got %q, want nothing", got)
	}
	r.SetAuthenticated(true)
	if got := peeked(r, 9); len(got) != 2 {
		t.Errorf("of a client: got %q, want two commands", got)
	}
	r.SetAuthenticated(false)
	r.Fill(copy(r.Space(1000), "*11\r\n"))
	r.Next()
	r.Next()
	if _, _, err := r.Next(); err != errGuestMultibulkLength {
		t.Errorf("of a guest again: got %v, want %v", err, errGuestMultibulkLength)
	}
}
