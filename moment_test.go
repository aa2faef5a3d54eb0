package firn

// The rule: a text names a moment in one of a few ways, or is ErrMoment; it is
// never guessed at, and never a panic.

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/firndb/firn/journal"
)

// momentStore is a store whose clock stands at 2025-11-21T00:00:00Z.
func momentStore(t testing.TB) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "moment.db"), Options{
		Durability: None,
		Now:        func() time.Time { return time.Unix(1763683200, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

const (
	second = 1_000_000 // in µs
	today  = 1763683200 * second
)

func TestMoment(t *testing.T) {
	s := momentStore(t)
	for _, tt := range []struct {
		text string
		want Timestamp
	}{
		{"0", 0},
		{"1763683200000000", today},
		{"9223372036854775807", 1<<63 - 1},
		{"1763683200000ms", today},
		{"9223372036854775ms", 9223372036854775000},
		{"1763683200s", today},
		{"9223372036854s", 9223372036854000000},
		{"2025-11-21T00:00:00Z", today},
		{"2025-11-21T01:00:00+01:00", today},
		{"2025-11-21T00:00:00.000007Z", today + 7},
		{"1970-01-01T00:00:00Z", 0},
		{"9999-12-31T23:59:59Z", 253402300799 * second},
		{"now", today},
		{"-0s", today},
		{"-90s", today - 90*second},
		{"-5m", today - 300*second},
		{"-36h", today - 36*3600*second},
		{"-1h30m", today - 5400*second},
		{"-250ms", today - second/4},
		{"-7us", today - 7},
		{"-2d", today - 2*24*3600*second},
		{"-0.5d", today - 12*3600*second},
		{"-100000d", 0},
		{s.Token(today - 5), today - 5},
		{s.Token(0), 0},
	} {
		if got, err := s.Moment(tt.text); err != nil || got != tt.want {
			t.Errorf("moment %q: got %d, %v, want %d", tt.text, got, err, tt.want)
		}
	}
}

func TestTextsThatAreNoMoment(t *testing.T) {
	s := momentStore(t)
	for _, text := range []string{
		"", " ", "x", "NOW", "now ", "yesterday", "1.5", "1.5s", "1e6", "0x10", "1_000", "+5", "+5s", " 5", "5 ",
		"ms", "s", "5m", "5h", "5d", "5us", "12345678901234567890", "9223372036854775808", "9223372036854776ms",
		"9223372036855s", "99999999999999999999s", "-", "-d", "-s", "-5", "-5x", "-.d", "-1h2d", "-2d3h", "--5m", "-+5m", "-5m-", "--2d",
		"-1_0d", "-1e3d", "-999999999d", "-200000d", "-999999999999h", "-9223372036854775808ns5",
		"2025-11-21", "2025-11-21T00:00:00", "2025-13-21T00:00:00Z", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
		"@", "@x", "@" + s.Token(5), s.Token(5) + "x", s.Token(5)[:len(s.Token(5))-1] + "!", "\x00", "-\xff",
	} {
		if got, err := s.Moment(text); !errors.Is(err, ErrMoment) || got != 0 {
			t.Errorf("moment %q: got %d, %v, want 0, %v", text, got, err, ErrMoment)
		}
	}
}

func TestTokensOfAnotherStoreAreForked(t *testing.T) {
	s, other := momentStore(t), momentStore(t)
	if got, err := s.Moment(other.Token(today)); !errors.Is(err, ErrForked) || got != 0 {
		t.Errorf("another store's token: got %d, %v, want 0, %v", got, err, ErrForked)
	}
}

// FuzzMoment: whatever the text, the answer is a moment that At may be asked
// for, or one of two errors.
func FuzzMoment(f *testing.F) {
	s := momentStore(f)
	for _, seed := range []string{
		"", "0", "now", "-2d", "-90s", "-1h2d", "-9999999d", "1763683200000000", "1763683200000ms", "1763683200s",
		"2025-11-21T00:00:00Z", "9223372036854775807", "9223372036854775808", "-.5d", "-\x00", s.Token(7),
		journal.Token{Incarnation: "other", TS: 7}.String(), "@",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ts, err := s.Moment(text)
		switch {
		case err == nil && ts >= 0:
			if again, err := s.Moment(s.Token(ts)); err != nil || again != ts {
				t.Errorf("moment %q by its token: got %d, %v, want %d", text, again, err, ts)
			}
		case err == nil:
			t.Errorf("moment %q: got %d, want at least 0", text, ts)
		case ts != 0 || !errors.Is(err, ErrMoment) && !errors.Is(err, ErrForked):
			t.Errorf("moment %q: got %d, %v, want 0, %v or %v", text, ts, err, ErrMoment, ErrForked)
		}
	})
}
