package journal

// A token names one moment of one store: what parses is printed the same
// again, and nothing else parses.

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/firndb/firn/schema"
)

const incarnation = "00112233445566778899aabbccddeeff"

func TestTokensComeBack(t *testing.T) {
	for _, ts := range []schema.Timestamp{0, 1, 1763683200000000, math.MaxInt64} {
		want := Token{Incarnation: incarnation, TS: ts}
		text := want.String()
		if len(text) != 33 || !IsToken(text) {
			t.Errorf("token of %d: got %q, want @ and 32 characters", ts, text)
		}
		got, err := ParseToken(text)
		if err != nil || got != want {
			t.Errorf("token of %d: got %+v, %v, want %+v", ts, got, err, want)
		}
		if at, err := got.In(incarnation); at != ts || err != nil {
			t.Errorf("token in its own store: got %d, %v, want %d", at, err, ts)
		}
	}
	if got, want := (Token{incarnation, 1}).String(), "@ABEiM0RVZneImaq7zN3u_wAAAAAAAAAB"; got != want {
		t.Errorf("token as text: got %s, want %s: clients keep these", got, want)
	}
}

func TestTokenOfAnotherStoreIsForked(t *testing.T) {
	other := strings.Repeat("0", 32)
	if at, err := (Token{incarnation, 7}).In(other); !errors.Is(err, ErrForked) || at != 0 {
		t.Errorf("token in another store: got %d, %v, want ErrForked", at, err)
	}
}

// notTokens are close to being one.
var notTokens = []string{
	"", "@", "ABEiM0RVZneImaq7zN3u_wAAAAAAAAAB", "@ABEiM0RVZneImaq7zN3u_wAAAAAAAAA",
	"@ABEiM0RVZneImaq7zN3u_wAAAAAAAAABB", "@ABEiM0RVZneImaq7zN3u/wAAAAAAAAAB", "@ABEiM0RVZneImaq7zN3u_w_________",
	"@@BEiM0RVZneImaq7zN3u_wAAAAAAAAAB", " @ABEiM0RVZneImaq7zN3u_wAAAAAAAAAB", "@ABEiM0RVZneImaq7zN3u_wAAAAAAAAAB\n",
	"@ABEiM0RVZneImaq7zN3u_wAA\nAAAAAAAB", "@ABEiM0RVZneImaq7zN3u_wAA\r\nAAAAAAAB", "@ABEiM0RVZneImaq7zN3u_wAAAAAAAAA=",
}

func TestOtherTextsAreNotTokens(t *testing.T) {
	for _, text := range append(notTokens, Token{incarnation, -1}.String()) {
		if got, err := ParseToken(text); !errors.Is(err, ErrToken) || got != (Token{}) {
			t.Errorf("%q: got %+v, %v, want ErrToken", text, got, err)
		}
	}
}

// FuzzToken: what parses is printed the same again.
func FuzzToken(f *testing.F) {
	f.Add(Token{incarnation, 0}.String())
	f.Add(Token{incarnation, math.MaxInt64}.String())
	f.Add(Token{strings.Repeat("f", 32), 1763683200000000}.String())
	for _, text := range notTokens {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		token, err := ParseToken(text)
		if err != nil {
			if !errors.Is(err, ErrToken) {
				t.Fatalf("%q: got %v, want ErrToken", text, err)
			}
			return
		}
		if got := token.String(); got != text || token.TS < 0 || len(token.Incarnation) != 32 {
			t.Errorf("%q parses as %+v, which is printed as %q", text, token, got)
		}
	})
}
