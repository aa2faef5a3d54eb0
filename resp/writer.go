package resp

import "strconv"

// Writer appends replies to a buffer, in the protocol of one client.
//
// Every downgrade to protocol 2 is decided here and nowhere else:
//
//	reply        protocol 3          protocol 2
//	map          %n, n pairs         *2n
//	set, push    ~n, >n              *n
//	attribute    |n, n pairs         nothing, see Attribute
//	double       ,1.5                a bulk string
//	big number   (123                a bulk string
//	verbatim     =7 txt:abc          a bulk string
//	bool         #t #f               :1 :0
//	null         _                   $-1
//	null array   _                   *-1
//
// The headers of aggregates say how many elements follow; that as many do is
// up to the caller. The zero Writer speaks protocol 2. A Writer is a value;
// a new protocol applies from the next reply on.
type Writer struct {
	Proto int    // 3, or anything else for 2
	Buf   []byte // what has been written; the caller may take it and reset it
}

// Array begins an array of n elements.
func (w *Writer) Array(n int) { w.header('*', n) }

// Map begins a map of n pairs of a key and a value.
func (w *Writer) Map(n int) {
	if w.Proto == 3 {
		w.header('%', n)
	} else {
		w.header('*', 2*n)
	}
}

// Set begins a set of n elements.
func (w *Writer) Set(n int) { w.aggregate('~', n) }

// Push begins an out-of-band message of n elements.
func (w *Writer) Push(n int) { w.aggregate('>', n) }

// Attribute begins n pairs that say something about the reply after them.
// Protocol 2 has no room for such: then it writes nothing and returns false,
// and the caller leaves the pairs out.
func (w *Writer) Attribute(n int) bool {
	if w.Proto != 3 {
		return false
	}
	w.header('|', n)
	return true
}

// Simple writes a short status such as OK. Line breaks become spaces.
func (w *Writer) Simple(s string) { w.line('+', s) }

// Error writes an error. s begins with its code, such as ERR or WRONGTYPE.
// Line breaks at either end go, others become spaces.
func (w *Writer) Error(s string) { w.line('-', trimBreaks(s)) }

// Int writes an integer.
func (w *Writer) Int(i int64) {
	w.Buf = appendTail(append(w.Buf, ':'), i)
}

// Bulk writes a string of any bytes. A nil b is an empty string, not null.
func (w *Writer) Bulk(b []byte) {
	w.header('$', len(b))
	w.Buf = append(append(w.Buf, b...), '\r', '\n')
}

// BulkString is Bulk for a string.
func (w *Writer) BulkString(s string) {
	w.header('$', len(s))
	w.Buf = append(append(w.Buf, s...), '\r', '\n')
}

// BulkInt writes an integer as a bulk string.
func (w *Writer) BulkInt(i int64) {
	var digits [20]byte // the longest is -9223372036854775808
	w.Bulk(strconv.AppendInt(digits[:0], i, 10))
}

// Null writes the absence of a value.
func (w *Writer) Null() {
	if w.Proto == 3 {
		w.Raw("_\r\n")
	} else {
		w.Raw("$-1\r\n")
	}
}

// NullArray writes the absence of an array, as a BLPOP that timed out does.
func (w *Writer) NullArray() {
	if w.Proto == 3 {
		w.Raw("_\r\n")
	} else {
		w.Raw("*-1\r\n")
	}
}

// Double writes a float, with the digits of [AppendDouble].
func (w *Writer) Double(f float64) {
	var text [32]byte // the longest is -2.2250738585072014e-308
	digits := AppendDouble(text[:0], f)
	if w.Proto != 3 {
		w.Bulk(digits)
		return
	}
	w.Buf = append(append(append(w.Buf, ','), digits...), '\r', '\n')
}

// Bool writes a truth value.
func (w *Writer) Bool(b bool) {
	switch {
	case w.Proto == 3 && b:
		w.Raw("#t\r\n")
	case w.Proto == 3:
		w.Raw("#f\r\n")
	case b:
		w.Raw(":1\r\n")
	default:
		w.Raw(":0\r\n")
	}
}

// BigNumber writes an integer of any size, given in decimal.
func (w *Writer) BigNumber(digits string) {
	if w.Proto == 3 {
		w.line('(', digits)
	} else {
		w.BulkString(digits)
	}
}

// Verbatim writes text that a person reads. format is three letters, "txt" or
// "mkd"; a longer one is cut and a shorter one filled up with spaces.
func (w *Writer) Verbatim(format, s string) {
	if w.Proto != 3 {
		w.BulkString(s)
		return
	}
	label := [4]byte{' ', ' ', ' ', ':'}
	copy(label[:3], format)
	w.header('=', len(label)+len(s))
	w.Buf = append(w.Buf, label[:]...)
	w.Buf = append(append(w.Buf, s...), '\r', '\n')
}

// Raw writes what is a reply, or several, already.
func (w *Writer) Raw(reply string) { w.Buf = append(w.Buf, reply...) }

// AppendCommand appends args to dst as a client sends them: as an array of
// bulk strings. At least one is needed for it to be a command.
func AppendCommand(dst []byte, args ...[]byte) []byte {
	w := Writer{Buf: dst}
	w.Array(len(args))
	for _, arg := range args {
		w.Bulk(arg)
	}
	return w.Buf
}

// aggregate begins an aggregate that is an array in protocol 2.
func (w *Writer) aggregate(mark byte, n int) {
	if w.Proto != 3 {
		mark = '*'
	}
	w.header(mark, n)
}

func (w *Writer) header(mark byte, n int) {
	w.Buf = appendTail(append(w.Buf, mark), int64(n))
}

// line writes s on a line of its own, without the line breaks in it: one
// that a client smuggled into a message must not begin a reply.
func (w *Writer) line(mark byte, s string) {
	w.Buf = append(w.Buf, mark)
	from := len(w.Buf)
	w.Buf = append(w.Buf, s...)
	for i, c := range w.Buf[from:] {
		if c == '\r' || c == '\n' {
			w.Buf[from+i] = ' '
		}
	}
	w.Buf = append(w.Buf, '\r', '\n')
}

func trimBreaks(s string) string {
	for s != "" && (s[0] == '\r' || s[0] == '\n') {
		s = s[1:]
	}
	for s != "" && (s[len(s)-1] == '\r' || s[len(s)-1] == '\n') {
		s = s[:len(s)-1]
	}
	return s
}

// tails holds the numbers from 0 on with their line break. Most lengths and
// many integers are below 1,000, and copying one is faster than making it.
var tails = makeTails(1000)

func makeTails(n int) []string {
	made := make([]string, n)
	for i := range made {
		made[i] = strconv.Itoa(i) + "\r\n"
	}
	return made
}

func appendTail(dst []byte, i int64) []byte {
	if i >= 0 && i < int64(len(tails)) {
		return append(dst, tails[i]...)
	}
	return append(strconv.AppendInt(dst, i, 10), '\r', '\n')
}
