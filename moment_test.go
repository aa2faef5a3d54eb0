package firn

// The rule: a text names a moment in one of a few ways, or is ErrMoment; it is
// never guessed at, and never a panic.

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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
		{"-0", today},
		{"-1w", today - 7*24*3600*second},
		{"-0.5w", today - 84*3600*second},
		{"-1d12h", today - 36*3600*second},
		{"-1h2d", today - 49*3600*second},
		{"-1w2d3h4m5s6ms7us", today - ((9*24+3)*3600+4*60+5)*second - 6007},
		{"-1d1d", today - 2*24*3600*second},
		{"-15249w", 0},
		{"2025-11-21", today},
		{"1970-01-01", 0},
		{"1970-01-02", 24 * 3600 * second},
		{"9999-12-31", 253402214400 * second},
		{"999999999", 999999999}, // a second that is too long ago to be meant
		{"10000000000", 10000000000},
		{"999999999999", 999999999999},
		{"10000000000000", 10000000000000},
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
		"9223372036855s", "99999999999999999999s", "-", "-d", "-s", "-5", "-5x", "-.d", "-w", "-1d-2h", "-1d+2h", "-1d2", "-1d0", "-00", "-1D", "-1dw", "-1 d", "-1w ", "--5m", "-+5m", "-5m-", "--2d",
		"-1_0d", "-1e3d", "-999999999d", "-200000d", "-15251w", "-15000w2000d", "-2d106750d2h", "-999999999999h", "-9223372036854775808ns5",
		"2025-11-21T00:00:00", "2025-11-31", "2025-1-2", "25-11-21", "20251121-", "2025-11-21Z", "1969-12-31", "2025-11-21 00:00:00", "2025-13-21T00:00:00Z", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z",
		"@", "@x", "@" + s.Token(5), s.Token(5) + "x", s.Token(5)[:len(s.Token(5))-1] + "!", "\x00", "-\xff",
	} {
		if got, err := s.Moment(text); !errors.Is(err, ErrMoment) || got != 0 {
			t.Errorf("moment %q: got %d, %v, want 0, %v", text, got, err, ErrMoment)
		}
	}
}

// TestNumbersWithoutTheirUnit: what can only be Unix time in another unit says
// which suffix it lacks; a store whose history reaches back there reads it.
func TestNumbersWithoutTheirUnit(t *testing.T) {
	s := momentStore(t)
	for text, meant := range map[string]string{
		"1763683200": "1763683200s", "1000000000": "1000000000s", "9999999999": "9999999999s",
		"1763683200000": "1763683200000ms", "1000000000000": "1000000000000ms", "9999999999999": "9999999999999ms",
	} {
		got, err := s.Moment(text)
		e, ok := errors.AsType[*MomentError](err)
		if !ok || got != 0 || !errors.Is(err, ErrMoment) || e.Meant != meant || !strings.Contains(err.Error(), "write "+meant+" for") {
			t.Errorf("moment %q: got %d, %v, want an error that says %q", text, got, err, meant)
		}
	}
	early, err := Open(filepath.Join(t.TempDir(), "early.db"), Options{
		Durability: None,
		Now:        func() time.Time { return time.Unix(1000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	for _, want := range []Timestamp{1_000_000_000, 1_763_683_200} {
		if got, err := early.Moment(fmt.Sprint(want)); got != want || err != nil {
			t.Errorf("moment %d of a store that is as old: got %d, %v", want, got, err)
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
		"2025-11-21T00:00:00Z", "9223372036854775807", "9223372036854775808", "-.5d", "-1w2d3h", "-1d12h", "-15250w", "2025-11-21", "2025-02-29", "1763683200", "1763683200000", "-\x00", s.Token(7),
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
