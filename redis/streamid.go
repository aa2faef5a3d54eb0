package redis

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// streamID names an entry of a stream: a time in milliseconds, which nobody
// checks, and a number within that. Both may be any unsigned integer. The
// zero streamID names no entry.
type streamID struct{ ms, seq uint64 }

// greatestID is the last id that an entry can have.
var greatestID = streamID{math.MaxUint64, math.MaxUint64}

func (id streamID) compare(other streamID) int {
	return cmp.Or(cmp.Compare(id.ms, other.ms), cmp.Compare(id.seq, other.seq))
}

func (id streamID) less(other streamID) bool { return id.compare(other) < 0 }

// next is the id after this one; ok is false if this is the greatest.
func (id streamID) next() (next streamID, ok bool) {
	if id == greatestID {
		return id, false
	}
	id.seq++
	if id.seq == 0 {
		id.ms++
	}
	return id, true
}

// prev is the id before this one; ok is false if this is zero.
func (id streamID) prev() (prev streamID, ok bool) {
	if id == (streamID{}) {
		return id, false
	}
	if id.seq == 0 {
		id.ms--
	}
	id.seq--
	return id, true
}

// streamIDBytes is the length of the longest printed id.
const streamIDBytes = 41

// appendTo appends the id as clients see it: 1526919030474-55.
func (id streamID) appendTo(dst []byte) []byte {
	dst = strconv.AppendUint(dst, id.ms, 10)
	return strconv.AppendUint(append(dst, '-'), id.seq, 10)
}

// replyID appends an id as a bulk string.
func replyID(w *resp.Writer, id streamID) {
	var text [streamIDBytes]byte
	w.Bulk(id.appendTo(text[:0]))
}

// appendKey appends the id as elements of a key, in the order of ids. Each of
// its two numbers is an integer if it is below 1<<63 - 1, which all usual ones
// are: an id of today takes 9 bytes. A number from there on is the integer
// 1<<63 - 1 and then the number less 1<<63.
func (id streamID) appendKey(dst []byte) []byte {
	return appendKeyNumber(appendKeyNumber(dst, id.ms), id.seq)
}

func appendKeyNumber(dst []byte, n uint64) []byte {
	if n < math.MaxInt64 {
		return tuple.AppendInt(dst, int64(n))
	}
	return tuple.AppendInt(tuple.AppendInt(dst, math.MaxInt64), int64(n-1<<63))
}

// takeIDKey undoes appendKey. A key that is not exactly an id is errDamaged.
func takeIDKey(key string) (id streamID, err error) {
	ms, rest, ok := takeKeyNumber(key)
	seq, rest, ok2 := takeKeyNumber(rest)
	if !ok || !ok2 || rest != "" {
		return streamID{}, fmt.Errorf("stream id % x: %w", key, errDamaged)
	}
	return streamID{ms, seq}, nil
}

func takeKeyNumber(key string) (n uint64, rest string, ok bool) {
	small, rest, err := tuple.TakeInt(key)
	if err != nil || small < 0 {
		return 0, "", false
	}
	if small < math.MaxInt64 {
		return uint64(small), rest, true
	}
	over, rest, err := tuple.TakeInt(rest)
	return uint64(over) + 1<<63, rest, err == nil && over >= -1
}

// errStreamID is the answer to a malformed id.
const errStreamID = resp.Error("ERR Invalid stream ID specified as stream command argument")

// maxIDArgBytes is the longest argument that Redis looks for an id in.
const maxIDArgBytes = 127

// parseIDOrStar is parseID that takes the form <ms>-* as well, and says so.
func parseIDOrStar(arg []byte, missing uint64) (id streamID, star bool, err error) {
	if len(arg) > maxIDArgBytes {
		return id, false, errStreamID
	}
	text := cutAtZero(arg)
	ms, seq, both := bytes.Cut(text, []byte("-"))
	var ok bool
	if id.ms, ok = parseIDNumber(ms); !ok {
		return streamID{}, false, errStreamID
	}
	switch {
	case !both:
		id.seq = missing
	case string(seq) == "*":
		return id, true, nil
	default:
		if id.seq, ok = parseIDNumber(seq); !ok {
			return streamID{}, false, errStreamID
		}
	}
	return id, false, nil
}

// parseID reads an id in which the number within the millisecond may be left
// out, which stands for missing then.
func parseID(arg []byte, missing uint64) (streamID, error) {
	id, star, err := parseIDOrStar(arg, missing)
	if star {
		return streamID{}, errStreamID
	}
	return id, err
}

// parseIDs reads ids, up to the first argument that is none.
func parseIDs(args [][]byte) (ids []streamID, err error) {
	ids = make([]streamID, 0, len(args))
	for _, arg := range args {
		id, err := parseID(arg, 0)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// parseOpenID is parseID that takes - and +, the ends of all ids, too.
func parseOpenID(arg []byte, missing uint64) (streamID, error) {
	switch string(arg) {
	case "-":
		return streamID{}, nil
	case "+":
		return greatestID, nil
	}
	return parseID(arg, missing)
}

// parseIDNumber reads a number of an id. Like Redis it takes, beside plain
// integers, what C's strtoull takes: blanks before it, a sign, and zeros; a
// sign and a zero make it count down from 1<<64.
func parseIDNumber(b []byte) (uint64, bool) {
	if n, ok := resp.ParseInt(b); ok {
		return uint64(n), n >= 0
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (math.MaxUint64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		n = -n
	}
	return n, true
}

// Errors of the ends of an interval.
const (
	errIntervalStart = resp.Error("ERR invalid start ID for the interval")
	errIntervalEnd   = resp.Error("ERR invalid end ID for the interval")
)

// parseFirstID reads the first id of an interval; one behind a ( is excluded.
func parseFirstID(arg []byte) (streamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return parseOpenID(arg, 0)
	}
	id, err := parseID(arg[1:], 0)
	if err != nil {
		return id, err
	}
	id, ok := id.next()
	if !ok {
		return id, errIntervalStart
	}
	return id, nil
}

// parseLastID reads the last id of an interval; one behind a ( is excluded.
func parseLastID(arg []byte) (streamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return parseOpenID(arg, math.MaxUint64)
	}
	id, err := parseID(arg[1:], math.MaxUint64)
	if err != nil {
		return id, err
	}
	id, ok := id.prev()
	if !ok {
		return id, errIntervalEnd
	}
	return id, nil
}
