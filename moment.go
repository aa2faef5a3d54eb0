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
//	1763683200000000        a timestamp, in microseconds
//	1763683200000ms         Unix time in milliseconds
//	1763683200s             Unix time in seconds
//	2025-11-21T00:00:00Z    RFC 3339
//	-90s  -5m  -36h  -2d    that long ago
//	now                     now
//	@…                      a token of this store
//
// A text that names none is ErrMoment, and a token of another line of history
// ErrForked. Whether the moment can be read is for At to say.
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
	return absolute(text)
}

func ago(text string, now Timestamp) (Timestamp, error) {
	span, unit := text[1:], time.Duration(1)
	if days, ok := strings.CutSuffix(span, "d"); ok && strings.Trim(days, "0123456789.") == "" {
		span, unit = days+"h", 24 // days stand alone: Go's durations end with hours
	}
	d, err := time.ParseDuration(span)
	if err != nil || strings.ContainsAny(span, "+-") || d > math.MaxInt64/unit {
		return 0, fmt.Errorf("%w: %q is not a duration like -90s, -5m, -36h or -2d", ErrMoment, text)
	}
	return max(now-Timestamp((d*unit).Microseconds()), 0), nil
}

func absolute(text string) (Timestamp, error) {
	number, unit := text, int64(1)
	if n, ok := strings.CutSuffix(text, "ms"); ok {
		number, unit = n, 1000
	} else if n, ok := strings.CutSuffix(text, "s"); ok {
		number, unit = n, 1_000_000
	}
	n, err := strconv.ParseInt(number, 10, 64)
	switch {
	case err == nil && n >= 0 && n <= math.MaxInt64/unit && number[0] != '+':
		return Timestamp(n * unit), nil
	case err == nil || errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%w: %q is out of range", ErrMoment, text)
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil || t.Unix() < 0 {
		return 0, fmt.Errorf("%w: %q is none of a timestamp, <n>ms, <n>s, an RFC 3339 time, a duration like -5m, now, or a token", ErrMoment, text)
	}
	return schema.TimestampOf(t), nil
}
