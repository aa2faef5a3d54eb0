package firn

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/firndb/firn/journal"
	"github.com/firndb/firn/schema"
)

// Moment reads a text that names a moment:
//
//	1763683200000000          a timestamp, in microseconds
//	1763683200000ms           Unix time in milliseconds
//	1763683200s               Unix time in seconds
//	2025-11-21T00:00:00Z      RFC 3339
//	2025-11-21                midnight, UTC
//	-90s  -5m  -36h  -2d  -1w that long ago
//	-1d12h  -1w2d30m          parts are added up
//	now                       now
//	@…                        a token of this store
//
// A text that names none is ErrMoment, and a token of another line of history
// ErrForked. Whether the moment can be read is for At to say.
//
// A number without a unit that would be Unix time in seconds or milliseconds of
// our days, and as a timestamp comes before anything that the store can tell,
// is a *MomentError, which says what to write instead.
func (s *Store) Moment(text string) (Timestamp, error) {
	switch {
	case journal.IsToken(text):
		token, err := journal.ParseToken(text)
		if err != nil {
			return 0, fmt.Errorf("%w: %q", ErrMoment, text)
		}
		return token.In(s.incarnation)
	case text == "now":
		return s.writer.Clock().Now(), nil
	case strings.HasPrefix(text, "-"):
		return ago(text, s.writer.Clock().Now())
	}
	return absolute(text, s.state.Floor())
}

// ago reads a minus and a duration.
func ago(text string, now Timestamp) (Timestamp, error) {
	d, ok := duration(text[1:])
	if !ok {
		return 0, fmt.Errorf("%w: %q is not a duration like -90s, -36h, -1d12h or -2w", ErrMoment, text)
	}
	return max(now-Timestamp(d.Microseconds()), 0), nil
}

// longUnits are the units that Go's durations lack, each as a number of hours.
var longUnits = map[string]time.Duration{"d": 24, "w": 7 * 24}

// duration reads Go's durations, without a sign and also with days and weeks.
func duration(text string) (total time.Duration, ok bool) {
	if text == "0" {
		return 0, true
	}
	for rest := text; rest != ""; {
		number := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		part := number + strings.IndexAny(rest[number:]+"0", "0123456789.")
		unit, scale := rest[number:part], time.Duration(1)
		if hours := longUnits[unit]; hours != 0 {
			unit, scale = "h", hours
		}
		d, err := time.ParseDuration(rest[:number] + unit)
		if err != nil || unit == "" || d > (math.MaxInt64-total)/scale {
			return 0, false
		}
		total += d * scale
		rest = rest[part:]
	}
	return total, text != ""
}

// absolute reads a number or a date; oldest is the oldest moment of which the
// store can tell anything.
func absolute(text string, oldest Timestamp) (Timestamp, error) {
	number, unit := text, int64(1)
	if n, ok := strings.CutSuffix(text, "ms"); ok {
		number, unit = n, 1000
	} else if n, ok := strings.CutSuffix(text, "s"); ok {
		number, unit = n, 1_000_000
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err == nil && n >= 0 && n <= math.MaxInt64/unit && number[0] != '+':
		if suffix := forgottenUnit(n); unit == 1 && suffix != "" && Timestamp(n) < oldest {
			return 0, &MomentError{Number: Timestamp(n), Meant: number + suffix}
		}
		return Timestamp(n * unit), nil
	case err == nil || errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%w: %q is out of range", ErrMoment, text)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil || t.Unix() < 0 {
		return 0, fmt.Errorf("%w: %q is none of a timestamp, <n>ms, <n>s, a date, an RFC 3339 time, a duration like -5m or -1d12h, now, or a token", ErrMoment, text)
	}
	return schema.TimestampOf(t), nil
}

// forgottenUnit is the suffix that n lacks if it is Unix time in seconds or
// milliseconds between September 2001 and November 2286: 10 or 13 digits.
func forgottenUnit(n int64) string {
	switch {
	case n >= 1e9 && n < 1e10:
		return "s"
	case n >= 1e12 && n < 1e13:
		return "ms"
	}
	return ""
}
