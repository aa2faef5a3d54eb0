package keyspace

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/firndb/firn/resp"
	"github.com/firndb/firn/tuple"
)

// StreamID names an entry of a stream: a time in milliseconds, which nobody
// checks, and a number within that. Both may be any unsigned integer. The
// zero StreamID names no entry.
type StreamID struct{ Ms, Seq uint64 }

// GreatestID is the last id that an entry can have.
var GreatestID = StreamID{math.MaxUint64, math.MaxUint64}

func (id StreamID) compare(other StreamID) int {
	return cmp.Or(cmp.Compare(id.Ms, other.Ms), cmp.Compare(id.Seq, other.Seq))
}

func (id StreamID) Less(other StreamID) bool { return id.compare(other) < 0 }

// Next is the id after this one; ok is false if this is the greatest.
func (id StreamID) Next() (next StreamID, ok bool) {
	if id == GreatestID {
		return id, false
	}
	id.Seq++
	if id.Seq == 0 {
		id.Ms++
	}
	return id, true
}

// Prev is the id before this one; ok is false if this is zero.
func (id StreamID) Prev() (prev StreamID, ok bool) {
	if id == (StreamID{}) {
		return id, false
	}
	if id.Seq == 0 {
		id.Ms--
	}
	id.Seq--
	return id, true
}

// StreamIDBytes is the length of the longest printed id.
const StreamIDBytes = 41

// AppendTo appends the id as clients see it: 1526919030474-55.
func (id StreamID) AppendTo(dst []byte) []byte {
	dst = strconv.AppendUint(dst, id.Ms, 10)
	return strconv.AppendUint(append(dst, '-'), id.Seq, 10)
}

// AppendKey appends the id as elements of a key, in the order of ids. Each of
// its two numbers is an integer if it is below 1<<63 - 1, which all usual ones
// are: an id of today takes 9 bytes. A number from there on is the integer
// 1<<63 - 1 and then the number less 1<<63.
func (id StreamID) AppendKey(dst []byte) []byte {
	return appendKeyNumber(appendKeyNumber(dst, id.Ms), id.Seq)
}

func appendKeyNumber(dst []byte, n uint64) []byte {
	if n < math.MaxInt64 {
		return tuple.AppendInt(dst, int64(n))
	}
	return tuple.AppendInt(tuple.AppendInt(dst, math.MaxInt64), int64(n-1<<63))
}

// TakeIDKey undoes appendKey. A key that is not exactly an id is ErrDamaged.
func TakeIDKey(key string) (id StreamID, err error) {
	ms, rest, ok := takeKeyNumber(key)
	seq, rest, ok2 := takeKeyNumber(rest)
	if !ok || !ok2 || rest != "" {
		return StreamID{}, fmt.Errorf("stream id % x: %w", key, ErrDamaged)
	}
	return StreamID{ms, seq}, nil
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

// ParseIDOrStar is ParseID that takes the form <ms>-* as well, and says so.
func ParseIDOrStar(arg []byte, missing uint64) (id StreamID, star bool, err error) {
	if len(arg) > maxIDArgBytes {
		return id, false, errStreamID
	}
	text := CutAtZero(arg)
	ms, seq, both := bytes.Cut(text, []byte("-"))
	var ok bool
	if id.Ms, ok = parseIDNumber(ms); !ok {
		return StreamID{}, false, errStreamID
	}
	switch {
	case !both:
		id.Seq = missing
	case string(seq) == "*":
		return id, true, nil
	default:
		if id.Seq, ok = parseIDNumber(seq); !ok {
			return StreamID{}, false, errStreamID
		}
	}
	return id, false, nil
}

// ParseID reads an id in which the number within the millisecond may be left
// out, which stands for missing then.
func ParseID(arg []byte, missing uint64) (StreamID, error) {
	id, star, err := ParseIDOrStar(arg, missing)
	if star {
		return StreamID{}, errStreamID
	}
	return id, err
}

// ParseIDs reads ids, up to the first argument that is none.
func ParseIDs(args [][]byte) (ids []StreamID, err error) {
	ids = make([]StreamID, 0, len(args))
	for _, arg := range args {
		id, err := ParseID(arg, 0)
		if err != nil {
			return ids, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// ParseOpenID is ParseID that takes - and +, the ends of all ids, too.
func ParseOpenID(arg []byte, missing uint64) (StreamID, error) {
	switch string(arg) {
	case "-":
		return StreamID{}, nil
	case "+":
		return GreatestID, nil
	}
	return ParseID(arg, missing)
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

// ParseFirstID reads the first id of an interval; one behind a ( is excluded.
func ParseFirstID(arg []byte) (StreamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return ParseOpenID(arg, 0)
	}
	id, err := ParseID(arg[1:], 0)
	if err != nil {
		return id, err
	}
	id, ok := id.Next()
	if !ok {
		return id, errIntervalStart
	}
	return id, nil
}

// parseLastID reads the last id of an interval; one behind a ( is excluded.
func parseLastID(arg []byte) (StreamID, error) {
	if len(arg) < 2 || arg[0] != '(' {
		return ParseOpenID(arg, math.MaxUint64)
	}
	id, err := ParseID(arg[1:], math.MaxUint64)
	if err != nil {
		return id, err
	}
	id, ok := id.Prev()
	if !ok {
		return id, errIntervalEnd
	}
	return id, nil
}
